"""Pages of one seat: the table as its player sees it, its forms, and the moves they make."""
