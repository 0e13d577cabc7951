"""The relative links of all documents below a folder lead to something in that folder.

usage: links.py FOLDER
       links.py --installed BUILD     what `cmake --install BUILD` installs of them
"""

import os
import re
import subprocess
import sys
import tempfile

LINK = re.compile(r"\]\(([^)\s]+)\)")
SKIPPED = {"build", ".git"}


def documents(folder):
    """All Markdown files below it."""
    for path, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in SKIPPED)
        yield from (os.path.join(path, name) for name in sorted(files) if name.endswith(".md"))


def without_code(text):
    """The text without code blocks and code between backticks, in as many lines."""
    blank = lambda match: "\n" * match.group().count("\n")
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^\s*```.*?^\s*```", blank, text, flags=re.M | re.S))


def dead_links(folder):
    """(checked, messages)"""
    root = os.path.realpath(folder)
    checked, wrong = 0, []
    for document in documents(root):
        with open(document, encoding="utf-8") as file:
            lines = without_code(file.read()).split("\n")
        for number, line in enumerate(lines, 1):
            for target in LINK.findall(line):
                if re.match(r"[a-z]+:", target) or target.startswith("#"):
                    continue
                checked += 1
                path = os.path.realpath(os.path.join(os.path.dirname(document), target.split("#")[0]))
                if not path.startswith(root + os.sep) or not os.path.exists(path):
                    wrong.append(f"{os.path.relpath(document, root)}:{number}: no file for the link {target}")
    return checked, wrong


def main():
    with tempfile.TemporaryDirectory() as prefix:
        folder = sys.argv[1]
        if folder == "--installed":
            subprocess.run(["cmake", "--install", sys.argv[2], "--prefix", prefix, "--component", "documents"],
                           check=True, stdout=subprocess.DEVNULL)
            folder = prefix
        checked, wrong = dead_links(folder)
    if checked == 0:
        wrong.append(f"no document with a relative link in {folder}")
    print("\n".join(wrong) if wrong else f"{checked} links lead to a file")
    return 1 if wrong else 0


sys.exit(main())
