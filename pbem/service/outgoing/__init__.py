"""Outgoing email: what is sent, to whom, when, and the ledger of what became of it."""
