"""The form of the documents: README.md is short, and lines outside of code and tables fit 120 columns.

usage: style.py ROOT
"""

import os
import re
import subprocess
import sys

COLUMNS = 120
README_WORDS = 900  # outside of code blocks and comments


def prose(text):
    """(number, line) of the lines that are neither code nor comments."""
    code = comment = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            code = not code
            continue
        if code:
            continue
        comment = comment or "<!--" in line
        if not comment:
            yield number, line
        if "-->" in line:
            comment = False


def main():
    root = sys.argv[1]
    wrong = []
    names = subprocess.run(["git", "-C", root, "ls-files", "*.md"], capture_output=True, text=True).stdout.split()
    if not names:
        print("not a checkout: there is no list of the documents")
        return 77
    for name in names:
        with open(os.path.join(root, name), encoding="utf-8") as file:
            text = file.read()
        for number, line in prose(text):
            # Text that cannot be broken is left alone: a link, or code between backticks.
            words = re.sub(r"`[^`]*`", "", line).strip(" -")
            if len(line) > COLUMNS and not line.lstrip().startswith("|") and " " in words:
                wrong.append(f"{name}:{number}: {len(line)} columns, and {COLUMNS} at most are wanted")
        if name == "README.md":
            words = sum(len(re.sub(r"\]\([^)]*\)", "]", line).split()) for _, line in prose(text))
            if words > README_WORDS:
                wrong.append(f"README.md: {words} words, and {README_WORDS} at most are wanted")
    print("\n".join(wrong) if wrong else f"{len(names)} documents have the right form")
    return 1 if wrong else 0


sys.exit(main())
