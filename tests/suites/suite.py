"""Runs the programs of a public test suite natively and under the engine, and compares what they print and how they end.

usage: suite.py SUITE SOURCE BUILD TALLY [PROGRAM …]

SUITE is a name of `suites` below, SOURCE its unpacked source package, BUILD a directory for what is compiled. Prints a
line for each program: same, partial (the engine's reason), differs, or left out with the reason. Programs that differ
must be in SUITE.expected, each with its reason; any other is a failure. Exit code: 0, 1 if one is new, 77 if the suite
cannot run here.
"""

import glob
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TIME_LIMIT = 60  # seconds of one execution


class Skipped(Exception):
    """The suite cannot run here, and why."""


class Program:
    """One program of a suite: a shell command that is executed in `directory`, or the reason why it is left out."""

    def __init__(self, name, command=None, directory=None, left_out=None):
        self.name, self.command, self.directory, self.left_out = name, command, directory, left_out


def compiled(source, build, flags, compiler="gcc"):
    """The program that `source` compiles to; None if it does not compile."""
    target = os.path.join(build, os.path.splitext(os.path.basename(source))[0])
    if os.path.exists(target) and os.path.getmtime(target) >= os.path.getmtime(source):
        return target
    done = subprocess.run([compiler, "-w", "-g", "-pthread", "-o", target, source, *flags], capture_output=True, check=False)
    return target if done.returncode == 0 else None


# --- rr: src/test/*.c, each a program that prints EXIT-SUCCESS.


def rr(source, build):
    flags = [f"-I{source}/include", f"-I{source}/src/test", f"-I{source}/src", "-O0", "-msse2", "-D__MMX__", "-D__SSE__",
             "-D__SSE2__", "-std=gnu11", "-Wl,--no-as-needed", "-ldl", "-lrt", "-lutil", "-lm"]
    for file in sorted(glob.glob(f"{source}/src/test/*.c") + glob.glob(f"{source}/src/test/x86/*.c")):
        name = os.path.splitext(os.path.basename(file))[0]
        program = compiled(file, build, flags)
        yield Program(name, shlex.quote(program) if program else None, build, None if program else "does not compile alone")


# --- valgrind: none/tests, by their .vgtest files; the tool itself is not built.


def valgrind(source, build):
    if not os.path.exists(f"{source}/config.h"):
        done = subprocess.run(["./configure"], cwd=source, capture_output=True, check=False)
        if done.returncode != 0:
            raise Skipped(f"valgrind's configure failed: {done.stderr.decode(errors='replace')[-300:]}")
    for directory in ("none/tests", "none/tests/linux", "none/tests/amd64", "none/tests/amd64-linux"):
        place = os.path.join(build, directory.replace("/", "-"))
        os.makedirs(place, exist_ok=True)
        flags = [f"-I{source}", f"-I{source}/include", f"-I{source}/coregrind", f"-I{source}/{directory}", "-DVGO_linux=1",
                 "-DVGA_amd64=1", "-DVGP_amd64_linux=1", "-mavx2", "-mfma", "-ldl", "-lrt", "-lutil", "-lm"]
        for file in sorted(glob.glob(f"{source}/{directory}/*.vgtest")):
            lines = dict(re.findall(r"^(\w+):\s*(.*)$", open(file, encoding="latin-1").read(), re.MULTILINE))
            name = f"{directory}/{os.path.basename(file)[:-7]}"
            stem = f"{source}/{directory}/{lines.get('prog', '').strip()}"
            found = next((s for s in (stem + ".c", stem + ".cpp", stem + ".S") if os.path.exists(s)), None)
            if not found:
                yield Program(name, left_out="has no program of one source")
                continue
            program = compiled(found, place, flags, "g++" if found.endswith(".cpp") else "gcc")
            if not program:
                yield Program(name, left_out="does not compile alone")
                continue
            stdin = f" <{shlex.quote(lines['stdin'])}" if "stdin" in lines else ""
            yield Program(name, f"{shlex.quote(program)} {lines.get('args', '')}{stdin}", f"{source}/{directory}")


# --- stress-ng: every stressor that needs no privilege, a few rounds of each, verified by itself.


def stress_ng(source, build):
    program = f"{source}/stress-ng"
    if not os.path.exists(program):
        done = subprocess.run(["make", "-j2"], cwd=source, capture_output=True, check=False)
        if done.returncode != 0:
            raise Skipped(f"stress-ng does not build: {done.stderr.decode(errors='replace')[-300:]}")
    stressors = subprocess.run([program, "--stressors"], capture_output=True, text=True, check=True).stdout.split()
    for name in stressors:
        yield Program(name, f"{program} --{name} 1 --{name}-ops 10 --timeout 10 --verify --quiet --no-rand-seed", build)


# --- perf: the workloads of `perf test -w`, since Linux 6.2, each compiled with a main() of its own.


