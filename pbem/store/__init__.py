"""All SQL of the project. Code outside this package must not know which database is in use."""
