"""Formats, a file or a folder for each: see :mod:`csaw.engine.export.targets`."""
