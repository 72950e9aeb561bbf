"""Tournaments: opening one, signing up, the rounds that run by themselves, and what their host can change."""
