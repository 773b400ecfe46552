#!/usr/bin/env python3
"""Writes src/exact/function_tables.inc, the tables of the correctly rounded functions.

    python3 scripts/generate_function_tables.py > src/exact/function_tables.inc

All arithmetic is on integers in units of 2^-SCALE, so the result does not depend on any library.
src/exact/functions_test.cpp checks every table entry against GNU MPFR.
"""

import math

SCALE = 256
ONE = 1 << SCALE


def divide(a, b):
    """a / b, rounded to nearest, for any signs."""
    if b < 0:
        a, b = -a, -b
    return (2 * a + b) // (2 * b)


def times(a, b):
    return divide(a * b, ONE)


def exp_of(x):
    """e^x for |x| < 1."""
    total, term, n = 0, ONE, 0
    while term:
        total += term
        n += 1
        term = divide(times(term, x), n)
    return total


def log_of_ratio(p, q):
    """ln(p / q) = 2 artanh((p - q) / (p + q)); p and q are whole and of similar size."""
    z = divide((p - q) * ONE, p + q)
    square, power, total, n = times(z, z), z, 0, 1
    while power:
        total += divide(power, n)
        power = times(power, square)
        n += 2
    return 2 * total


def atan_of_ratio(p, q):
    """atan(p / q), 0 <= p <= q: halve the angle three times, then the power series."""
    z = divide(p * ONE, q)
    for _ in range(3):  # tan(a/2) = t / (1 + sqrt(1 + t^2))
        root = square_root(ONE + times(z, z))
        z = divide(z * ONE, ONE + root)
    square, power, total, n = times(z, z), z, 0, 1
    while power:
        total += divide(power, n)
        power = -times(power, square)
        n += 2
    return 8 * total


def square_root(x):
    return math.isqrt(x << SCALE)


def sin_of(x):
    total, term, n = 0, x, 1
    square = times(x, x)
    while term:
        total += term
        term = -divide(times(term, square), (n + 1) * (n + 2))
        n += 2
    return total


LN2 = log_of_ratio(4, 3) + log_of_ratio(3, 2)
PI = 4 * atan_of_ratio(1, 1)


def to_double(x):
    """Nearest binary64 (ties cannot occur for these values) and the exact remainder."""
    if x == 0:
        return 0.0, 0
    shift = max(abs(x).bit_length() - 53, 0)
    mantissa = divide(x, 1 << shift)
    return mantissa * 2.0 ** (shift - SCALE), x - (mantissa << shift)


def on_grid(x, bits):
    """Nearest multiple of 2^-bits, exact in binary64, and the remainder."""
    mantissa = divide(x, 1 << (SCALE - bits))
    return mantissa * 2.0 ** -bits, x - (mantissa << (SCALE - bits))


def hexes(*values):
    return "{" + ", ".join(float.hex(v) if isinstance(v, float) else str(v) for v in values) + "}"


def pair(x):
    hi, rest = to_double(x)
    return hi, to_double(rest)[0]


def grid_pair(x, bits):
    hi, rest = on_grid(x, bits)
    return hi, to_double(rest)[0]


def table(kind, name, rows, comment):
    print(f"// {comment}")
    print(f"inline constexpr {kind} {name}[{len(rows)}] = {{")
    for row in rows:
        print(f"    {row},")
    print("};\n")


def constant(name, value):
    print(f"inline constexpr double {name} = {float.hex(value)};")


def parts(prefix, x, grids, comment):
    """x as a sum of numbers on ever finer grids; what is left goes into the last."""
    print(f"// {comment}")
    for index, bits in enumerate(grids):
        value, x = on_grid(x, bits)
        constant(f"{prefix}{index + 1}", value)
    constant(f"{prefix}{len(grids) + 1}", to_double(x)[0])


def log_coarse():
    """Per top 7 bits of the mantissa m: c near 1/m (2/m in the upper part), and -ln c."""
    rows = []
    for i in range(128):
        upper = i >= 53  # m at least about sqrt(2)
        centre = 257 + 2 * i  # m = centre / 256
        c = divide((1024 if upper else 512) * 256, centre)  # units of 2^-9
        c = 512 if i in (0, 127) else c
        head, tail = grid_pair(log_of_ratio(512, c), 42)
        rows.append(hexes(c << (not upper), int(upper), head, tail))
    return rows


def log_fine():
    """Per j = -64..64: g with 1 + g/2^20 near 1/(1 + j/2^13), and -ln(1 + g/2^20)."""
    rows = []
    for j in range(-64, 65):
        g = divide(-j << 20, 8192 + j)
        rows.append(hexes(g, *grid_pair(log_of_ratio(1 << 20, (1 << 20) + g), 42)))
    return rows


def main():
    print("// Written by scripts/generate_function_tables.py.  Do not edit.\n")
    parts("kLn2By4096Part", LN2 // 4096, [42, 72], "ln 2 / 4096 = sum of the parts")
    parts("kPiBy1024Part", PI // 1024, [46, 84, 122], "pi / 1024 = sum of the parts")
    for name, value in (("kLn2", LN2), ("kInvLn2", ONE * ONE // LN2),
                        ("kInvLn10", ONE * ONE // (3 * LN2 + log_of_ratio(5, 4))),
                        ("kPi", PI), ("kHalfPi", PI // 2)):
        hi, lo = grid_pair(value, 42) if name == "kLn2" else pair(value)
        print(f"inline constexpr DoubleDouble {name}{hexes(hi, lo)};")
    print()
    table("DoubleDouble", "kExpCoarse", [hexes(*grid_pair(exp_of(LN2 * i // 64), 25))
                                         for i in range(64)], "2^(i/64); heads have 26 bits")
    table("DoubleDouble", "kExpFine", [hexes(*grid_pair(exp_of(LN2 * i // 4096), 25))
                                       for i in range(64)], "2^(i/4096); heads have 26 bits")
    table("LogCoarse", "kLogCoarse", log_coarse(), "see LogCoarse")
    table("LogFine", "kLogFine", log_fine(), "see LogFine")
    table("DoubleDouble", "kSine", [hexes(*pair(sin_of(PI * i // 1024))) for i in range(513)],
          "sin(i pi / 1024)")
    table("DoubleDouble", "kArcTangent", [hexes(*pair(atan_of_ratio(i, 256)))
                                          for i in range(257)], "atan(i / 256)")


if __name__ == "__main__":
    main()
