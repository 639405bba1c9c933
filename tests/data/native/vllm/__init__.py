"""An engine of no lines."""
