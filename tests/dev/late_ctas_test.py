"""What docs/model.md and late_ctas_h200.txt say of an H200's last CTAs is what the recordings hold."""
import json
import pathlib
import re
import unittest

TREE = pathlib.Path(__file__).resolve().parents[2]
RECORDING = TREE / "bench" / "results" / "late_ctas_h200.txt"
ISSUE_ORDER = TREE / "bench" / "results" / "issue_order_h200.txt"
LAST_WAVE = TREE / "bench" / "results" / "last_wave_h200.txt"
SMS = 132


def page():
    return " ".join((TREE / "docs" / "model.md").read_text().split())


def launches():
    """Each with the delays of its later CTAs: least, 5 %, median, 95 % and most; none where all CTAs begin at once."""
    found = []
    for line in RECORDING.read_text().splitlines():
        if not re.match(r"\w+ +B=", line):
            continue
        kernel, problem, ctas, fit, at_a_time, later, *rest = line.split(None, 11)
        delays, spread = rest[:5], rest[5]
        found.append({"kernel": kernel, "masked": "causal=none" not in problem, "ctas": int(ctas), "fit": int(fit), "at_a_time": int(at_a_time),
                      "later": int(later), "delays": [] if delays[0] == "-" else [int(d) for d in delays],
                      "spread": {int(number): int(sms) for number, sms in (one.split(":") for one in spread.split(", "))}})
    return found


def issue_orders():
    """By launch: for each warp (CTA, warp) the clocks at which it begins and has run 1, 2, 4, 8, 12 and 16 parts."""
    found = {}
    for name, warps in re.findall(r"^(chains .*) sm \d+:((?:  \d+\.\d+(?: \d+){7})+)$", ISSUE_ORDER.read_text(), re.MULTILINE):
        found[name] = {tuple(map(int, warp.split(".", 1))): list(map(int, clocks)) for warp, *clocks in map(str.split, warps.split("  ")[1:])}
    return found


class IssueOrder(unittest.TestCase):
    def test_it_goes_by_place_and_within_a_cta_from_the_last_warp(self):
        orders = issue_orders()
        self.assertEqual(len(orders), 16)
        for loads in (0, 8):
            ends = {warp: clocks[-1] for warp, clocks in orders[f"chains 8 loads {loads} warps 16 ctas 1"].items()}
            self.assertEqual(sorted(ends, key=ends.get), sorted(ends, reverse=True))
            ends = {warp: clocks[-1] for warp, clocks in orders[f"chains 8 loads {loads} warps 4 ctas 4"].items()}
            self.assertEqual(sorted(ends, key=ends.get), sorted(ends))

    def test_two_of_four_ready_warps_get_most_slots(self):
        clocks = sorted(clocks[1] for clocks in issue_orders()["chains 8 loads 0 warps 16 ctas 1"].values())  # after one part
        self.assertGreater(clocks[2], 2.5 * clocks[1])
        self.assertLess(clocks[1], 1.01 * clocks[0])

    def test_a_later_cta_in_the_first_place_overtakes(self):
        warps = issue_orders()["chains 8 loads 0 warps 4 ctas 4 and next"]
        later, older = warps[532, 0], warps[193, 0]
        self.assertLess(later[3] - later[0], older[6] - older[5])
        said = " ".join(ISSUE_ORDER.read_text().split())
        self.assertIn(f"CTA 532 begins at {later[0]} and has run four parts at {later[3]}; the older 193 needs from {older[5]} to {older[6]}", said)


