"""The walk of a count: which source files `tally stat -e instructions -- true` executes, measured by tally on itself.

Compares their number with limit.txt, and the files with the list in docs/design/a-count.md. TALLY_REBASE=1 writes both;
it never raises the limit.

usage: walk.py ROOT TALLY
"""

import collections
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap

import definitions

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT = os.path.join(HERE, "limit.txt")
PAGE = "docs/design/a-count.md"
COMMAND = ["stat", "-e", "instructions", "--", "true"]
LIST = re.compile(r"(\n## Files\n\n[^\n]*\n\n).*", re.DOTALL)


def profile(tally):
    """The profile of the command; None if the engine does not count. Its first execution stores translations."""
    with tempfile.TemporaryDirectory() as folder:
        def run(*words):
            """What a command writes to its file."""
            path = os.path.join(folder, "result.json")
            words = [path if word == "FILE" else word for word in words]
            environment = dict(os.environ, TALLY_CACHE_DIR=os.path.join(folder, "cache"))
            subprocess.run([tally, *words], env=environment, capture_output=True, check=True)
            with open(path, encoding="utf-8") as file:
                return json.load(file)

        if run("stat", "-o", "FILE", *COMMAND[1:])["backend"] != "engine":
            return None
        return run("profile", "--backend", "engine", "-o", "FILE", "--", tally, *COMMAND)


def sources(root):
    """The product's sources; none outside of a checkout."""
    listed = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard", "tally"], capture_output=True, text=True)
    is_source = re.compile(r"(?<!_test)(?<!_testing)\.(cpp|hpp|h|inc)$")
    return [name for name in listed.stdout.split() if is_source.search(name) and os.path.isfile(os.path.join(root, name))]


def walk_of(functions, known):
    """(files, functions whose file is unknown) of the functions of the namespace tally."""
    ours = [name for name in functions if definitions.parse(name)[0].startswith("tally::")]
    files = {name: known.file_of(name) for name in ours}
    return sorted({path for path in files.values() if path}), [name for name, path in files.items() if not path]


def list_of(files):
    """The list as Markdown: each directory with its files."""
    by_directory = collections.defaultdict(list)
    for path in files:
        by_directory[os.path.dirname(path)].append(os.path.basename(path))
    lines = ["```"]
    for directory, names in sorted(by_directory.items()):
        lines += [directory, textwrap.fill(" ".join(names), 118, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)]
    return "\n".join(lines + ["```", ""])


def files_in(text):
    """The files of a list that list_of wrote."""
    directory = ""
    for line in text.splitlines():
        if line.startswith("  "):
            yield from (f"{directory}/{name}" for name in line.split())
        else:
            directory = line


def mistakes(files, unknown, limit, listed):
    """What is wrong with a walk, one line each."""
    for name in unknown:
        yield f"no source defines {name}: tests/walk/definitions.py must find it"
    if len(files) > limit:
        yield f"{len(files)} files are executed, at most {limit} may be (tests/walk/limit.txt): do without one, or say in the commit why not"
    for path in sorted(set(files) - set(listed)):
        yield f"{path} is executed and not in {PAGE}: correct the page, and write its list with TALLY_REBASE=1"


def main():
    root, tally = sys.argv[1:3]
    page, paths = os.path.join(root, PAGE), sources(root)
    if not paths:
        print("not a checkout: there is no list of the sources")
        return 77
    measured = profile(tally)
    if measured is None:
        print("this machine has hardware counters: a count travels through the backend perf, not through the engine")
        return 77
    files, unknown = walk_of((row["name"] for row in measured["functions"]), definitions.Sources(root, paths))
    with open(page, encoding="utf-8") as file:
        text = file.read()
    with open(LIMIT, encoding="utf-8") as file:
        head, limit = file.read().rstrip().rsplit("\n", 1)
    if os.environ.get("TALLY_REBASE"):
        with open(page, "w", encoding="utf-8") as file:
            file.write(LIST.sub(lambda found: found.group(1) + list_of(files), text))
        with open(LIMIT, "w", encoding="utf-8") as file:
            file.write(f"{head}\n{min(len(files), int(limit))}\n")
        return 0
    listed = list(files_in(LIST.search(text).group()))
    wrong = list(mistakes(files, unknown, int(limit), listed))
    print("\n".join(wrong) if wrong else f"{len(files)} files are executed, at most {limit} may be")
    for path in sorted(set(listed) - set(files)):
        print(f"not executed here: {path}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
