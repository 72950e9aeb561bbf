"""The API: a seat for programs, its OpenAPI description, and email that a provider hands in over HTTP."""
