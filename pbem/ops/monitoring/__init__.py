"""Health, readiness and metrics for monitoring, on a port of their own."""