def perf(source, build):
    files = sorted(glob.glob(f"{source}/tools/perf/tests/workloads/*.c"))
    if not files:
        raise Skipped("this version of the kernel's source has no tools/perf/tests/workloads (they came with Linux 6.2)")
    with open(f"{build}/workload.h", "w", encoding="utf-8") as header:
        header.write("#define DEFINE_WORKLOAD(name) int main(int argc, const char** argv) { return name(argc - 1, argv + 1); }\n"
                     "#define zfree(p) free(*(p))\n")
    os.makedirs(f"{build}/tests", exist_ok=True)
    for header in ("tests.h", "../tests.h"):
        with open(f"{build}/tests/{os.path.basename(header)}", "w", encoding="utf-8") as file:
            file.write('#include "../workload.h"\n')
    flags = [f"-I{build}/tests", f"-I{build}", f"-I{source}/tools/include", "-O0", "-D__maybe_unused=__attribute__((unused))", "-lm"]
    for file in files:
        name = os.path.splitext(os.path.basename(file))[0]
        copy = f"{build}/tests/{name}.c"
        text = re.sub(r'#include "\.\./tests\.h"', '#include "tests.h"', open(file, encoding="utf-8").read())
        with open(copy, "w", encoding="utf-8") as out:
            out.write(text)
        program = compiled(copy, build, flags)
        yield Program(name, f"{program} 1" if program else None, build, None if program else "does not compile alone")


suites = {"rr": rr, "valgrind": valgrind, "stress-ng": stress_ng, "perf": perf}


# --- Comparing


def execute(words, directory):
    """(exit status, standard output, standard error); the status is "time out" if it took too long."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        running = subprocess.Popen(words, cwd=directory, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True)
        try:
            status = running.wait(TIME_LIMIT)
            status = 128 - status if status < 0 else status  # as a shell has it, and tally
        except subprocess.TimeoutExpired:
            status = "time out"
        try:
            os.killpg(running.pid, signal.SIGKILL)  # whatever it left
        except ProcessLookupError:
            pass
        running.wait()
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read(4 << 20))
        return status, *texts


# Process IDs, addresses and times differ from run to run.
VARYING = re.compile(rb"0x[0-9a-fA-F]+|\b\d{3,}\b|\b\d+\.\d+\b")


def plain(result):
    return (result[0], *(VARYING.sub(b"#", text) for text in result[1:]))


def under_engine(tally, program):
    """Its results under the engine, and the reason why its counts are partial, if they are."""
    with tempfile.TemporaryDirectory() as place:
        report = os.path.join(place, "report.json")
        words = [tally, "stat", "-q", "--format", "json", "-o", report, "-e", "instructions", "--", "/bin/sh", "-c", "exec " + program.command]
        result = execute(words, program.directory)
        reason = ""
        if os.path.exists(report):
            with open(report, encoding="utf-8") as file:
                try:
                    event = json.load(file)["events"][0]
                    reason = "" if event["trust"] == "exact" else event["reason"] or event["trust"]
                except (ValueError, KeyError, IndexError):
                    reason = "no result"
        return result, reason


def verdict(tally, program):
    if program.left_out:
        return "left out", program.left_out
    words = ["/bin/sh", "-c", "exec " + program.command]
    native = [plain(execute(words, program.directory)) for _ in range(2)]
    if native[0] != native[1]:
        return "left out", "differs from run to run natively"
    if native[0][0] == "time out":
        return "left out", "takes too long natively"
    result, reason = under_engine(tally, program)
    for _ in range(2):  # a race that both may lose: it must be equal once
        if plain(result) == native[0]:
            break
        result, reason = under_engine(tally, program)
    if plain(result) == native[0]:
        return ("partial", reason) if reason else ("same", "")
    how = f"exit status {result[0]} for {native[0][0]}" if result[0] != native[0][0] else "other output"
    return "differs", how + (f"; partial: {reason}" if reason else "")


def expected(suite):
    """The programs that are known to differ, with the reason."""
    reasons = {}
    path = os.path.join(HERE, f"{suite}.expected")
    if os.path.exists(path):
        for line in open(path, encoding="utf-8"):
            if line.strip() and not line.startswith("#"):
                name, reason = line.split(None, 1)
                reasons[name] = reason.strip()
    return reasons


def main():
    suite, source, build, tally, *chosen = sys.argv[1:]
    os.makedirs(build, exist_ok=True)
    known = expected(suite)
    counts, new, same_now = {}, [], []
    for program in suites[suite](os.path.abspath(source), os.path.abspath(build)):
        if chosen and program.name not in chosen:
            continue
        word, reason = verdict(os.path.abspath(tally), program)
        if word == "differs" and program.name in known:
            word, reason = "expected", f"{reason}: {known[program.name]}"
        elif word == "differs":
            new.append(program.name)
        elif program.name in known and word in ("same", "partial"):
            same_now.append(program.name)
        counts[word] = counts.get(word, 0) + 1
        print(f"{word:9} {program.name}{': ' + reason if reason else ''}", flush=True)
    print(f"\n{suite}: " + ", ".join(f"{n} {word}" for word, n in sorted(counts.items())))
    if same_now:
        print(f"no longer different, take them out of {suite}.expected: {' '.join(same_now)}")
    if new:
        print(f"new differences: {' '.join(new)}")
    return 1 if new else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Skipped as reason:
        print(f"SKIPPED: {sys.argv[1]}: {reason}")
        sys.exit(77)
