"""Values of f64 for the functions of epilogues, and what they should be.

usage: functions.py make FILE        all kinds of numbers
       functions.py check FILE NAME RESULT ULPS   NAME: exp, erf, power, inverse or root

`check` prints the largest error in units in the last place of the result."""

import math
import sys

import numpy as np


def make():
    tails = np.logspace(-320, 308.2, 3000)
    near = np.linspace(0, 8, 20001)
    positive = np.concatenate([tails, near, np.linspace(8, 760, 3001), [np.inf]])
    return np.concatenate([positive, -positive, [np.nan]])


def exp(x):
    return math.inf if x > 709.782712893384 else math.exp(x)


def power_of(exponent):
    def power(x):
        try:
            return abs(x) ** exponent
        except (OverflowError, ZeroDivisionError):
            return math.inf
    return power


if sys.argv[1] == "make":
    np.save(sys.argv[2], make())
    sys.exit()
_, _, path, name, result, most = sys.argv
function = {"exp": exp, "erf": math.erf, "power": power_of(1.3), "inverse": power_of(-1.3), "root": power_of(-0.23)}[name]
expected = np.array([function(x) for x in np.load(path)])
found = np.load(result)
same = (found == expected) | (np.isnan(found) & np.isnan(expected))
finite = np.isfinite(expected) & np.isfinite(found)
assert (same | finite).all(), "expects infinities and NaN where the C library has them"
assert (np.signbit(found) == np.signbit(expected))[~np.isnan(expected)].all()
errors = np.abs(found[finite] - expected[finite]) / np.spacing(np.abs(expected[finite]))
print(f"{name}: {errors.max():.1f} units in the last place")
assert errors.max() <= float(most), path
