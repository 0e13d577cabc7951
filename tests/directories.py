"""Prints the directories whose tests `./dev test DIRECTORY …` runs, one on a line, and "-REGEX" for tests to leave out.

usage: directories.py BUILD DIRECTORY …

These are the directories themselves with those below them, the directories that depend on them (BUILD/directories.txt,
which CMake writes), and those that tests/directories.txt adds.
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def rows(path):
    """The rows of a table as lists of words, without comments."""
    with open(path) as file:
        lines = [line.split("#")[0].split() for line in file]
    return [words for words in lines if words]


def is_within(path, directory):
    return path == directory or path.startswith(directory + "/")


def main():
    build, *chosen = sys.argv[1:]
    chosen = [os.path.relpath(directory, os.path.dirname(HERE)) for directory in chosen]
    uses, tested = {}, set()
    for kind, name, *others in rows(os.path.join(build, "directories.txt")):
        if kind == "uses":
            for directory in (name, *others):
                uses.setdefault(directory, set())
            uses[name].update(others)
        else:
            tested.add(name)

    found = {name for name in {*uses, *tested} if any(is_within(name, directory) for directory in chosen)}
    # A directory without a target is part of the target of a directory above it: tally/output/text.
    for directory in chosen:
        around = [name for name in uses if is_within(directory, name)]
        found.update(sorted(around, key=len)[-1:])
    while above := {name for name, others in uses.items() if name not in found and found & others}:
        found |= above
    excluded = []
    for name, *others in rows(os.path.join(HERE, "directories.txt")):
        expression = others.pop(0) if name == "case" else ""
        is_tested = any(is_within(directory, other) or is_within(other, directory) for directory in chosen for other in others)
        if expression and not is_tested and all(is_within(directory, "tally") for directory in chosen):
            excluded.append("-" + expression)
        elif is_tested and not expression:
            found.add(name)
    print("\n".join([*sorted(found & tested), *excluded]))


main()
