"""What a monitoring system asks: health, readiness and metrics, on a port of their own."""
