"""Pages of tables: the lobby, joining, replays and charts."""
