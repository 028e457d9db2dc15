"""Standard streams that were closed when the process began."""

CLOSED: set[str] = set()
"""Their names: what is printed to them goes nowhere."""
