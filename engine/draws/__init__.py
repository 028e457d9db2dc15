"""Random numbers, functions of their address, and arithmetic that is the same on every device."""
