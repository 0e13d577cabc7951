#!/usr/bin/env python3
"""Executes the examples of the documents and compares their output with the document (blocks.py, compare.py).

usage: run.py --tally PATH --root DIR [--show] NAME …
       run.py --names --root DIR

NAME is DOCUMENT:LINE, the position of a block, or DOCUMENT: checks that the commands and options that its words and
blocks name exist. Exit code: 0 as shown, 1 not, 77 skipped. --show prints what the commands printed.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import blocks as documents
import compare
import options as named

SKIPPED = 77
LIMIT = 1500  # seconds for a command: one that takes longer hangs. Less than the limit of ctest, to report which one
MARK = "\x1e"  # between what two commands print


class Skip(Exception):
    pass


class Wrong(Exception):
    pass


def environment(tally, root, place):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TALLY_")}
    kept.pop("COLUMNS", None)
    cache = os.environ.get("TALLY_CACHE_DIR", os.path.join(os.path.dirname(tally), "test-cache"))
    return kept | {
        "PATH": ":".join([os.path.join(place, "home", "bin"), os.path.dirname(tally), os.environ["PATH"]]),
        "HOME": os.path.join(place, "home"),
        "LC_ALL": "C.UTF-8",
        "TALLY_CACHE_DIR": cache,
        "ROOT": root,  # where the repository lies, and its build: for inputs/
        "BUILD": os.path.dirname(tally),
    }


def shell(text, place, variables, limit=LIMIT):
    """(exit code, what was printed) of a text for bash."""
    process = subprocess.Popen(["bash", "--noprofile", "--norc", "-c", text], cwd=os.path.join(place, "work"), env=variables,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               start_new_session=True)
    try:
        printed, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.communicate()
        raise Wrong(f"no end after {limit} seconds: {text}") from None
    return process.returncode, printed.decode("utf-8", "backslashreplace")


def machine_fits(block, place, variables):
    """Skips output that is shown for another kind of machine."""
    if "not run" in block.marks:
        raise Skip(block.marks["not run"])
    text = "\n".join(block.lines)
    if re.search(r"· engine$|with the engine|counts of the engine|\(engine,| exact$", text, re.MULTILINE):
        code, _ = shell("tally doctor", place, variables)
        if code == 0:
            raise Skip("shown of a machine without a PMU: this one has one")
        if os.uname().machine != "x86_64":
            raise Skip("shown of x86-64: there is no engine here")
    for need in block.marks["needs"]:
        reason, _, test = need.partition(": ")
        if shell(test, place, variables)[0] != 0:
            raise Skip("it needs " + reason)


def prepare(block, all_blocks, place, variables):
    for other in all_blocks:
        if "file" in other.marks:
            with open(os.path.join(place, "work", other.marks["file"]), "w", encoding="utf-8") as file:
                file.write("\n".join(other.lines) + "\n")
    for name in block.marks.get("uses", "").split():
        with open(os.path.join(HERE, "inputs", name), encoding="utf-8") as file:
            text = file.read()
        code, printed = shell("set -eu\n" + text, place, variables)
        if code == SKIPPED:
            raise Skip(printed.strip())
        if code != 0:
            raise Wrong(f"inputs/{name} ended with {code}:\n{printed}")


def script(block):
    """The commands as one shell script; each prints its exit code and a mark after its output."""
    lines = [f"{command} >before.log 2>&1 || {{ cat before.log; exit 99; }}" for command in block.marks["before"]]
    status = "end_of_step"
    lines += ["exec 2>&1", f"{status}=0"]
    for command, _ in block.steps():
        lines += [f"(exit ${status})", command, f"{status}=$?; printf '{MARK}%d{MARK}' ${status}"]
    return "\n".join(lines)


def run_example(block, all_blocks, tally, root, show):
    place = tempfile.mkdtemp(prefix="tally-documents-")
    for name in ("work", "home"):
        os.mkdir(os.path.join(place, name))
    variables = environment(tally, root, place)
    try:
        machine_fits(block, place, variables)
        prepare(block, all_blocks, place, variables)
        steps = block.steps()
        code, printed = shell(script(block), place, variables)
        if show:
            print(printed.replace(MARK, "\n---- "))
        pieces = printed.split(MARK)
        if len(pieces) != 2 * len(steps) + 1:
            raise Wrong(f"the commands ended with {code}:\n{printed}")
        judge(block, steps, pieces)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def judge(block, steps, pieces):
    ends = [len(steps) - 1 - back for back, (command, _) in enumerate(reversed(steps)) if not command.startswith("echo ")]
    for number, (command, shown) in enumerate(steps):
        printed, code = pieces[2 * number], int(pieces[2 * number + 1])
        wanted = int(block.marks.get("exit", 0)) if number == ends[0] else 0
        wrong = []
        if code != wanted:
            wrong.append(f"exit code {code} instead of {wanted}")
        if found := compare.difference(shown, printed.split("\n"), block.marks):
            wrong.append(found)
        if wrong:
            raise Wrong(f"$ {command}\n" + "\n".join(wrong) + f"\n\nall that was printed:\n{printed}")


def judge_one(name, arguments):
    document, _, line = name.partition(":")
    all_blocks = documents.read(arguments.root, document)
    try:
        if not line:
            wrong = named.unknown(arguments.root, document, arguments.tally)
            if wrong:
                raise Wrong("\n".join(wrong))
            return 0
        block = next(block for block in all_blocks if block.line == int(line))
        run_example(block, all_blocks, arguments.tally, arguments.root, arguments.show)
        return 0
    except Skip as skip:
        print(f"{name}: skipped: {skip}", flush=True)
        return SKIPPED
    except Wrong as wrong:
        print(f"{name}: not as shown\n{wrong}", flush=True)
        return 1


def names(root):
    for document in documents.documents(root):
        found = [block.name for block in documents.read(root, document) if block.is_example()]
        if found or named.commands(root, document):
            yield document
        yield from found


def main():
    parser = argparse.ArgumentParser(description="Executes the examples of the documents.")
    parser.add_argument("--tally", help="the command")
    parser.add_argument("--root", required=True, help="the repository")
    parser.add_argument("--names", action="store_true", help="only print the names")
    parser.add_argument("--show", action="store_true", help="print what the commands print")
    parser.add_argument("wanted", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    arguments.root = os.path.abspath(arguments.root)
    if arguments.names:
        print("\n".join(names(arguments.root)))
        return 0
    if not arguments.tally or not arguments.wanted:
        parser.error("--tally PATH and NAME are needed")
    arguments.tally = os.path.abspath(arguments.tally)
    ends = {judge_one(name, arguments) for name in arguments.wanted}
    return 1 if 1 in ends else SKIPPED if ends == {SKIPPED} else 0


if __name__ == "__main__":
    sys.exit(main())
