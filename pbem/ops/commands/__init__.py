"""The subcommands of `pbem`, by what they are about, and how a command shows itself in a terminal."""
