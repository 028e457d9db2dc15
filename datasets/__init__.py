"""Dataset catalog, R-MAT generator, download."""
