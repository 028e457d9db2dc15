"""Batches of traversals, which both backends run on their own arrays: frontier by frontier, or from one pool for each
instance.
"""
