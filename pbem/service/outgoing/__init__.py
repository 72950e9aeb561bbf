"""Outgoing email: which email leaves, when, and with which words; and the ledger of what became of it."""
