"""Pages for everyone: the front page, contacting the organiser, rules, handbook, and verifying a game file."""
