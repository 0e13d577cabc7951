#!/usr/bin/env python3
"""Runs everyday programs natively and under the engine (`tally stat`), and compares the two runs of each case.

usage: run.py --tally PATH [--results DIR] [--list short|all] [--cases DIR] [NAME …]
       run.py --names [--list short|long|all]

The cases are in cases/GROUP.cases (for the format see cases.py). Exit code: 0 all as natively, 1 not, 77 all skipped.
With --results, one JSON file for each case; page.py writes them into docs/guides/costs-and-limits.md.
"""

import argparse
import ctypes
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cases as case_files

LIMIT = 1500  # seconds of a run: one that takes longer hangs. Less than the limit of ctest, to report and end it
SKIPPED = 77  # what a case's own shell text, and this program, say for "cannot be run here"
SEARCH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class Outcome:
    """The visible results of a run, and its cost."""

    def __init__(self, code, out, err, wall, cpu):
        self.code, self.out, self.err, self.wall, self.cpu = code, out, err, wall, cpu


def adopt_orphans():
    """Makes daemons that a case leaves running children of this process, so that it can end them."""
    PR_SET_CHILD_SUBREAPER = 36
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def descendants():
    parents = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as stat:
                parents.setdefault(int(stat.read().rpartition(")")[2].split()[1]), []).append(int(pid))
        except OSError:
            pass
    found, todo = [], [os.getpid()]
    while todo:
        children = parents.get(todo.pop(), [])
        found += children
        todo += children
    return found


def end_descendants():
    """Kills every process that a case left running."""
    while pids := descendants():
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        while True:
            try:
                if os.waitpid(-1, os.WNOHANG)[0] == 0:
                    break
            except ChildProcessError:
                return
        time.sleep(0.01)


def cpu_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def execute(words, place):
    """Runs `words` in place/work with files as its streams: nothing can fill up, and both runs see the same kind."""
    environment = {
        "PATH": SEARCH,
        "HOME": os.path.join(place, "home"),
        "TMPDIR": os.path.join(place, "work"),
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC0",
        "SUITE": os.path.dirname(os.path.abspath(__file__)),
        "CACHE": cache(),
        "TALLY_CACHE_DIR": os.path.join(place, "translations"),
    }
    files = [os.path.join(place, name) for name in ("out", "err")]
    with open(files[0], "wb") as out, open(files[1], "wb") as err:
        begun, cpu = time.monotonic(), cpu_of_children()
        process = subprocess.Popen(words, cwd=os.path.join(place, "work"), env=environment, stdin=subprocess.DEVNULL,
                                   stdout=out, stderr=err, start_new_session=True)
        try:
            code = process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            code = None
        wall, cpu = time.monotonic() - begun, cpu_of_children() - cpu
        end_descendants()
    texts = []
    for name in files:
        with open(name, errors="backslashreplace") as file:
            texts.append(file.read())
    return Outcome(128 - code if code is not None and code < 0 else code, *texts, wall, cpu)


def cache():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "tally", "engine-suite")


def empty(place):
    """The directory of both runs, one after the other, under the same name."""
    for name in ("work", "home"):
        path = os.path.join(place, name)
        shutil.rmtree(path, ignore_errors=True)
        os.mkdir(path)
        os.chmod(path, 0o1777)


class Skip(Exception):
    pass


def prepare(case, place):
    empty(place)
    if not case.prepare:
        return
    made = execute(["sh", "-eu", "-c", case.prepare], place)
    if made.code == SKIPPED:
        raise Skip((made.err.strip() or "its preparation says so").splitlines()[-1])
    if made.code != 0:
        raise RuntimeError(f"its preparation ended with {made.code}: {made.err[-2000:]}")


def seen(case, text):
    """The text that is compared: only the lines that the case selects, without what differs between any two runs."""
    if case.keep:
        wanted = re.compile(case.keep)
        text = "".join(line for line in text.splitlines(True) if wanted.search(line))
    for pattern, by in case.replace:
        text = re.sub(pattern, by, text, flags=re.MULTILINE)
    return "".join(sorted(text.splitlines(True))) if case.sorted else text


def first_difference(native, counted):
    a, b = native.splitlines(), counted.splitlines()
    for i in range(max(len(a), len(b))):
        left, right = (lines[i] if i < len(lines) else "(nothing)" for lines in (a, b))
        if left != right:
            return f"line {i + 1}: natively {left[:500]!r}, under tally {right[:500]!r}"
    return "only line ends differ"


def differences(case, native, counted):
    found = []
    if counted.code != native.code:
        ends = [f"{e.code}" if e.code is not None else "no end in time" for e in (native, counted)]
        found.append(f"exit code: natively {ends[0]}, under tally {ends[1]}; its errors: {counted.err[-1500:]!r}")
    for stream in case.compare:
        a, b = (seen(case, getattr(ended, stream)) for ended in (native, counted))
        if a != b:
            found.append(f"std{stream}, {first_difference(a, b)}")
    return found


def counts(path):
    """(instructions, trust, reason) of what the engine counted."""
    try:
        with open(path) as file:
            events = json.load(file)["events"]
    except (OSError, ValueError):
        return None, "absent", "tally wrote no result"
    events = [event for event in events if event["source"] == "engine" or event["event"] == "instructions:u"]
    instructions = next((event["value"] for event in events if event["event"].startswith("instructions")), None)
    for event in events:
        if event["trust"] != "exact":
            return instructions, event["trust"], event["reason"]
    return instructions, "exact", None


