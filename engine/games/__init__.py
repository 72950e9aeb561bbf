"""The games that come with the engine: a module or a package each, found by walking this one. There is no list to edit."""
