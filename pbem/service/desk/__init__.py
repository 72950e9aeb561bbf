"""The organisers' desk: who may act there, what they see, and everything they do, on record."""
