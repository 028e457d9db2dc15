"""Kinds of cells in rows of text: an unsigned number, an integer with a sign, a string id by
its dense id, a float32.
"""

NUMBER, SIGNED, WORD, WEIGHT = range(4)
