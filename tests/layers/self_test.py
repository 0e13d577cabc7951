#!/usr/bin/env python3
"""Tests the layer check: a tree with one known violation must fail with the right file, line and reason; a tree without
one must pass."""

import contextlib
import io
import os
import subprocess
import sys
import tempfile
import unittest

import check_layers

# (what the tree does, file, its text, the violation that follows its name)
VIOLATIONS = [
    ("includes upward", "core/base/a.hpp", '// first\n\n#include "tally/core/count/count.hpp"\n',
     "3: includes tally/core/count/count.hpp: core/base is at layer 0, core/count at layer 1: an include points down"),
    ("includes sideways", "hardware/event/a.cpp", "#include <tally/output/result/result.hpp>\n",
     "1: includes tally/output/result/result.hpp: hardware/event is at layer 2, output/result at layer 2"),
    ("uses the library of one file", "hardware/event/parse.cpp", '#include "tally/hardware/event/pfm.hpp"\n#include <perfmon/pfmlib.h>\n',
     "2: includes <perfmon/pfmlib.h>: the table names no library pfm for hardware/event"),
    ("measures in a report", "output/data/a.cpp", '#include "tally/counting/backend/backend.hpp"\n',
     "1: includes tally/counting/backend/backend.hpp: output/data may include core/base, core/count, core/stats, "
     "hardware/event, hardware/pmu, output/result, output/kit, output/kinds, output/analysis"),
    ("uses a page in a text", "output/text/a.cpp", '#include "tally/output/html/page_frame.hpp"\n',
     "1: includes tally/output/html/page_frame.hpp: output/text may include"),
    ("uses a program of its own", "cli/a.cpp", '#include "programs/lab/computer.hpp"\n',
     "1: includes programs/lab/computer.hpp: programs/lab is a program of its own"),
    ("uses a program around the stack", "cli/a.cpp", '#include "programs/memory/passes.hpp"\n',
     "1: includes programs/memory/passes.hpp: cli is at layer 9, programs/memory at layer 9: an include points down"),
    ("uses a library over libtally", "library/a.cpp", '#include "bindings/compat/fortran_name.hpp"\n',
     "1: includes bindings/compat/fortran_name.hpp: library is at layer 8, bindings/compat at layer 9: an include points down"),
    ("has the name of another directory's file", "core/count/harmless_test.cpp", "int a;\n",
     "1: has the name of tally/core/base/harmless.hpp"),
    ("reports in a measurement", "counting/measure/a.cpp", '#include "tally/output/text/table.hpp"\n',
     "1: includes tally/output/text/table.hpp: counting/measure is at"),
    ("names a backend in their interface", "counting/backend/a.cpp", '#include "tally/counting/backend/perf/perf.hpp"\n',
     "1: includes tally/counting/backend/perf/perf.hpp: counting/backend is at layer 3"),
    ("includes a hidden backend", "cli/a.cpp", '#include "tally/counting/backend/engine/engine.hpp"\n',
     "1: includes tally/counting/backend/engine/engine.hpp: only counting/backend/choose may include counting/backend/engine/"),
    ("includes by a relative name", "counting/backend/perf/a.cpp", '#include "../engine/engine.hpp"\n',
     "1: includes tally/counting/backend/engine/engine.hpp: counting/backend/perf is at"),
    ("includes from a directory that includes no other", "engine/channel/a.hpp", '#include "tally/core/base/result.hpp"\n',
     "1: includes tally/core/base/result.hpp: engine/channel may include no other directory"),
    ("uses the standard library in a freestanding directory", "engine/channel/a.hpp", "#include <cstdint>\n#include <vector>\n",
     "2: includes <vector>: engine/channel is freestanding"),
    ("includes core in the engine", "engine/a.cpp", '#include "tally/core/base/result.hpp"\n',
     "1: includes tally/core/base/result.hpp: engine may include engine/channel"),
    ("includes core in a test of the engine", "engine/a_test.cpp", '#include "tally/core/base/result.hpp"\n',
     "1: includes tally/core/base/result.hpp: engine may include engine/channel"),
    ("includes a higher layer of the engine", "engine/translate/a.cpp", '#include "tally/engine/guest/a.hpp"\n',
     "1: includes tally/engine/guest/a.hpp: engine/translate/ may include engine, engine/channel"),
    ("includes the engine", "linux/a.cpp", '#include "tally/engine/a.hpp"\n',
     "1: includes tally/engine/a.hpp: engine is a program of its own"),
    ("calls the kernel", "counting/measure/a.cpp", "#include <sys/wait.h>\n",
     "1: includes <sys/wait.h>: a header of the kernel interface"),
    ("uses a library of another directory", "counting/measure/a.cpp", "#include <CLI/CLI.hpp>\n",
     "1: includes <CLI/CLI.hpp>: the table names no library cli"),
    ("has inline assembly", "core/count/a.cpp", '/// asm("") in a comment; "asm("\nint f() {\n  __asm__ volatile ("nop");\n}\n',
     "3: inline assembly: the table allows none in core/count"),
    ("is assembly", "core/count/a.S", "nop\n", "1: assembly: the table allows none in core/count"),
    ("has a violation after brackets and backslashes", "core/count/a.cpp", "int a[] = {1};  // [[\nint b = a[0]; \\\n\n#include <fcntl.h>\n",
     "4: includes <fcntl.h>"),
    ("includes upward in a test", "core/count/a_test.cpp", '#include "tally/counting/measure/measure_stat.hpp"\n',
     "1: includes tally/counting/measure/measure_stat.hpp: core/count is at"),
    ("uses GoogleTest in the product", "core/count/a.cpp", "#include <gtest/gtest.h>\n",
     "1: includes <gtest/gtest.h>: the table names no library test"),
    ("makes JSON text", "output/data/a.cpp", "int f() {\n  return json.dump(2);\n}\n",
     "2: calls dump(): only core/base/json_text.hpp does"),
    ("opens a file", "output/data/a.cpp", "// O_RDONLY\nint f = open(path, O_RDONLY);\n", "2: opens files by itself (O_RDONLY)"),
    ("includes streams", "cli/a.cpp", "#include <fstream>\n", "1: opens files by itself (fstream)"),
    ("writes a file in linux", "linux/machine/a.cpp", "std::ofstream file(path);\n", "1: opens files by itself (ofstream)"),
    ("trusts the environment", "linux/files/output_file.cpp", 'auto a = std::getenv("HOME");\n', "1: getenv: use secure_getenv"),
    ("has an unknown directory", "attic/a.hpp", "int a;\n", "1: layers.txt names no directory for it"),
    ("includes an unknown directory", "cli/a.cpp", '#include "tally/attic/a.hpp"\n',
     "1: includes tally/attic/a.hpp: layers.txt names no directory for tally/attic/a.hpp"),
    ("includes against the order of the directories", "engine/machines/a.cpp", '#include "tally/hardware/pmu/a.hpp"\n',
     "1: includes tally/hardware/pmu/a.hpp: engine comes before hardware, and an include points back"),
]

