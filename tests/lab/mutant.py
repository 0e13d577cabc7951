#!/usr/bin/env python3
"""Applies one change of mutants.txt to a copy of its file, builds the tests with it, and runs the one that must fail.

usage: mutant.py --names                      lists them
       mutant.py --check --root R             each applies to its file
       mutant.py --root R --build B NAME      exit code 0: the test failed, as it must
The compiler's and the linker's command are those of the build, as ninja prints them."""
import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def mutants():
    found, one = {}, None
    for line in open(os.path.join(HERE, "mutants.txt")):
        line = line.rstrip("\n")
        if match := re.match(r"mutant (\S+): (\S+)$", line):
            one = found[match[1]] = {"test": match[2], "old": [], "new": []}
        elif line.startswith("  in "):
            one["file"] = line[5:]
        elif line.startswith("  - "):
            one["old"].append(line[4:])
        elif line.startswith("  + "):
            one["new"].append(line[4:])
    return found


def fail(text):
    print(text)
    sys.exit(1)


def run(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def changed(text, one, name):
    old = "\n".join(one["old"]) + "\n"
    new = "\n".join(one["new"]) + "\n" if one["new"] else ""
    if text.count(old) != 1:
        fail(f"{name} does not apply to {one['file']}: it contains these lines {text.count(old)} times")
    return text.replace(old, new)


def compilation(lines, source, build):
    """Returns the command that compiles the source, and the text that it compiles if that is several sources in one."""
    for line in lines:
        _, compiles, path = line.rpartition(" -c ")
        if path == source:
            return line, None
        if compiles and "/Unity/unity_" in path:
            text = open(os.path.join(build, path)).read()
            if f'"{source}"' in text:
                return line, text
    fail(f"the command that compiles {source} was not found")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--names", action="store_true")
    options.add_argument("--check", action="store_true")
    options.add_argument("--root")
    options.add_argument("--build")
    options.add_argument("name", nargs="?")
    words = options.parse_args()
    if words.names:
        print("\n".join(mutants()))
        return
    if words.check:
        for name, each in mutants().items():
            changed(open(os.path.join(words.root, each["file"])).read(), each, name)
        return
    one = mutants()[words.name]
    of_pmu = one["file"].startswith(("programs/lab/pmu/", "programs/register/"))
    program = "lab_pmu_test" if of_pmu else "lab_test" if one["file"].startswith("programs/lab/") else "pmu_test"
    code, commands = run(["ninja", "-t", "commands", f"tests/{program}"], words.build)
    if code != 0:
        print("skipped: the build is not ninja's")
        sys.exit(77)
    source = os.path.join(words.root, one["file"])
    lines = commands.splitlines()
    compiling, together = compilation(lines, source, words.build)
    linking = [line for line in lines if f" -o tests/{program} " in line]
    if len(linking) != 1:
        fail(f"the command that links tests/{program} was not found")
    with tempfile.TemporaryDirectory() as folder:
        mutant = os.path.join(folder, os.path.basename(source))
        with open(mutant, "w") as file:
            file.write(changed(open(source).read(), one, words.name))
        if together:
            changed_path, mutant = mutant, os.path.join(folder, "together.cpp")
            with open(mutant, "w") as file:
                file.write(together.replace(f'"{source}"', f'"{changed_path}"'))
        compiler = shlex.split(compiling)
        compiler[compiler.index("-c") + 1] = mutant
        out = os.path.join(folder, "mutant.o")
        compiler[compiler.index("-o") + 1] = out
        if "-MF" in compiler:
            compiler[compiler.index("-MF") + 1] = os.path.join(folder, "depends")
        code, said = run(compiler, words.build)
        if code != 0:
            fail(f"{words.name} does not compile:\n{said}")
        # First on the line, so that the library's own object of this name is not used.
        linker = shlex.split(linking[0].split("&&")[1])
        at = linker.index("-o")
        linker[at + 1] = os.path.join(folder, "test")
        linker.insert(at, out)
        code, said = run(linker, words.build)
        if code != 0:
            fail(f"{words.name} does not link:\n{said}")
        test = [linker[at + 2], f"--gtest_filter={one['test']}"]
        code, said = run(test, words.build)
        if "[  PASSED  ] 0 tests" in said and code == 0:
            fail(f"there is no test {one['test']}")
        if code == 0:
            fail(f"{words.name} survives {one['test']}")
        print(f"{words.name} is killed by {one['test']}")


main()
