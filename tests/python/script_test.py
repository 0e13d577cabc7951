"""`tally stat --from-script` and `python3 -m tally`: the script runs as by the interpreter, and is counted alone."""
import json
import os
import pathlib
import sys
import unittest

import programs
from programs import TALLY

# What a script can see of the way in which it was started.
SEES = """
import inspect, pickle, sys
import helper
class Thing: pass
print(__name__, __file__, __doc__, __package__, __spec__, sys.argv, sys.path[0], sys.modules["__main__"].Thing is Thing)
print(type(pickle.loads(pickle.dumps(Thing()))) is Thing, len(inspect.stack()) >= 1, sorted(__builtins__.__dict__)[:3])
"""


class Script(unittest.TestCase):
    def setUp(self):
        self.directory = programs.directory()
        self.addCleanup(self.directory.cleanup)
        self.place = pathlib.Path(self.directory.name)
        (self.place / "helper.py").write_text("")

    def run_both(self, text, *arguments, options=()):
        """Runs a script by the interpreter and by --from-script. Returns both processes."""
        programs.engine()
        os.makedirs(self.place / "sub", exist_ok=True)
        (self.place / "script.py").write_text(text)
        words = [sys.executable, *options, "script.py", *arguments]
        counted = [TALLY, "stat", "-q", "--repeatable", "--from-script", "-e", "instructions", "-o", "result.json", "--", *words]
        return programs.run(words, self.place), programs.run(counted, self.place)

    def assert_same(self, text, *arguments, options=()):
        native, counted = self.run_both(text, *arguments, options=options)
        self.assertEqual((counted.returncode, counted.stdout, counted.stderr),
                         (native.returncode, native.stdout, native.stderr))
        return native

    def region(self):
        with open(self.place / "result.json", encoding="utf-8") as file:
            result = json.load(file)
        (region,) = result["regions"][0]["regions"]
        self.assertEqual((region["region"], region["entries"]), ("script.py", 1))
        return region["events"][0]["value"], result["events"][0]["value"]

    def test_sees_the_same(self):
        self.assertEqual(self.assert_same(SEES, "-c", "two words").returncode, 0)
        self.assert_same(SEES, options=["-B", "-W", "error"])
        self.assert_same("import sys; print(sys.path)", options=["-I"])

    def test_ends_the_same(self):
        for text in ("raise SystemExit(3)", "raise SystemExit('words')", "import sys; sys.exit()", "import os; os._exit(4)"):
            self.assert_same(text)

    def test_fails_the_same(self):
        for text in ("def f():\n    1 / 0\nf()", "syntax error", "import helper\nhelper.missing", "raise KeyError('x') from ValueError('y')"):
            self.assertEqual(self.assert_same(text).returncode, 1)

    def test_is_ended_by_an_interrupt_as_usual(self):
        native, counted = self.run_both("raise KeyboardInterrupt")
        self.assertEqual((native.returncode, counted.returncode), (-2, 128 + 2))
        self.assertEqual(counted.stderr, native.stderr)

    def test_of_a_missing_script(self):
        programs.engine()
        words = [sys.executable, "missing.py"]
        native = programs.run(words, self.place)
        counted = programs.run([TALLY, "stat", "-q", "--from-script", "-o", os.devnull, "--", *words], self.place)
        self.assertEqual((counted.returncode, counted.stderr), (native.returncode, native.stderr))

    def test_counts_the_script_without_the_start_of_the_interpreter(self):
        self.assert_same("pass")
        nothing, all_of_it = self.region()
        self.assertLess(nothing, 10_000)
        self.assertGreater(all_of_it, 10_000_000)
        counts = {}
        for rounds in (10_000, 20_000, 30_000):
            self.assert_same(f"def loop():\n    for i in range({rounds}): pass\nloop()")
            counts[rounds] = self.region()[0]
        self.assertLess(abs(counts[30_000] - 2 * counts[20_000] + counts[10_000]), 20_000, counts)

    def test_counts_until_an_exit_or_an_exception(self):
        for end in ("raise SystemExit(1)", "1 / 0"):
            self.assert_same(f"for i in range(10000): pass\n{end}")
            self.assertGreater(self.region()[0], 100_000)

    def test_says_which_library_is_missing(self):
        (self.place / "script.py").write_text("")
        finished = programs.run([TALLY, "stat", "-q", "--from-script", "-o", os.devnull, "--", sys.executable, "script.py"],
                                self.place, TALLY_LIBRARY="/nowhere.so")
        self.assertEqual(finished.returncode, 125)
        self.assertIn("/nowhere.so", finished.stderr)
        self.assertIn("libtally0", finished.stderr)

    def test_by_the_package(self):
        (self.place / "script.py").write_text(SEES)
        finished = programs.run([*programs.engine(), sys.executable, "-m", "tally", "script.py"], self.place)
        native = programs.run([sys.executable, "script.py"], self.place)
        self.assertEqual((finished.stdout, finished.stderr), (native.stdout, native.stderr))


if __name__ == "__main__":
    programs.main()
