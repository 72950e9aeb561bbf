"""Tables: creating, listing, joining and leaving them, rematches, table talk and the demo."""
