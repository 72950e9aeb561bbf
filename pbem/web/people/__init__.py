"""A person's pages: tables, emails, settings, account, sign-in and unsubscribing."""
