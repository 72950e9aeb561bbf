"""Decisions about tables, people and time: pure functions over frozen values.

Nothing in here reads the world. The time, the randomness and what is stored are arguments, so that
every decision can be repeated and tested without a clock, a network or a database.
"""
