"""Pages of a person: their tables, settings, account, sign-in and unsubscribing."""
