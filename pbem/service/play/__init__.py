"""Play: a choice becomes a move, the log grows, and a seat's view is worked out."""
