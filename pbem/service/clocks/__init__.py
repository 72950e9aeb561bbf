"""Clocks: deadlines, and what stops or extends them."""
