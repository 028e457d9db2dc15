"""Powers, exponentials and logarithms that are the same to the last bit on every device: C libraries and GPUs each
round their own way.

Made of + - * / and exact scaling alone; relative error below 1e-13. The twin of cuda/portable.cuh. Hooks get these for
``**``, ``math.exp``
and their like: see hooks.py.
"""

import math

from csaw.partition.base.compile import njit

LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
ROOT_HALF = 0.7071067811865476
LARGEST_INTEGER_POWER = 64
LARGEST_EXPONENT = 709.78271289338397  # of e, from which on float64 has no number


@njit
def log_parts(x):
    """log(m) and e of x = m 2^e with m in [sqrt(1/2), sqrt(2)), for a finite x above 0: what every logarithm here is
    made of.

    log(m) = 2 atanh((m - 1) / (m + 1)) by its series; error below 1e-15 relative.
    """
    mantissa, exponent = math.frexp(x)
    if mantissa < ROOT_HALF:
        mantissa *= 2.0
        exponent -= 1
    s = (mantissa - 1.0) / (mantissa + 1.0)
    z = s * s
    series = 0.0
    for k in range(23, 0, -2):
        series = series * z + 1.0 / k
    return 2.0 * s * series, float(exponent)


@njit
def logarithm(x):
    """The natural logarithm: -inf at 0, NaN below."""
    if not x > 0.0:
        return -math.inf if x == 0.0 else math.nan
    if x == math.inf:
        return x
    rest, scale = log_parts(x)
    return scale * LN2_HIGH + (rest + scale * LN2_LOW)


@njit
def exponential(x):
    """e^x."""
    if not x < LARGEST_EXPONENT:
        return math.inf if x >= LARGEST_EXPONENT else math.nan
    if x < -708.0:
        return 0.0
    steps = math.floor(x / LN2_HIGH + 0.5)
    rest = (x - steps * LN2_HIGH) - steps * LN2_LOW
    series = 1.0
    for k in range(17, 0, -1):
        series = 1.0 + series * rest / k
    return math.ldexp(series, int(steps))


@njit
def power(x, y):
    """x^y, by multiplication for small integers y; NaN for a negative x otherwise."""
    x, y = float(x), float(y)
    if abs(y) <= LARGEST_INTEGER_POWER and y == math.floor(y):  # in this order: of a large y floor is no 64-bit integer
        left, factor, result = int(abs(y)), x, 1.0
        while left > 0:
            if left & 1:
                result *= factor
            factor *= factor
            left >>= 1
        return result if y >= 0.0 else (1.0 / result if result != 0.0 else math.inf)
    if y == 0.5 and x >= 0.0:
        return math.sqrt(x)
    if x == 0.0:
        return 0.0 if y > 0.0 else math.inf
    return exponential(y * logarithm(x))
