"""Prints the slowest tests of a run, and what was skipped with the reasons.

usage: summary.py JUNIT_XML

JUNIT_XML is what `ctest --output-junit` writes. A test is skipped as a whole (exit code 77: its last line is the reason),
or some cases of a GoogleTest program are.
"""
import re
import sys
import xml.etree.ElementTree
from collections import defaultdict

SLOWEST = 20
# GoogleTest prints `FILE:LINE: Skipped`, the reason, an empty line, and the name of the case.
CASE = re.compile(r": Skipped\n(.*?)\n\n?\[  SKIPPED \] (\S+) \(", re.DOTALL)


def skipped(test):
    """The skipped cases of a test: pairs of name and reason."""
    output = test.findtext("system-out") or ""
    program = test.get("name").split("/")[0]
    cases = [(f"{program}/{name}", reason) for reason, name in CASE.findall(output)]
    if not cases and test.get("status") == "notrun":
        lines = [line for line in output.strip().splitlines() if line.strip()]
        cases = [(test.get("name"), lines[-1] if lines else "no reason given")]
    return cases


def main():
    tests = xml.etree.ElementTree.parse(sys.argv[1]).getroot().findall("testcase")
    print("slowest tests (wall time):")
    for test in sorted(tests, key=lambda test: -float(test.get("time")))[:SLOWEST]:
        print(f"{float(test.get('time')):8.1f} s {test.get('name')}")
    reasons = defaultdict(list)
    for test in tests:
        for name, reason in skipped(test):
            reasons[" ".join(reason.split())].append(name)
    if reasons:
        print(f"skipped cases: {sum(map(len, reasons.values()))}")
    for reason, names in sorted(reasons.items(), key=lambda row: -len(row[1])):
        more = f" and {len(names) - 2} more" if len(names) > 2 else ""
        print(f"  {', '.join(names[:2])}{more}: {reason}")


main()
