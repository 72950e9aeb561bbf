"""Pages for everyone: the front page, rules, handbook, and checking a game file."""
