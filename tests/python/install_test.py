"""The package as a user installs it: by pip in a virtual environment, without a network."""
import os
import re
import shutil
import sys
import unittest

import programs


class Install(unittest.TestCase):
    def need_modules(self):
        for module in ("venv", "ensurepip", "setuptools", "wheel"):
            if programs.run([sys.executable, "-c", f"import {module}"]).returncode != 0:
                self.skipTest(f"Python's module {module} is missing (python3-venv, python3-setuptools, python3-wheel)")

    def test_by_pip_in_a_virtual_environment(self):
        self.need_modules()
        with programs.directory() as place:
            self.ran([sys.executable, "-m", "venv", "--system-site-packages", "venv"], place)
            # A copy: pip leaves a build directory next to pyproject.toml.
            shutil.copytree(programs.ROOT / "python", os.path.join(place, "python"))
            self.ran(["venv/bin/pip", "install", "-q", "--no-index", "--no-build-isolation", "./python"], place)
            shown = self.ran(["venv/bin/python", "-c", "import tally; print(tally.__file__); tally.region('x')"], place)
            self.assertIn(os.path.join(place, "venv"), shown)
            if programs.run([sys.executable, "-c", "import pytest"]).returncode == 0:
                self.assertIn("--tally-baseline", self.ran(["venv/bin/python", "-m", "pytest", "--help"], place))

    def test_has_the_version_of_tally(self):
        version = re.search(r'^version = "(.*)"$', (programs.ROOT / "python/pyproject.toml").read_text(), re.M)
        project = re.search(r"^project\(tally VERSION (\S+)", (programs.ROOT / "CMakeLists.txt").read_text(), re.M)
        self.assertEqual(version[1], project[1])

    def ran(self, words, place):
        finished = programs.run(words, place, PYTHONPATH="")
        self.assertEqual(finished.returncode, 0, finished.stdout + finished.stderr)
        return finished.stdout


if __name__ == "__main__":
    programs.main()
