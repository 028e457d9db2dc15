"""Other samplers, one file each, run by an interpreter that has them; see loop.py."""
