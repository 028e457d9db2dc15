"""Measures of graphs, a file each: this folder is the registry."""
