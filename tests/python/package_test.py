"""The package `tally`: regions, counts, results and errors; alone, and under the engine."""
import json
import os
import unittest

import programs
from programs import engine, python

LOOP = """
import tally
def loop(n):
    for i in range(n): pass
"""


class Counting(unittest.TestCase):
    def test_counts_calls_exactly(self):
        shown = python(LOOP + """
import statistics
events = ["instructions", "loads"]
loops = [[tally.count(lambda: loop(n), events) for n in (1000, 2000, 3000)] for _ in range(5)][-1]
values = [counts["instructions"].value for counts in loops]
assert {counts[event].trust for counts in loops for event in events} == {"exact"}, loops
assert abs(values[2] - 2 * values[1] + values[0]) < 200, values  # a thousand rounds cost the same each time
nothing = [tally.count(lambda: None, events)["instructions"].value for _ in range(20)]
assert all(abs(value) < 1000 for value in nothing) and len(set(nothing[10:])) == 1, nothing
print(values[0] > 10000)
""", engine())
        self.assertEqual(shown, "True\n")

    def test_returns_what_the_function_returns_and_raises_what_it_raises(self):
        python("""
import gc, tally
counts = tally.count(lambda: 42)
assert counts.returned == 42
try:
    tally.count(lambda: 1 / 0)
    raise SystemExit("no exception")
except ZeroDivisionError:
    pass
assert gc.isenabled()
with tally.counting("instructions") as counts:
    assert not gc.isenabled()
assert gc.isenabled() and list(counts) == ["instructions:u"], counts
""", engine())

    def test_empty_with_costs_little(self):
        python("""
import tally
def empty():
    with tally.counting("instructions") as counts:
        pass
    return counts["instructions"].value
values = [empty() for _ in range(50)]
assert all(abs(value) < 200 for value in values[30:]), values
""", engine())

    def test_says_why_nothing_is_counted(self):
        if programs.has_pmu():
            self.skipTest("this machine has a PMU")
        python("""
import tally
count = tally.count(lambda: 1)["instructions"]
assert (count.value, count.trust) == (None, "absent"), count
assert "tally stat -- PROGRAM" in count.reason, count
try:
    int(count)
    raise SystemExit("a number")
except tally.Error as error:
    assert "PMU" in str(error)
with tally.region("parse"):
    pass
region = tally.regions()["parse"]
assert region.entries == 0 and "PMU" in region.reason, region
""")

    def test_software_events_have_units(self):
        python("""
import tally
count = tally.count(lambda: bytearray(1 << 24), "page-faults")["page-faults"]
assert count.unit == "events" and (count.value or 0) >= 0
assert tally.count(lambda: 1, "task-clock")["task-clock"].unit == "ns"
""")


class Regions(unittest.TestCase):
    PROGRAM = LOOP + """
@tally.region("outer")
def outer(n):
    with tally.region("inner"):
        loop(n)
    return outer(n - 1) if n > 1 else n
assert outer.__name__ == "outer" and outer(3) == 1
"""

    def test_are_shown_by_stat(self):
        with programs.directory() as place:
            result = os.path.join(place, "result.json")
            words = [word if word != os.devnull else result for word in engine()]
            python(self.PROGRAM, words)
            with open(result, encoding="utf-8") as file:
                regions = {one["region"]: one for one in json.load(file)["regions"][0]["regions"]}
        self.assertEqual((regions["outer"]["entries"], regions["outer"]["recursive"]), (1, 2))
        self.assertEqual(regions["inner"]["entries"], 3)
        self.assertEqual(regions["inner"]["events"][0]["trust"], "exact")

    def test_are_read_by_the_program(self):
        python(self.PROGRAM + """
regions = tally.regions()
assert regions["inner"].entries == 3 and regions["inner"].counts["instructions"].trust == "exact", regions
assert regions["outer"].counts["instructions"].value > regions["inner"].counts["instructions"].value
""", engine())

    def test_end_with_an_exception(self):
        python("""
import tally
try:
    with tally.region("raises"):
        raise KeyError
except KeyError:
    pass
assert tally.regions()["raises"].entries == 1
""", engine())

    def test_refuse_functions_that_return_before_they_run(self):
        python("""
import tally
for text in ("async def f(): pass", "def f(): yield 1", "async def f(): yield 1"):
    names = {}
    exec(text, names)
    try:
        tally.region("f")(names["f"])
        raise SystemExit(text)
    except TypeError as error:
        assert "with tally.region" in str(error), error
""")


class Results(unittest.TestCase):
    def test_become_a_frame(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("pandas is missing (python3-pandas)")
        python("""
import tally
frame = tally.count(lambda: 1, ["instructions", "page-faults"]).to_frame()
assert list(frame.index) == ["instructions:u", "page-faults"], frame
assert list(frame.columns) == ["value", "trust", "unit", "reason"], frame
""")

    def test_without_pandas_says_what_to_install(self):
        python("""
import sys, tally
sys.modules["pandas"] = None
try:
    tally.count(lambda: 1).to_frame()
    raise SystemExit("a frame")
except tally.Error as error:
    assert "python3-pandas" in error.hint, error
""")


class Errors(unittest.TestCase):
    def test_of_events_say_what_to_do(self):
        python("""
import tally
for _ in range(2):
    try:
        tally.count(lambda: 1, "instructionz")
        raise SystemExit("counted")
    except tally.Error as error:
        assert "unknown event 'instructionz'" in error.message and "did you mean instructions?" in error.hint, error
""")

    def test_of_a_missing_library_say_what_to_install(self):
        python("""
import tally
try:
    tally.count(lambda: 1)
    raise SystemExit("loaded")
except tally.Error as error:
    assert "/nowhere.so" in error.message and "libtally0" in error.hint, error
""", TALLY_LIBRARY="/nowhere.so")

    def test_of_a_missing_library_do_not_stop_a_program_with_regions(self):
        python("""
import warnings
import tally
with warnings.catch_warnings(record=True) as warned:
    warnings.simplefilter("always")
    for name in ("parse", "parse", "write"):
        with tally.region(name):
            done = True
assert done and len(warned) == 1 and "libtally0" in str(warned[0].message), warned
regions = tally.regions()
assert set(regions) == {"parse", "write"} and "/nowhere.so" in regions["write"].reason, regions
""", TALLY_LIBRARY="/nowhere.so")

    def test_of_another_library(self):
        python("""
import tally
try:
    tally.count(lambda: 1)
    raise SystemExit("loaded")
except tally.Error as error:
    assert "too old" in error.message, error
""", TALLY_LIBRARY="libc.so.6")


if __name__ == "__main__":
    programs.main()
