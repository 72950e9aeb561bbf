"""The archive: past games read again, replayed, exported and verified."""
