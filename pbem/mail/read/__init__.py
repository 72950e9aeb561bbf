"""Email that comes in: who sent it, what its writer wrote, and whether a program wrote it."""
