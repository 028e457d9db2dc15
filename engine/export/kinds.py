"""Kinds of cells in rows of text: an unsigned number, an integer with a sign, a string id by its dense id, a weight,
which is a float32 from 0 on, any float, and times.

DECIMALS + d: an integer that counts 10^-d. DATES + d: one that counts 10^-d of a second since 1970; d is below 16.
"""

NUMBER, SIGNED, WORD, WEIGHT, FLOAT = range(5)
DECIMALS, DATES = 16, 32
