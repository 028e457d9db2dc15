"""The bias-centric API: what an algorithm declares, its hooks and options, how it is found by name, and its law."""
