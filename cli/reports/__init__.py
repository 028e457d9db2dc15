"""Texts that commands print: plans, reports, tables, closing lines."""
