"""Acts of organisers and hosts on tables and people, each with a reason and an audit row.

`perform` does any act; the other modules hold the acts, by subject. An act names people by id and never decides
anything that the rules of a game decide.
"""
