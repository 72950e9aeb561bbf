"""What an email says: words put into templates, as text and as HTML."""
