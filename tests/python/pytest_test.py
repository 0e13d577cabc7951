"""The pytest plugin: a baseline, no failure without a change, and a failure that names what grew."""
import json
import os
import pathlib
import sys
import unittest

import programs

WORDS = """
import tally

@tally.region("add")
def add(words):
    text = ""
    for word in words:
        text += "," + word
    return text

def join(words):
    return ",".join(words)

def rounds(count):
    for _ in range(count):
        pass
"""

TESTS = """
import words
WORDS = [str(number) for number in range(1000)]

def test_add(tally):
    assert len(words.add(WORDS)) == 3890

def test_join(tally):
    with tally:
        assert len(words.join(WORDS)) == 3889
    assert list(tally.counts) == ["instructions:u"]

def test_rounds(tally):
    def planted():
        words.rounds(20000)
    assert tally.count(planted).returned is None

def test_without_the_fixture():
    pass
"""


THREADS = """
import concurrent.futures, subprocess, threading
import words

def test_thread(tally):
    with tally:
        thread = threading.Thread(target=words.rounds, args=(20000,))
        thread.start()
        thread.join()

def test_pool(tally):
    def pool():
        with concurrent.futures.ThreadPoolExecutor(2) as executor:
            list(executor.map(words.rounds, [20000] * 3))
    tally.count(pool)

def test_process(tally):
    with tally:
        subprocess.run(["true"], check=True)

def test_child(tally):
    with tally:
        child = subprocess.Popen(["sleep", "60"])
    child.kill()
    child.wait()

def test_left(tally):
    go = threading.Event()
    with tally:
        threading.Thread(target=go.wait).start()
    go.set()
"""

STATE = """
class TestState:
    seen = []
    def test_once(self, tally):
        self.seen.append(1)
        with tally:
            pass
        assert len(self.seen) == 1

def test_innocent():
    pass
"""

START = """
import os, sys

def test_start(tally):
    with tally:
        pass
    with open("starts", "a", encoding="utf-8") as file:
        print(sys.orig_argv, sorted((name, len(value)) for name, value in os.environ.items()), file=file)
"""

# Their counts depend on where the interpreter has placed names and classes.
SMALL = """
import copy, dataclasses, enum, fractions, string, textwrap

def test_enum(tally):
    with tally:
        enum.Enum("E", "a b c")

def test_dataclass(tally):
    with tally:
        dataclasses.make_dataclass("C", ["x", "y"])(1, 2)

def test_fill(tally):
    with tally:
        textwrap.fill("word " * 20, 30)

def test_fraction(tally):
    with tally:
        fractions.Fraction(30, 7) + 1

def test_copy(tally):
    with tally:
        copy.deepcopy({"a": [1, 2, {"b": 3}]})

def test_template(tally):
    with tally:
        string.Template("$a").substitute(a=30)
"""


class Plugin(unittest.TestCase):
    def setUp(self):
        if programs.run([sys.executable, "-c", "import pytest"]).returncode != 0:
            self.skipTest("pytest is missing (python3-pytest)")
        self.directory = programs.directory()
        self.addCleanup(self.directory.cleanup)
        self.place = pathlib.Path(self.directory.name)
        (self.place / "words.py").write_text(WORDS)
        (self.place / "test_words.py").write_text(TESTS)

    def pytest(self, *options, code=0, **more):
        words = [sys.executable, "-m", "pytest", "-p", "tally.pytest_plugin", "-p", "no:cacheprovider", *options]
        finished = programs.run(words, self.place, **more)
        self.assertEqual(finished.returncode, code, finished.stdout + finished.stderr)
        return finished.stdout + finished.stderr

    def change(self, file, before, after):
        text = (self.place / file).read_text()
        self.assertIn(before, text)
        (self.place / file).write_text(text.replace(before, after))


