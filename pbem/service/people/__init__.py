"""People: addresses, sessions, blocks, and who may take a seat."""
