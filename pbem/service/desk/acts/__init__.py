"""Acts of organisers and hosts on tables and people, by subject; `perform` does any, with its reason and audit row."""
