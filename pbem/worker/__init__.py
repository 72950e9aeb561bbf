"""The work of a server without a request: what is done (`ticks`) and when (`loop`)."""
