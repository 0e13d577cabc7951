"""Checks that the glossary is a dictionary: it defines each term once, the files that it names exist, it contains every
grade of trust and every backend, and the documents or the sources use each term.

usage: glossary.py ROOT
"""

import os
import re
import subprocess
import sys

GLOSSARY = "docs/reference/glossary.md"


def rows(text):
    """(term, meaning, path) of each row of the glossary's tables."""
    for line in text.split("\n"):
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) >= 6 and cells[1] not in ("term", "---"):
            yield cells[1], cells[2], cells[3].strip("`")


def required(root):
    """The words that are in every result: the grades of trust and the backends."""
    with open(os.path.join(root, "tally/core/count/trust.hpp"), encoding="utf-8") as file:
        grades = re.findall(r"^  (\w+),\s+///<", file.read(), re.MULTILINE)
    return grades + ["backend", "event", "count", "trust", "region", "window", "profile", "engine"]


def all_text(root):
    """Every document and header but the glossary, in lower case; nothing outside of a checkout."""
    listed = subprocess.run(["git", "-C", root, "ls-files", "*.md", "tally/*.hpp"], capture_output=True, text=True)
    texts = []
    for name in listed.stdout.split():
        if name != GLOSSARY and os.path.isfile(os.path.join(root, name)):
            with open(os.path.join(root, name), encoding="utf-8", errors="replace") as file:
                texts.append(file.read())
    return re.sub(r"[\s/]+", " ", " ".join(texts)).lower()


def mistakes(entries, needed, text, exists):
    """What is wrong with a glossary, one line each."""
    seen = set()
    for term, meaning, path in entries:
        if term in seen:
            yield f"'{term}' is defined twice"
        seen.add(term)
        if not meaning:
            yield f"'{term}' has no meaning"
        if not exists(path):
            yield f"'{term}': there is no {path}"
        if term.lower().removeprefix("to ").split(" ")[0] not in text:
            yield f"'{term}' is used nowhere else"
    for term in needed:
        if term not in seen:
            yield f"'{term}' is used in results and is not defined"


def main():
    root = sys.argv[1]
    text = all_text(root)
    if not text:
        print("not a checkout: there is no list of the documents")
        return 77
    with open(os.path.join(root, GLOSSARY), encoding="utf-8") as file:
        entries = list(rows(file.read()))
    wrong = list(mistakes(entries, required(root), text, lambda path: os.path.exists(os.path.join(root, path))))
    print("\n".join(wrong) if wrong else f"{len(entries)} terms, each defined once")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
