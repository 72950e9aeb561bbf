"""Pages of tables: a new table, joining, invitations, replays and charts, and what organisers did."""
