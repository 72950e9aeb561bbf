"""All SQL of the house. Nothing outside this package may know that there is a database of a certain kind."""
