"""Kernel files: their text is compiled for one algorithm at a time, see engine/cpu/specialize.py."""