# (what the tree does, file, its text)
ALLOWED = [
    ("uses a library in its only file", "hardware/event/pfm.cpp", '#include <perfmon/pfmlib.h>\n#include "tally/hardware/event/generic_events.hpp"\n'),
    ("includes downward", "counting/measure/a.cpp", '#include "tally/core/base/a.hpp"\n#include "tally/counting/backend/backend.hpp"\n'),
    ("chooses a backend", "counting/backend/choose.cpp",
     '#include "tally/counting/backend/engine/engine.hpp"\n#include "tally/counting/backend/perf/perf.hpp"\n'),
    ("decodes in the engine", "engine/translate/a.cpp", '#include "tally/engine/channel/a.hpp"\n#include <sys/mman.h>\n#include <Zydis/Zydis.h>\n'),
    ("includes a lower layer of the engine", "engine/persist/a.cpp", '#include "tally/engine/base.hpp"\n#include "tally/engine/translate/code_cache.hpp"\n'),
    ("uses the standard library in engine/image", "engine/image/a.cpp", "#include <vector>\n#include <elf.h>\n"),
    ("includes a file of the name of a directory", "engine/a.cpp", '#include "tally/engine/engine_addresses.hpp"\n'),
    ("calls the kernel in linux", "linux/a.cpp", "#include <sys/wait.h>\n#include <unistd.h>\n"),
    ("has inline assembly where it may", "linux/a.cpp", 'void f() { asm volatile("nop; ret[x]" :::); }\n'),
    ("tests", "core/count/a_test.cpp", '#include <gtest/gtest.h>\n#include <unistd.h>\n#include "tally/core/base/a.hpp"\n'),
    ("includes everything below in a test", "output/data/a_test.cpp", '#include "tally/linux/files/a.hpp"\n'),
    ("makes JSON text where it may", "core/base/json_text.hpp", "int f() { return json.dump(2); }\n"),
    ("makes JSON text in a test", "output/data/a_test.cpp", "int f() { return json.dump(2); }\n"),
    ("opens a file where it may", "linux/files/output_file.cpp", "int f = open(path, O_WRONLY);\n"),
    ("opens a file in a test", "output/data/a_test.cpp", "std::ofstream file(path);\n"),
    ("reads the environment safely", "linux/files/output_file.cpp", 'auto a = secure_getenv("HOME");\n'),
]


