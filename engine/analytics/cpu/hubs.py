"""Hubs: the vertices of lowest rank, as many as 16 bits tell apart."""

HUBS = 0xFFFF  # ranks that 16 bits hold, beside the sign of all others
