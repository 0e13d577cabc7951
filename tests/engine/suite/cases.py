"""Reads cases/GROUP.cases. A file has lines `key: value` that hold for the whole group, and cases:

    title: Perl                     heading of the group in the page
    package: perl                   Debian packages, whose versions the page shows
    needs: perl                     programs or files without which it is skipped

    === sort: sorts words           name, and description
    short:                          in the short list, too; cases without this are in the long one only
    --- prepare                     shell text that runs natively before each run (optional)
    --- run                         shell text that runs natively, and under tally

More keys: `code: N` the native exit code (0); `says: REGEX` what the native run must print, which shows that the
case did its work; `trust: exact` (the default), `trust: any`, or words of the reason for which it is partial;
`compare: out err` (the default) streams that are the same; `keep: REGEX` only these lines are compared; `sorted:` in
any order; `each: WORDS` (may be repeated): a case for each word, which replaces $each in it; `brief:` a list in the page
instead of a table; `replace: REGEX => TEXT` (may be repeated) what differs from run to run; `times: N` runs under tally;
`root:` needs root.

The shell text runs by `sh -eu` in an empty directory; $CACHE is a directory that is kept. Exit code 77 means that the
case cannot be run here; the last line of standard error says why.
"""

import copy
import os

FLAGS = ("short", "sorted", "root", "brief")
LISTS = ("needs", "package", "each", "compare")
KEYS = ("title", "code", "says", "trust", "keep", "times")


class Case:
    def __init__(self, group, name, what, defaults):
        self.group, self.name, self.what = group, name, what
        self.title, self.code, self.says, self.trust, self.keep, self.times = group, 0, "", "exact", "", 1
        self.short = self.sorted = self.root = self.brief = False
        self.needs, self.package, self.each, self.compare, self.replace = [], [], [], ["out", "err"], []
        self.prepare = self.run = ""
        for key, value in defaults:
            self.set(key, value)

    @property
    def list(self):
        return "short" if self.short else "long"

    def set(self, key, value):
        if key in FLAGS:
            setattr(self, key, True)
        elif key == "compare":
            self.compare = value.split()
        elif key in LISTS:
            setattr(self, key, getattr(self, key) + value.split())
        elif key == "replace":
            self.replace = self.replace + [tuple(part.strip() for part in value.split("=>"))]
        elif key in ("code", "times"):
            setattr(self, key, int(value))
        elif key in KEYS:
            setattr(self, key, value)
        else:
            raise ValueError(f"{self.group}: there is no key {key!r}")


def for_each(case):
    """The case, or one for each word of its list."""
    if not case.each:
        return [case]
    made = []
    for word in case.each:
        one = copy.copy(case)
        one.name, one.what = (text.replace("$each", word) for text in (case.name, case.what))
        one.prepare, one.run = (text.replace("$each", word) for text in (case.prepare, case.run))
        made.append(one)
    return made


def read(path):
    group = os.path.splitext(os.path.basename(path))[0]
    defaults, found, part = [], [], None
    with open(path) as file:
        for line in file:
            if line.startswith("=== "):
                name, _, what = line[4:].partition(":")
                found.append(Case(group, name.strip(), what.strip(), defaults))
                part = None
            elif found and line.strip() in ("--- prepare", "--- run"):
                part = line[4:].strip()
            elif part:
                setattr(found[-1], part, getattr(found[-1], part) + line)
            elif line.strip() and not line.startswith("#"):
                key, _, value = line.partition(":")
                if found:
                    found[-1].set(key, value.strip())
                else:
                    defaults.append((key, value.strip()))
    return [one for case in found for one in for_each(case)]


def read_all(directory):
    """All cases, by group and in the order of the files."""
    result = []
    for name in sorted(os.listdir(directory)):
        if name.endswith(".cases"):
            result += read(os.path.join(directory, name))
    names = [f"{case.group}/{case.name}" for case in result]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two cases are called {name}")
    for case in result:
        if not case.run:
            raise ValueError(f"{case.group}/{case.name} has nothing to run")
    return result