class Layers(unittest.TestCase):
    @contextlib.contextmanager
    def tree(self, file, text):
        """A tree with that file, its header if it is a source, and a harmless one."""
        with tempfile.TemporaryDirectory() as root:
            contents = {"core/base/harmless.hpp": "#include <string>\n", file: text}
            if file.endswith(".cpp") and not check_layers.TEST.search(file):
                contents[file.removesuffix(".cpp") + ".hpp"] = "#pragma once\n"
            for name, content in contents.items():
                path = os.path.join(root, "tally", name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as opened:
                    opened.write(content)
            yield root

    def check(self, file, text):
        """The exit code and the violations of a tree with that file."""
        with self.tree(file, text) as root, contextlib.redirect_stdout(io.StringIO()):
            with contextlib.redirect_stderr(io.StringIO()) as violations:
                return check_layers.check(check_layers.read_table(), root), violations.getvalue()

    def test_violations_are_found(self):
        for name, file, text, violation in VIOLATIONS:
            with self.subTest(name):
                code, printed = self.check(file, text)
                self.assertEqual(code, 1)
                self.assertIn(f"tally/{file}:{violation}", printed)
                self.assertRegex(printed, "layers: 1 violations in [23] files")

    def test_allowed_code_passes(self):
        for name, file, text in ALLOWED:
            with self.subTest(name):
                self.assertEqual(self.check(file, text), (0, ""))

    def test_a_tree_without_files_fails(self):
        with tempfile.TemporaryDirectory() as root, contextlib.redirect_stderr(io.StringIO()) as printed:
            self.assertEqual(check_layers.check(check_layers.read_table(), root), 1)
        self.assertIn("layers: no files below", printed.getvalue())

    def test_lines_are_limited(self):
        table = check_layers.Table(["order core", "lines tally 2", "data tally/core/b.inc"])
        with self.tree("core/base/a_test.cpp", "\n" * 9) as root:
            for name, added in (("core/b.inc", 9), ("core/a.cpp", 1), ("core/c.cpp", 1)):
                with open(os.path.join(root, "tally", name), "w", encoding="utf-8") as opened:
                    opened.write("\n" * added)
            files = [f"tally/core/{name}" for name in ("base/harmless.hpp", "base/a_test.cpp", "b.inc", "a.cpp", "c.cpp")]
            self.assertEqual(list(check_layers.lines_over_budget(table, root, files[:4])), [])
            self.assertEqual([directory for directory, _ in check_layers.lines_over_budget(table, root, files)], ["tally"])

    def test_sources_have_headers(self):
        table = check_layers.Table(["order core", "headerless core/*_command.cpp core/declared.cpp core/both.cpp"])
        files = [f"tally/core/{name}" for name in ("a.cpp", "a.hpp", "b.cpp", "b_test.cpp", "c_command.cpp", "declared.cpp", "both.cpp", "both.hpp")]
        found = list(check_layers.without_header(table, files))
        self.assertEqual([file for file, _ in found], ["tally/core/b.cpp", "tally/core/both.cpp"])
        self.assertIn("no header", found[0][1])
        self.assertIn("remove it", found[1][1])

    def test_unknown_rows_are_refused(self):
        for row, reason in (
            ("directories core 0", "unknown kind of row 'directories'"),
            ("directory core 0 kernels", "the row of core has an unknown word 'kernels'"),
            ("directory core 0", "the row `order` lacks core"),
        ):
            with self.subTest(row), self.assertRaisesRegex(ValueError, reason):
                check_layers.Table([row])

    def test_the_program_prints_and_fails(self):
        command = [sys.executable, "-B", os.path.join(check_layers.HERE, "check_layers.py")]
        with self.tree("core/base/a.cpp", "#include <fstream>\n") as root:
            wrong = subprocess.run([*command, root], capture_output=True, text=True, check=False)
        self.assertEqual((wrong.returncode, wrong.stdout), (1, ""))
        self.assertTrue(wrong.stderr.startswith("tally/core/base/a.cpp:1: opens files by itself (fstream): use"), wrong.stderr)


if __name__ == "__main__":
    unittest.main()
