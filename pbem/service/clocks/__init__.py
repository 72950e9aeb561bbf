"""Clocks: until when a seat may decide, and what stops or extends that time."""
