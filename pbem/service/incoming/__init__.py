"""Incoming email: replies as moves, bounces, complaints and test emails."""
