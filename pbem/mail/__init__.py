"""Email: rendered, sent, received, and checked in the DNS. It knows no table and no database."""
