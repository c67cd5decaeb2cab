#!/usr/bin/env python3
"""Writes results/tests/data/statistics_vectors.json: reference values from mpmath and scipy.

    pip install mpmath==1.4.1 scipy==1.17.1
    python3 scripts/statistics_vectors.py > results/tests/data/statistics_vectors.json

mpmath computes distributions with 40 digits. scipy computes the first guesses of roots,
and the intervals and tests of samples. The program itself does not use this script.
"""

import json

import mpmath
import scipy
from mpmath import betainc, erfc, exp, findroot, log, mp, mpf, sqrt
from scipy import stats

mp.dps = 40
PROBABILITIES = [
    1e-12, 1e-6, 2.5e-4, 0.005, 0.025, 0.05, 0.3, 0.5, 0.75, 0.9, 0.95, 0.975, 0.995,
    0.99975, 1 - 1e-6, 1 - 1e-12,
]
DEGREES = [1, 2, 3, 4.5, 9, 29, 99, 999, 99_999, 999_999, 9.9e6, 9_999_999, 1e7, 1e9, 1e12]
SIZES = [2, 3, 10, 1000, 100_000, 10_000_000]


def normal_cdf(x):
    return erfc(-mpf(x) / sqrt(2)) / 2


def normal_quantile(p):
    if p == 0.5:
        return mpf(0)
    if p > 0.5:
        return -normal_quantile(1 - mpf(p))
    start = mpf(float(stats.norm.ppf(float(p))))
    return findroot(lambda x: log(normal_cdf(x)) - log(mpf(p)), start)


def t_tail(x, degrees):
    x, degrees = mpf(x), mpf(degrees)
    return betainc(degrees / 2, mpf(1) / 2, 0, degrees / (degrees + x * x), regularized=True) / 2


def t_cdf(x, degrees):
    tail = t_tail(abs(x), degrees)
    return tail if x < 0 else 1 - tail


def t_quantile(p, degrees):
    if p == 0.5:
        return mpf(0)
    if p > 0.5:
        return -t_quantile(1 - mpf(p), degrees)
    start = log(-mpf(float(stats.t.ppf(float(p), float(degrees)))))
    return -exp(findroot(lambda u: log(t_tail(exp(u), degrees)) - log(mpf(p)), start))


def t_interval_of_wins(n, wins):
    """Student's t interval of n values: `wins` of them are 100, the others 0."""
    mean = mpf(100) * wins / n
    variance = (wins * (100 - mean) ** 2 + (n - wins) * mean**2) / (n - 1)
    half = t_quantile(0.975, n - 1) * sqrt(variance / n)
    return [float(mean - half), float(mean + half)]


def unvaried(n):
    """Clopper-Pearson upper bound for an outcome never seen in n trials: 1 - 0.025^(1/n)."""
    return float(stats.beta.ppf(0.975, 1, n))


def vectors():
    return {
        "source": f"mpmath {mpmath.__version__}, scipy {scipy.__version__}: "
        "scripts/statistics_vectors.py",
        "normal_cdf": [[x, float(normal_cdf(x))] for x in
                       [-38, -30, -20, -10, -8, -5, -2, -1, -1e-10, 0, 0.3, 1, 2, 5, 8, 9, 40]],
        "normal_quantile": [[p, float(normal_quantile(p))]
                            for p in [1e-300, 1e-100, 1e-30, *PROBABILITIES]],
        "t_cdf": [[x, v, float(t_cdf(x, v))] for v in DEGREES
                  for x in [-40, -10, -5, -2, -0.5, 0, 1e-8, 0.5, 2, 5]],
        "t_quantile": [[p, v, float(t_quantile(p, v))] for v in DEGREES for p in PROBABILITIES],
        "t_interval_of_wins": [[n, wins, *t_interval_of_wins(n, wins)]
                               for n in SIZES for wins in sorted({1, n // 2, n - 1})],
        "unvaried": [[n, unvaried(n)] for n in [1, *SIZES]],
        "sign_flip_of_wins": [[n, wins, float(stats.binom.sf(wins - 1, n, 0.5)),
                               float(stats.binom.cdf(wins, n, 0.5))]
                              for n in [1, 2, 3, 10, 1000]
                              for wins in sorted({0, 1, n // 2, n - 1, n})],
        "binomtest_of_wins": [[n, wins, stats.binomtest(wins, n).pvalue]
                              for n in [1, 2, 3, 10, 1000]
                              for wins in sorted({0, 1, n // 2, n - 1, n})],
        "blocks_for": [[sd, difference,
                        float(((normal_quantile(0.95) * 2) * sd / difference) ** 2)]
                       for sd in [1, 35] for difference in [0.01, 2, 100]],
    }


def line(value):
    if isinstance(value, str):
        return json.dumps(value)
    return "[\n" + ",\n".join("    " + json.dumps(row) for row in value) + "\n  ]"


rows = ",\n".join(f"  {json.dumps(key)}: {line(value)}" for key, value in vectors().items())
print("{\n" + rows + "\n}")
