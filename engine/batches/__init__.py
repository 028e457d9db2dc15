"""Batches of traversals that either backend runs, on its own arrays: frontier by frontier, or from one pool an instance."""
