"""Tables: created, listed, joined and left, up to the start of the game and after its end; and table talk."""
