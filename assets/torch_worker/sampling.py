"""When to stop sampling, and the figures of the samples: the rules of docs/measuring.md, "A measured time"."""
import math
import random

STABLE_HALF_WIDTH = 0.005  # as a share of the median
FEWEST_ROUNDS = 10
ROUND_MS = 15.0
FEWEST_OF_ROUND = 3
BETWEEN_RUNS = 0.00025
MOST_KEPT = 1000
RESAMPLES = 2000
# Two-sided 95 % points of Student's t (NIST/SEMATECH e-Handbook 1.3.6.7.2).
T_POINTS = ((1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (5, 2.571), (6, 2.447), (7, 2.365), (8, 2.306), (9, 2.262),
            (10, 2.228), (11, 2.201), (12, 2.179), (13, 2.160), (14, 2.145), (15, 2.131), (17, 2.110), (19, 2.093),
            (24, 2.064), (29, 2.045), (40, 2.021), (60, 2.000), (120, 1.980))


def quantile(ascending, q):
    at = q * (len(ascending) - 1)
    below = int(at)
    if below + 1 >= len(ascending):
        return ascending[-1]
    return ascending[below] + (at - below) * (ascending[below + 1] - ascending[below])


def bootstrap_median(rounds):
    """95 % interval of the median of all samples: whole rounds are drawn (expanded percentiles)."""
    rounds = [r for r in rounds if r]
    everything = sorted((us, number) for number, r in enumerate(rounds) for us in r)
    if len(rounds) < 2:
        return everything[0][0], everything[-1][0]
    values = [us for us, _ in everything]
    # How many samples of each round are among the first n, so that a resample's median is found by bisection.
    counts = [[0] * len(rounds)]
    for _, number in everything:
        counts.append(counts[-1].copy())
        counts[-1][number] += 1

    def value_at(rank, drawn):  # the resampled value of this rank, from 0
        low, high = 0, len(values) - 1
        while low < high:
            middle = (low + high) // 2
            if sum(n * c for n, c in zip(drawn, counts[middle + 1])) > rank:
                high = middle
            else:
                low = middle + 1
        return values[low]

    generator = random.Random(0x9E3779B97F4A7C15)  # the same samples give the same interval
    medians = []
    for _ in range(RESAMPLES):
        drawn = [0] * len(rounds)
        for _ in rounds:
            drawn[generator.randrange(len(rounds))] += 1
        total = sum(n * len(r) for n, r in zip(drawn, rounds))
        medians.append((value_at((total - 1) // 2, drawn) + value_at(total // 2, drawn)) / 2)
    medians.sort()
    point = [t for degrees, t in T_POINTS if degrees <= len(rounds) - 1][-1]
    tail = 0.5 * math.erfc(point * math.sqrt(len(rounds) / (len(rounds) - 1)) / math.sqrt(2))
    return quantile(medians, tail), quantile(medians, 1 - tail)


def figures(rounds):
    """(p10, p50, p90), (low, high) of some rounds of samples."""
    everything = sorted(us for r in rounds for us in r)
    p50 = quantile(everything, 0.5)
    low, high = bootstrap_median(rounds)
    floor = BETWEEN_RUNS * p50
    return (quantile(everything, 0.1), p50, quantile(everything, 0.9)), (min(low, p50 - floor), max(high, p50 + floor))


def sample(source, most_ms, now_ms, keep_on):
    """A Timing's "us", "interval", "samples" and "sampling". `source` has begin_round() and take() -> list of us;
    `keep_on()` raises to end it early."""
    began = now_ms()
    rounds = []
    while True:
        source.begin_round()
        round_began, samples = now_ms(), []
        while True:
            keep_on()
            samples += source.take()
            some, long = len(samples) >= FEWEST_OF_ROUND, now_ms() - round_began >= ROUND_MS
            if (some and long) or (now_ms() - began >= most_ms and (some or long)):
                break
        rounds.append(samples)
        us, interval = figures(rounds)
        stable = len(rounds) >= FEWEST_ROUNDS and interval[1] - interval[0] < 2 * STABLE_HALF_WIDTH * us[1]
        if stable or now_ms() - began >= most_ms:
            break
    count = sum(len(r) for r in rounds)
    step = (count + MOST_KEPT - 1) // MOST_KEPT
    kept = [[round(us, 4) for us in r[::step]] for r in rounds]
    return {"us": dict(zip(("p10", "p50", "p90"), us)), "interval": list(interval), "samples": count,
            "sampling": {"rounds": kept, "stopped": "stable" if stable else "time up", "dropped": 0, "empty_us": None,
                         "power_w": 0.0, "power_limit_w": 0.0, "temperature_c": 0.0, "reasons": []}}
