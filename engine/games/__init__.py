"""The games of the house: one module each, found by walking this package. There is no register to edit."""
