"""The API: a seat for programs, its OpenAPI description, and email handed in over HTTP."""