class WithEngine(Plugin):
    saved = None

    def setUp(self):
        super().setUp()
        programs.engine()
        if WithEngine.saved is None:
            self.pytest("--tally-save", "counts.json")
            WithEngine.saved = (self.place / "counts.json").read_text()
        (self.place / "counts.json").write_text(WithEngine.saved)

    def test_saves_the_counts_of_the_tests_with_the_fixture(self):
        with open(self.place / "counts.json", encoding="utf-8") as file:
            content = json.load(file)
        self.assertEqual(content["schema"], "tally-pytest/1")
        parts = {test.partition("::")[2]: list(parts) for test, parts in content["tests"].items()}
        self.assertEqual(parts, {"test_add": ["add"], "test_join": ["test_join"], "test_rounds": ["test_rounds.planted"]})
        self.assertEqual(content["tests"]["test_words.py::test_add"]["add"]["instructions:u"]["trust"], "exact")

    def test_counts_threads_and_names_what_is_left_out(self):
        (self.place / "test_threads.py").write_text(THREADS)
        output = self.pytest("--tally-save", "threads.json", "test_threads.py", "test_words.py::test_rounds")
        with open(self.place / "threads.json", encoding="utf-8") as file:
            tests = {test.partition("::")[2]: next(iter(parts.values()))["instructions:u"]
                     for test, parts in json.load(file)["tests"].items()}
        rounds = tests["test_rounds"]["value"]
        for test, times in (("test_thread", 1), ("test_pool", 3)):
            self.assertEqual(tests[test]["trust"], "exact", tests)
            self.assertGreater(tests[test]["value"], 0.99 * times * rounds)
            self.assertLess(tests[test]["value"], 1.5 * times * rounds + 1_000_000)
        for test in ("test_process", "test_child"):
            self.assertIn(f"{test}: {test} is partial: processes that it started are not counted", output)
        self.assertIn("test_left: test_left is partial: a thread that it started still runs", output)

    def test_passes_without_a_change(self):
        for _ in range(3):
            self.assertIn("4 passed", self.pytest("--tally-baseline", "counts.json", "--tally-limit", "0.5%"))

    def test_starts_alike_to_save_and_to_compare(self):
        (self.place / "test_start.py").write_text(START)
        for options in (["--tally-save", "start.json"], ["--tally-limit=2", "--tally-baseline=start.json"]):
            self.assertIn("1 passed", self.pytest("test_start.py", *options))
        first, second = (self.place / "starts").read_text().split("\n")[::5][:2]
        self.assertEqual(first, second)

    def test_unchanged_small_tests_pass(self):
        (self.place / "test_small.py").write_text(SMALL)
        self.pytest("--tally-save", "small.json", "test_small.py")
        (self.place / "other.txt").write_text("")
        shown = self.pytest("--tally-baseline", "small.json", "test_small.py")
        self.assertIn("6 passed", shown)
        self.assertNotIn(" fell ", shown)

    def test_passes_what_grew_in_one_process_only(self):
        self.change("test_words.py", "words.rounds(20000)", "words.rounds(30000 if longer.exists() else 20000)")
        self.change("test_words.py", "    pass", "    longer.unlink(missing_ok=True)")  # in the last test
        self.change("test_words.py", "import words", "import pathlib, words\nlonger = pathlib.Path('longer')")
        self.pytest("--tally-save", "counts.json")
        (self.place / "longer").write_text("")
        self.assertIn("4 passed", self.pytest("--tally-baseline", "counts.json"))
        self.assertFalse((self.place / "longer").exists())

    def test_ignores_growth_by_few_events(self):
        before = json.loads(WithEngine.saved)
        before["tests"]["test_words.py::test_join"]["test_join"]["instructions:u"]["value"] -= 500
        (self.place / "counts.json").write_text(json.dumps(before))
        options = ["test_words.py::test_join", "--tally-baseline", "counts.json", "--tally-limit", "0.1"]
        self.assertIn("1 passed", self.pytest(*options))
        shown = self.pytest(*options, "--tally-least", "100", code=1)
        self.assertIn("test_join: instructions:u grew by", shown)

    def test_finds_its_options_in_the_environment(self):
        shown = self.pytest("test_words.py::test_join", PYTEST_ADDOPTS="-q --tally-baseline counts.json")
        self.assertIn("1 passed", shown)
        shown = self.pytest("test_words.py::test_join", code=4, PYTEST_ADDOPTS="-q --tally-baseline missing.json")
        self.assertIn("missing.json", shown)

    def test_fails_and_names_what_grew_by_a_percent(self):
        self.change("test_words.py", "rounds(20000)", "rounds(20220)")
        shown = self.pytest("--tally-baseline", "counts.json", code=1)
        self.assertRegex(shown, r"test_rounds\.planted: instructions:u grew by 1\.\d\d %, from [\d,]+ to [\d,]+\n")
        self.assertIn("3 passed", shown)
        self.assertIn("--tally-save counts.json", shown)
        self.assertIn("4 passed", self.pytest("--tally-baseline", "counts.json", "--tally-limit", "2"))

    def test_fails_and_names_the_marked_function(self):
        self.change("words.py", "for word in words:", "for word in words + words[:20]:")
        self.change("test_words.py", "3890", "3890 + 50")
        shown = self.pytest("--tally-baseline", "counts.json", code=1)
        self.assertRegex(shown, r"\nadd: instructions:u grew by [\d.]+ %")

    def test_reports_what_fell_and_what_is_new(self):
        self.change("test_words.py", "rounds(20000)", "rounds(10000)")
        self.change("test_words.py", "def test_join", "def test_other")
        shown = self.pytest("--tally-baseline", "counts.json")
        self.assertRegex(shown, r"test_rounds: test_rounds\.planted: instructions:u fell by [45]\d\.\d\d %")
        self.assertIn("test_words.py::test_other: not in counts.json", shown)

    def test_fails_for_a_part_that_is_no_longer_counted(self):
        self.change("words.py", '@tally.region("add")', "")
        self.assertIn("add: instructions:u was", self.pytest("--tally-baseline", "counts.json", code=1))

    def test_tears_down_after_a_failure_in_a_later_run(self):
        (self.place / "test_state.py").write_text(STATE)
        shown = self.pytest("--tally-save", "state.json", "test_state.py", code=1)
        self.assertIn("1 failed, 1 passed", shown)
        self.assertIn("in run 2 of 5 (--tally-runs)", shown)

    def test_keeps_a_failure_of_the_test(self):
        self.change("test_words.py", "3890", "1")
        self.assertIn("assert 3890 == 1", self.pytest("--tally-baseline", "counts.json", code=1))


class WithoutCounts(Plugin):
    def test_the_fixture_needs_no_option(self):
        self.assertIn("4 passed", self.pytest())

    def test_skips_where_nothing_is_counted(self):
        if programs.has_pmu():
            self.skipTest("this machine has a PMU")
        shown = self.pytest("-rs", "--tally-save", "counts.json", TALLY_PYTEST="1")
        self.assertIn("1 passed, 3 skipped", shown)
        self.assertIn("nothing is counted here", shown)

    def test_says_what_is_wrong_with_its_options(self):
        for options, what in [(["--tally-baseline", "missing.json"], "missing.json"),
                              (["--tally-baseline", "test_words.py"], "is not JSON"),
                              (["--tally-save", "counts.json", "--tally-limit=-1%"], "not a percentage")]:
            self.assertIn(what, self.pytest(*options, code=4, TALLY_PYTEST="1"))
        shown = self.pytest("--tally-save", "counts.json", code=4, PATH=os.devnull)
        self.assertIn("need the command `tally`", shown)


if __name__ == "__main__":
    del Plugin  # a base, without tests
    programs.main()