def trust_differs(case, trust, reason):
    if case.trust == "any" or (case.trust == "exact" and trust == "exact"):
        return None
    if case.trust != "exact" and trust == "partial" and case.trust in reason:
        return None
    wanted = case.trust if case.trust == "exact" else f"partial, “{case.trust}”"
    return f"trust: {trust} ({reason}), expected {wanted}"


def judge(case, tally):
    """Runs one case both ways; the result as page.py reads it."""
    place = tempfile.mkdtemp(prefix="tally-suite-")
    os.chmod(place, 0o755)
    script = os.path.join(place, "case.sh")
    with open(script, "w") as file:
        file.write(case.run)
    os.chmod(script, 0o644)
    result = {"name": case.name, "group": case.group, "verdict": "skipped"}
    try:
        prepare(case, place)
        native = execute(["sh", "-eu", script], place)
        if native.code == SKIPPED:
            raise Skip((native.err.strip() or "it says so itself").splitlines()[-1])
        problems = []
        if native.code != case.code:
            problems.append(f"natively it ends with {native.code} instead of {case.code}: {native.err[-2000:]!r}")
        if case.says and not re.search(case.says, native.out + native.err):
            problems.append(f"natively it does not say {case.says!r}: {(native.out + native.err)[-2000:]!r}")
        cpu = 0.0
        for number in range(case.times if not problems else 0):
            prepare(case, place)
            counts_file = os.path.join(place, "counts.json")
            if os.path.exists(counts_file):
                os.unlink(counts_file)
            words = [tally, "stat", "--backend", "engine", "--format", "json", "-o", counts_file, "--", "sh", "-eu", script]
            counted = execute(words, place)
            instructions, trust, reason = counts(counts_file)
            problems = differences(case, native, counted)
            if wrong := trust_differs(case, trust, reason):
                problems.append(wrong)
            cpu += counted.cpu
            result.update(runs=number + 1, instructions=instructions, trust=trust, reason=reason,
                          native_seconds=native.cpu, tally_seconds=cpu / (number + 1), wall_seconds=counted.wall)
            if problems:
                break
        result.update(verdict="different" if problems else "same", problems=problems)
    except Skip as skip:
        result["reason"] = str(skip)
    except (RuntimeError, OSError) as error:
        result.update(verdict="different", problems=[str(error)])
    finally:
        end_descendants()
        shutil.rmtree(place, ignore_errors=True)
    return result


def missing(case):
    """Why the case cannot be run here; nothing if it can."""
    for program in case.needs:
        if shutil.which(program, path=SEARCH) is None and not os.path.exists(program):
            return f"{program} is not installed"
    if case.root and os.geteuid() != 0:
        return "it needs root"
    return None


def say(result):
    words = {"same": "as natively", "different": "NOT AS NATIVELY", "skipped": "skipped"}[result["verdict"]]
    extra = ""
    if result["verdict"] == "skipped":
        extra = f": {result['reason']}"
    elif "trust" in result:
        extra = f": {result['trust']}" + (f" ({result['reason']})" if result["reason"] else "")
        extra += f", {result['instructions']} instructions"
        extra += f", processor time {result['native_seconds']:.2f} s natively, {result['tally_seconds']:.2f} s under tally"
    print(f"{result['group']}/{result['name']}: {words}{extra}", flush=True)
    for problem in result.get("problems", []):
        print(f"    {problem}", flush=True)


def main():
    parser = argparse.ArgumentParser(description="Everyday programs natively and under tally.")
    parser.add_argument("--tally", help="the command to judge")
    parser.add_argument("--results", help="directory for one JSON file a case")
    parser.add_argument("--list", choices=("short", "long", "all"), default="all")
    parser.add_argument("--cases", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "cases"))
    parser.add_argument("--names", action="store_true", help="only print the names")
    parser.add_argument("wanted", nargs="*", metavar="NAME", help="GROUP/NAME, or a GROUP; all without")
    options = parser.parse_args()
    chosen = [case for case in case_files.read_all(options.cases)
              if options.list in ("all", case.list)
              and (not options.wanted or case.group in options.wanted or f"{case.group}/{case.name}" in options.wanted)]
    if options.names:
        print("\n".join(f"{case.group}/{case.name}" for case in chosen))
        return 0
    if not options.tally or not chosen:
        parser.error("--tally PATH is needed" if chosen else "there is no such case")
    adopt_orphans()
    os.makedirs(cache(), exist_ok=True)
    verdicts = set()
    for case in chosen:
        why_not = missing(case)
        result = ({"name": case.name, "group": case.group, "verdict": "skipped", "reason": why_not}
                  if why_not else judge(case, os.path.abspath(options.tally)))
        say(result)
        verdicts.add(result["verdict"])
        if options.results:
            os.makedirs(options.results, exist_ok=True)
            with open(os.path.join(options.results, f"{case.group}-{case.name}.json"), "w") as file:
                json.dump(result, file, indent=1)
    return 1 if "different" in verdicts else SKIPPED if verdicts == {"skipped"} else 0


if __name__ == "__main__":
    sys.exit(main())
