"""Reads the examples out of the documents: the fenced blocks in which a line begins with `$ `.

A line `$ COMMAND` is the command (a `\\` at its end continues it on the next line), the lines below it are its output, both
streams together. `…` matches anything: in a line a part of it, alone in a line any number of lines.

An HTML comment directly above a block has more about it, one `key: value` per line:

    <!-- example
    uses: input.tar
    exit: 125
    -->

    not run: REASON          needs something that no test has; skipped with this reason
    needs: REASON: COMMAND   skipped with this reason if the shell's COMMAND fails
    uses: NAME …             files that the block needs: inputs/NAME, a shell script, is run first and makes them
    before: COMMAND          is run first, in the same shell; its output is not compared
    exit: N                  the exit code of the last command that is not `echo`; 0 without this
    numbers: exactly         every number is as shown; without this it may have any value (compare.py)
    may differ: TEXT         TEXT may be anything
    may lack: TEXT           a line with TEXT in it may be missing
    from: TEXT               the output before the first line with TEXT is not compared
    file: NAME               for a block without `$`: its text is a file of this name, for all examples of the document

needs, before, may differ and may lack may be repeated.
"""

import glob
import os
import re

KEYS = ("not run", "needs", "uses", "before", "exit", "numbers", "may differ", "may lack", "from", "file")
LISTS = ("needs", "before", "may differ", "may lack")


class Block:
    """A fenced block, with the keys of the comment above it."""

    def __init__(self, document, line, lines, marks):
        self.document, self.line, self.lines, self.marks = document, line, lines, marks

    @property
    def name(self):
        return f"{self.document}:{self.line}"

    def is_example(self):
        return any(line.startswith("$ ") for line in self.lines)

    def steps(self):
        """[command, lines that it prints] in order."""
        steps, going_on = [], False
        for line in self.lines:
            if going_on:
                steps[-1][0] += "\n" + line
            elif line.startswith("$ "):
                steps.append([line[2:], []])
            elif steps:
                steps[-1][1].append(line)
            elif line.strip():
                raise ValueError(f"{self.name}: a line above the first command: {line!r}")
            going_on = line.endswith("\\") and (going_on or line.startswith("$ "))
        return steps


def marks_of(comment, where):
    marks = {key: [] for key in LISTS}
    for line in comment.strip().splitlines():
        key, colon, value = (part.strip() for part in line.partition(":"))
        if key not in KEYS or not colon or not value:
            raise ValueError(f"{where}: an example's comment has no {line.strip()!r}; the keys are {', '.join(KEYS)}")
        if key in LISTS:
            marks[key].append(value)
        else:
            marks[key] = value
    return marks


def read(root, document):
    """All fenced blocks of a document."""
    with open(os.path.join(root, document), encoding="utf-8") as file:
        lines = file.read().split("\n")
    blocks, at, comment = [], 0, ""
    while at < len(lines):
        begun = at
        if re.match(r"\s*<!-- example\b", lines[at]):
            while "-->" not in lines[at]:
                at += 1
            text = "\n".join(lines[begun:at + 1])
            comment = text.partition("<!-- example")[2].rpartition("-->")[0]
        elif fence := re.match(r"(\s*)```", lines[at]):
            at += 1
            while lines[at].strip() != "```":
                at += 1
            indent = len(fence[1])
            inside = [line[indent:] for line in lines[begun + 1:at]]
            blocks.append(Block(document, begun + 1, inside, marks_of(comment, f"{document}:{begun + 1}")))
            comment = ""
        elif lines[at].strip() and comment:
            raise ValueError(f"{document}:{begun + 1}: an example's comment belongs directly above a block")
        at += 1
    if comment:
        raise ValueError(f"{document}: the document ends with an example's comment, without a block below it")
    return blocks


def documents(root):
    """README.md, CONTRIBUTING.md, and all under docs/ and examples/."""
    found = [name for name in ("README.md", "CONTRIBUTING.md") if os.path.exists(os.path.join(root, name))]
    for folder in ("docs", "examples"):
        found += sorted(os.path.relpath(path, root)
                        for path in glob.glob(os.path.join(root, folder, "**", "*.md"), recursive=True))
    return found
