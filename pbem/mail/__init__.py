"""Mail: written, put on the wire, sent, kept in a local mailbox. It knows no table and no database."""
