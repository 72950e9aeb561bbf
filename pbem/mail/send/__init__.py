"""Email on its way out: the relay, DKIM signatures, sending rates, and the local mailbox used without a relay."""
