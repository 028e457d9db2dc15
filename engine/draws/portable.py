"""Powers, exponentials and logarithms that are the same to the last bit on every device: C libraries and GPUs each
round their own way.

Made of + - * / and exact scaling alone; relative error below 1e-13. The twin of
engine/cuda/kernels/portable.cuh. Hooks get these for ``**``, ``math.exp`` and their like: see engine/api/hooks.py.
"""

import math

import numpy as np

from csaw.partition.base.compile import njit

LN2 = 0.6931471805599453
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
ROOT_HALF = 0.7071067811865476
FRACTION, HALF = np.uint64((1 << 52) - 1), np.uint64(1022 << 52)  # the fraction of a float64, and the other bits of .5
LARGEST_INTEGER_POWER = 64
LARGEST_ODD = 9007199254740992.0  # float64 has no odd number from here on
LARGEST_EXPONENT = 709.78271289338397  # of e, from which on float64 has no number
LEAST_EXPONENT = -745.1332191019412  # below which it has none but 0


@njit
def log_parts(x):
    """log(m) and e of x = m 2^e with m in [sqrt(1/2), sqrt(2)), for a finite x above 0: what every logarithm here is
    made of.

    log(m) = 2 atanh((m - 1) / (m + 1)) by its series; error below 1e-15 relative.
    """
    mantissa, exponent = math.frexp(x)
    return log_of(mantissa, float(exponent))


@njit(inline="always")
def halves(x):
    """``math.frexp`` of a normal float above 0, with a float for the exponent, by its bits: in vector registers."""
    bits = np.float64(x).view(np.uint64)
    mantissa = np.uint64((bits & FRACTION) | HALF).view(np.float64)
    return mantissa, float(np.int64(bits >> np.uint64(52))) - 1022.0


@njit(inline="always")
def log_of(mantissa, exponent):
    """``log_parts`` of what ``math.frexp`` makes of x."""
    small = mantissa < ROOT_HALF
    mantissa, exponent = mantissa * 2.0 if small else mantissa, exponent - 1.0 if small else exponent
    s = (mantissa - 1.0) / (mantissa + 1.0)
    z = s * s
    series = 0.0
    for k in range(23, 0, -2):
        series = series * z + 1.0 / k
    return 2.0 * s * series, exponent


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
    if x < LEAST_EXPONENT:
        return 0.0
    steps = math.floor(x / LN2_HIGH + 0.5)
    rest = (x - steps * LN2_HIGH) - steps * LN2_LOW
    series = 1.0
    for k in range(17, 0, -1):
        series = 1.0 + series * rest / k
    return math.ldexp(series, int(steps))


@njit(inline="always")
def halved(x):
    """2^-x for x from 0 on; 0 from 64 on, below what a random number of 53 bits can tell from 0."""
    small = x < 64.0
    within = x if small else 0.0  # no branch, for vector registers
    steps = math.floor(within + 0.5)
    rest = (steps - within) * LN2
    series = 1.0
    for k in range(13, 0, -1):
        series = series * (rest * (1.0 / k)) + 1.0
    power = np.uint64(np.uint64(1023 - np.int64(steps)) << np.uint64(52)).view(np.float64)
    return series * power if small else 0.0


@njit
def power(x, y):
    """x^y with C's values at zeros, infinities and NaN (1 for x = 1 whatever y is), NaN for a negative finite x where y
    is no integer. By multiplication for small integers y.
    """
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
    if x == 1.0:
        return x
    if x == 0.0:
        return math.nan if math.isnan(y) else (0.0 if y > 0.0 else math.inf)
    sign = 1.0
    if x < 0.0 and abs(y) < LARGEST_ODD:  # every larger number is even, infinity with them
        if y != math.floor(y):
            x = math.inf if x == -math.inf else math.nan
        elif int(y) & 1:
            sign = -1.0
    x = abs(x)
    return sign if x == 1.0 and abs(y) == math.inf else sign * exponential(y * logarithm(x))
