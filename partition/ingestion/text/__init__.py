"""Rows of edges in text and tables: formats, columns, cells, compressed input."""
