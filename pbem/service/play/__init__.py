"""Play: moves, the log they write, undo, and what each seat sees."""
