"""Absence: what happens to a seat whose player doesn't answer, leaves or can't be reached."""
