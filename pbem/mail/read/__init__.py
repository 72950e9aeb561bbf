"""Received email: its recipient, its sender, its writer's own lines, and whether a program wrote it."""
