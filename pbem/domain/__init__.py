"""Decisions about tables, people and time: pure functions over frozen values.

The time, randomness and stored rows are arguments, so every decision can be repeated and tested without a clock, a
network or a database.
"""
