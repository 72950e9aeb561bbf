"""Messages through other services than email: the only package that makes HTTP requests."""
