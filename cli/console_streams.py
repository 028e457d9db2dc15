"""Standard streams that were closed when the process began."""

CLOSED: set[str] = set()
"""Their names; output to them is discarded."""
