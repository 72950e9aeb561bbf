"""Running a server: setup, serving, checks, backups, moving. The work of the commands, without a terminal."""
