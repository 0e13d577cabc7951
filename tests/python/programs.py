"""Runs Python programs that use the package, for the tests."""
import functools
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TALLY = os.environ["TALLY"]


def run(words, place=None, **more):
    """Runs a command with the package in its path. Returns the finished process, with its output as text."""
    kept = {name: value for name, value in os.environ.items() if name not in ("TALLY_EVENTS", "TALLY_OUTPUT")}
    variables = kept | {"PYTHONPATH": str(ROOT / "python"), "PYTHONDONTWRITEBYTECODE": "1"} | more
    if "PATH" not in more:
        variables["PATH"] = os.path.dirname(TALLY) + ":" + variables["PATH"]
    return subprocess.run(words, cwd=place, env=variables, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=1500, check=False)


def python(text, under=(), **more):
    """Runs a program's text, under a command. Fails if it fails. Returns what it printed."""
    finished = run([*under, sys.executable, "-c", text], **more)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


@functools.lru_cache(maxsize=None)
def has_engine():
    return run([TALLY, "stat", "-q", "--backend", "engine", "-e", "instructions", "--", "true"]).returncode == 0


def engine(events="instructions"):
    """The command that counts a program with the engine. Skips the test where there is no engine."""
    if not has_engine():
        raise unittest.SkipTest("the engine does not run here")
    return [TALLY, "stat", "-q", "--backend", "engine", "-e", events, "-o", os.devnull, "--"]


@functools.lru_cache(maxsize=None)
def has_pmu():
    return run([TALLY, "doctor"]).returncode == 0


def directory():
    return tempfile.TemporaryDirectory(prefix="tally-python-")


def main():
    """Runs the tests of the main module. Exit code 77 if all were skipped."""
    result = unittest.main(exit=False, verbosity=2).result
    if result.testsRun and len(result.skipped) == result.testsRun:
        sys.exit(77)
    sys.exit(not result.wasSuccessful())
