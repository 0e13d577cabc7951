#!/usr/bin/env python3
"""Rewrites the section of a page between its two comments with the results of run.py.

usage: page.py RESULTS_DIRECTORY docs/guides/costs-and-limits.md > NEW_PAGE
"""

import json
import os
import platform
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../../dev.d/reference")]
import cases as case_files
import columns

BEGIN = "<!-- made by tests/engine/suite/page.py -->"
END = "<!-- end of what tests/engine/suite/page.py made -->"


def first_line(path, key):
    try:
        with open(path) as file:
            for line in file:
                if line.startswith(key):
                    return line.split("=" if "=" in line else ":", 1)[1].strip().strip('"')
    except OSError:
        pass
    return "unknown"


def version(package):
    asked = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True)
    return asked.stdout.strip() if asked.returncode == 0 else None


def packages(cases):
    names = []
    for case in cases:
        names += [name for name in case.package if name not in names]
    known = [f"{name} {found}" for name in names if (found := version(name))]
    return ", ".join(known)


def cell(text):
    return str(text).replace("|", "\\|").replace("\n", " ")


def read_results(directory):
    found = {}
    for name in os.listdir(directory):
        if name.endswith(".json"):
            with open(os.path.join(directory, name)) as file:
                result = json.load(file)
            found[result["group"], result["name"]] = result
    return found


def row(case, result):
    if result is None or result["verdict"] == "skipped":
        why = result["reason"] if result else "not run"
        return [f"`{case.name}`", case.what, "skipped: " + why, "", "", ""]
    verdict = "yes" if result["verdict"] == "same" else "**no**: " + "; ".join(result["problems"])[:200]
    if result["verdict"] == "same" and result.get("runs", 1) > 1:
        verdict += f", {result['runs']} times"
    trust = result.get("trust", "")
    if result.get("reason"):
        trust += ": " + shortened(result["reason"])
    ratio = ""
    if result.get("native_seconds", 0) >= 0.02:  # below that the clock decides
        ratio = f"{result['tally_seconds'] / result['native_seconds']:.1f}"
    count = result.get("instructions")
    return [f"`{case.name}`", case.what, verdict, trust, f"{count:,}" if count is not None else "", ratio]


def shortened(reason):
    """Lists each reason once, without the names of the programs that share it."""
    reasons = []
    for part in reason.split("; "):
        name, colon, said = part.partition(": ")
        said = said if colon and " " not in name else part
        if said not in reasons:
            reasons.append(said)
    return "; ".join(reasons)


def without_times(reason):
    """Removes the times at which programs continued natively: they differ in each run."""
    reason = re.sub(r"(,|; natively) from [^;]* of (its|the) processor time[^;]* on\b", "", reason)
    return re.sub(r"(; )?[0-9.]+ % of the command's [^;]* ran natively", "", reason)


def names(cases):
    return ", ".join(f"`{case.name}`" for case in cases)


def as_list(members, results):
    """Names by verdict, for a group of many similar cases."""
    found = {case.name: results.get((case.group, case.name)) or {"verdict": "skipped", "reason": "not run"}
             for case in members}
    of = {verdict: [case for case in members if found[case.name]["verdict"] == verdict]
          for verdict in ("same", "different", "skipped")}
    lines = [f"Each: {members[0].what}.", "", f"- same as native ({len(of['same'])}): {names(of['same'])}"]
    for case in of["different"]:
        lines.append(f"- **different**: `{case.name}`: " + cell("; ".join(found[case.name]["problems"])[:200]))
    reasons = {}
    for case in of["skipped"]:
        reasons.setdefault(found[case.name]["reason"], []).append(case)
    lines += [f"- skipped, {cell(reason)}: {names(cases)}" for reason, cases in reasons.items()]
    partial = {}
    for case in of["same"]:
        if found[case.name].get("reason"):
            partial.setdefault(without_times(shortened(found[case.name]["reason"])), []).append(case)
    lines += [f"- partial, {cell(reason)}: {names(cases)}" for reason, cases in partial.items()]
    return "\n".join(lines)


def section(results, cases):
    judged = [results[key] for case in cases if (key := (case.group, case.name)) in results]
    same = sum(result["verdict"] == "same" for result in judged)
    different = sum(result["verdict"] == "different" for result in judged)
    yield columns.fit(f"""
- {time.strftime('%Y-%m-%d', time.gmtime())}, {first_line('/etc/os-release', 'PRETTY_NAME')}, Linux {platform.release()}, {first_line('/proc/cpuinfo', 'model name')}, {os.cpu_count()} CPUs
- {same} cases are the same as native, {different} differ, {len(cases) - same - different} did not run
""")
    for group in dict.fromkeys(case.group for case in cases):
        members = [case for case in cases if case.group == group]
        yield f"### {members[0].title}\n"
        if versions := packages(members):
            yield columns.fit(versions) + "\n"
        if members[0].brief:
            yield columns.fit(as_list(members, results)) + "\n"
            continue
        yield "| case | what it does | same as native | trust | instructions | ratio |\n|---|---|---|---|---|---|"
        for case in members:
            yield "| " + " | ".join(cell(text) for text in row(case, results.get((case.group, case.name)))) + " |"
        yield ""


def main():
    results = read_results(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as file:
        before, begin, rest = file.read().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit(f"{sys.argv[2]} has no section between {BEGIN} and {END}")
    made = "\n".join(section(results, case_files.read_all(os.path.join(HERE, "cases"))))
    print(before + begin + "\n" + made + end + after, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