class LateCtas(unittest.TestCase):
    def test_every_launch_is_counted_whole(self):
        for one in launches():
            self.assertEqual(sum(one["spread"].values()), SMS, one)
            self.assertEqual(sum(number * sms for number, sms in one["spread"].items()), one["ctas"], one)
            self.assertEqual(bool(one["delays"]), one["later"] > 0, one)
            self.assertEqual(one["at_a_time"], one["fit"], "no SM has more CTAs at a time than fit")

    def test_the_delays_are_those_of_all_launches_with_later_ctas(self):
        every = launches()
        late = [one for one in every if one["delays"]]
        self.assertEqual((len(every), len(late)), (7, 4), "of seven kernels' launches, four have CTAs that begin later")
        least, _, median, most, last = ([one["delays"][i] for one in late] for i in range(5))
        *plain, slow = sorted(late, key=lambda one: one["delays"][3])
        self.assertEqual((slow["kernel"], slow["masked"]), ("scalar", True))
        usual = [one["delays"][3] for one in plain]
        start = re.search(r'"cta_start", (\d+)', (TREE / "app" / "model" / "rates.h").read_text())[1]
        self.assertIn(f"are at least {min(least)} to {max(least)} clocks apart, in the median {min(median)} to {max(median):,}, and in 95 of 100 cases up to "
                      f"{min(usual):,} to {max(usual):,}, but up to {slow['delays'][3]:,} for `scalar` under a mask; the model has {start}.", page())
        unmasked = [one["delays"] for one in late if not one["masked"]]
        self.assertIn(f"without a mask a place gets its next CTA within {max(d[4] for d in unmasked):,} clocks, and with one within {max(last):,}.",
                      " ".join(RECORDING.read_text().split()))
        self.assertIn(f"the delays are {min(d[0] for d in unmasked)} to {max(d[4] for d in unmasked):,} clocks without a mask",
                      (TREE / "bench" / "results" / "placing_h200.txt").read_text())

    def test_the_sms_of_a_recorded_grid_get_four_to_eight_ctas(self):
        grids = {}
        for line in (TREE / "tests" / "data" / "gpu" / "h200_placing.jsonl").read_text().splitlines():
            one = json.loads(line)
            if one["what"] == "places" and one["threads"] == 64 and one["grid"] == 660:
                grids[one["resident"]] = one
        few, all_at_once = grids[4], grids[32]
        self.assertEqual(all_at_once["sms_by_ctas"], {"5": SMS})
        spread = few["sms_by_ctas"]
        between = sum(sms for number, sms in spread.items() if 4 < int(number) < 8)
        self.assertEqual(spread["4"] + spread["8"] + between, SMS)
        self.assertIn(f"{spread['4']} SMs got four and {spread['8']} got eight, which took {few['us']:.0f} us", page())
        self.assertIn(f"The other {between} SMs got a number between.", page())
        self.assertIn(f"each SM got five, which took {all_at_once['us']:.0f} us", page())

    def test_what_is_said_of_the_last_wave_is_what_its_grids_show(self):
        grids = []
        for line in LAST_WAVE.read_text().splitlines():
            cells = line.split(None, 10)
            if len(cells) == 11 and cells[0].isdigit():
                grids.append({"warps": int(cells[0]), "places": int(cells[1]), "gap": float(cells[6]), "apart": float(cells[9]),
                              "sms": {int(number): int(sms) for number, sms in re.findall(r"(\d+): (\d+)", cells[10])}})
        few, many = ([one for one in grids if (one["warps"] <= 4) == few] for few in (True, False))
        self.assertEqual((len(few), len(many)), (48, 12))
        for one in grids:
            self.assertEqual(sum(one["sms"].values()), SMS, one)
            self.assertEqual(sum(number * sms for number, sms in one["sms"].items()), int(SMS * one["places"] * 1.45), one)

        def between(some, key):
            return f"{min(one[key] for one in some)} to {max(one[key] for one in some)} %"

        twice = sum(2 * one["places"] in one["sms"] for one in few)
        said = " ".join(LAST_WAVE.read_text().split())
        self.assertIn(f"the CTAs of an SM end {between(few, 'gap')} of their time apart in the median, and the SMs lie {between(few, 'apart')} of it apart", said)
        self.assertIn(f"in {twice} of {len(few)} grids some SMs get twice as many CTAs as fit", said)
        self.assertIn(f"its CTAs end {between(many, 'gap')} apart and the SMs lie {between(many, 'apart')} apart", said)
        even = {2: {2, 3}, 4: {5, 6}}
        self.assertIn(f"in {['no', 'one', 'two', 'three'][sum(set(one['sms']) != even[one['places']] for one in many)]} of {len(many)} grids a few", said)
        self.assertIn(f"end {between(few, 'gap')} of their time apart and SMs lie {between(few, 'apart')} of it apart", page())


if __name__ == "__main__":
    unittest.main()
