// Powers, exponentials and logarithms: the twin of engine/draws/portable.py, bit for bit. Compile without fused multiply-add.
#pragma once

constexpr double LN2 = 0.6931471805599453;
constexpr double LN2_HIGH = 6.93147180369123816490e-01, LN2_LOW = 1.90821492927058770002e-10, ROOT_HALF = 0.7071067811865476;
#define PORTABLE_INFINITY (1.0 / 0.0)
constexpr double LARGEST_INTEGER_POWER = 64.0;
constexpr double LARGEST_ODD = 9007199254740992.0;  // float64 has no odd number from here on
constexpr double LARGEST_EXPONENT = 709.78271289338397;  // of e, from which on float64 has no number
constexpr double LEAST_EXPONENT = -745.1332191019412;  // below which it has none but 0

struct LogParts { double rest, scale; };

// log(m) and e of x = m 2^e with m in [sqrt(1/2), sqrt(2)), for a finite x above 0.
__device__ inline LogParts log_parts(double x)
{
    int exponent;
    double mantissa = frexp(x, &exponent);
    if (mantissa < ROOT_HALF) {
        mantissa *= 2.0;
        exponent -= 1;
    }
    const double s = (mantissa - 1.0) / (mantissa + 1.0), z = s * s;
    double series = 0.0;
#pragma unroll
    for (int k = 23; k > 0; k -= 2) series = series * z + 1.0 / k;
    return {2.0 * s * series, (double)exponent};
}

extern "C" __device__ double csaw_logarithm(double x)
{
    if (!(x > 0.0)) return x == 0.0 ? -PORTABLE_INFINITY : PORTABLE_INFINITY - PORTABLE_INFINITY;
    if (x == PORTABLE_INFINITY) return x;
    const LogParts parts = log_parts(x);
    return parts.scale * LN2_HIGH + (parts.rest + parts.scale * LN2_LOW);
}

extern "C" __device__ double csaw_exponential(double x)
{
    if (!(x < LARGEST_EXPONENT)) return x >= LARGEST_EXPONENT ? PORTABLE_INFINITY : PORTABLE_INFINITY - PORTABLE_INFINITY;
    if (x < LEAST_EXPONENT) return 0.0;
    const double steps = floor(x / LN2_HIGH + 0.5), rest = (x - steps * LN2_HIGH) - steps * LN2_LOW;
    double series = 1.0;
    for (int k = 17; k > 0; --k) series = 1.0 + series * rest / k;
    return ldexp(series, (int)steps);
}

// 2^-x for x from 0 on; 0 from 64 on, below what a random number of 53 bits can tell from 0.
__device__ inline double halved(double x)
{
    if (!(x < 64.0)) return 0.0;
    const double steps = floor(x + 0.5), rest = (steps - x) * LN2;
    double series = 1.0;
#pragma unroll
    for (int k = 13; k > 0; --k) series = series * (rest * (1.0 / k)) + 1.0;
    return series * __longlong_as_double((1023ll - (int)steps) << 52);
}

extern "C" __device__ double csaw_power(double x, double y)
{
    if (y == floor(y) && fabs(y) <= LARGEST_INTEGER_POWER) {
        double factor = x, result = 1.0;
        for (int left = (int)fabs(y); left > 0; left >>= 1) {
            if (left & 1) result *= factor;
            factor *= factor;
        }
        return y >= 0.0 ? result : (result != 0.0 ? 1.0 / result : PORTABLE_INFINITY);
    }
    if (y == 0.5 && x >= 0.0) return sqrt(x);
    if (x == 1.0) return x;
    if (x == 0.0) return y != y ? y : (y > 0.0 ? 0.0 : PORTABLE_INFINITY);
    double sign = 1.0;
    if (x < 0.0 && fabs(y) < LARGEST_ODD) {  // every larger number is even, infinity with them
        if (y != floor(y)) x = x == -PORTABLE_INFINITY ? x : PORTABLE_INFINITY - PORTABLE_INFINITY;
        else if ((long long)y & 1) sign = -1.0;
    }
    x = fabs(x);
    return x == 1.0 && fabs(y) == PORTABLE_INFINITY ? sign : sign * csaw_exponential(y * csaw_logarithm(x));
}
