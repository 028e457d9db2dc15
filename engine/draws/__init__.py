"""Random numbers, functions of their address, and arithmetic that is the same on every device."""

LEAST_BIAS = 1e-300
"""The least bias above 0: a time ``neg_log / bias`` of a smaller one may be infinite."""
