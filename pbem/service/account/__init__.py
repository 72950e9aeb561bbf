"""Accounts: a person's own pages, feeds, personal data, change of address and deletion."""
