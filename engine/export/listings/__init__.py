"""Formats of lists, such as that of triangles, a file for each: see :mod:`csaw.engine.export.targets`."""
