"""Cards, tiles and dice as data."""
