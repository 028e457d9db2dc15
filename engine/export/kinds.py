"""Kinds of cells in rows of text: an unsigned number, an integer with a sign, a string id by
its dense id, a float32, and times.

DECIMALS + d: an integer that counts 10^-d. DATES + d: one that counts 10^-d of a second since 1970; d is below 16.
"""

NUMBER, SIGNED, WORD, WEIGHT = range(4)
DECIMALS, DATES = 16, 32
