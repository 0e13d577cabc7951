#!/usr/bin/env python3
"""Compares modelled cycles of memory accesses with native ones: walks, trees, searches, streams, matrices, gathers.

usage: accesses.py --build DIRECTORY [--model NAME] [PATTERN]

Builds nothing: `ninja bench_accesses` does. Each row has native cycles (the median of three), the modelled ones divided
by these (* beyond a factor of 1.5), the causes with most of them, and * for a main cause that is wrong. The first round
of each program is left out. PATTERN is a regular expression of names.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import tempfile

# Name, pattern and size, rounds, and the causes of which one must be the main one; any: several are right.
ROWS = [("walk, L2", "walk 512", 100, "L2"), ("walk ahead, L2", "walk-ahead 512", 100, "L2"),
        ("walk of two lines, L2", "walk-wide 512", 200, "L2"), ("walk, memory", "walk 65536", 1, "DRAM"),
        ("chase and stream, L2", "chase-and-stream 512", 60, "L2"), ("four chases, memory", "chase4 65536", 1, "DRAM"),
        ("hash table, 16 MiB", "hash-table 16384", 1, "L3 DRAM"), ("tree, 1 MiB", "tree 1024", 2, "mispredicts L2"),
        ("search, 256 KiB", "search 256", 3, "mispredicts"), ("search, 16 MiB", "search 16384", 1, "mispredicts L3"),
        ("every 4th line, L3", "stride-256 8192", 100, "L3"),
        ("every 4th line, memory", "stride-256 65536", 10, "DRAM"),
        ("sum, L1", "scalar1 16", 2000, "core"), ("sum, L2", "scalar1 512", 60, "core"),
        ("sum, L3", "scalar1 8192", 4, "core"), ("sum, memory", "scalar1 65536", 1, "core DRAM"),
        *[(f"{arrays} arrays, {level}", f"stream{arrays} {size}", rounds, cause)
          for arrays in (1, 2, 3, 4) for level, size, rounds, cause in
          (("L1", 8, 3000, "core retiring"), ("L2", 160, 2000, "L2"), ("L3", 4096, 20, "L3"),
           ("memory", 32768, 4, "DRAM"))],
        *[(f"matrices {kind}{order}, {size}", f"matmul-{kind}{order} {size}", rounds, "any")
          for order in ("ijk", "ikj", "jik", "jki", "kij", "kji") for kind in "df"
          for size, rounds in ((128, 10), (512, 1))],
        ("gather, 512 KiB", "gather 512", 4, "L2"), ("gather, 64 MiB", "gather 65536", 1, "DRAM"),
        ("gather by pointers, 64 MiB", "gather-pointers 65536", 1, "DRAM"),
        ("random, 64 MiB", "gather-computed 65536", 2, "DRAM"),
        ("random additions, 512 KiB", "scatter-add 512", 4, "L2"), ("transposition, 1000", "transpose 1000", 3, "any"),
        ("transposition, 1024", "transpose 1024", 2, "L3"), ("columns, 1000", "columns 1000", 5, "any")]


def modelled(tally, model, command, scratch):
    path = os.path.join(scratch, "stat.json")
    subprocess.run([tally, "stat", "-q", "-e", "cycles", "--by", "cause", "--model", model, "--format", "json", "-o",
                    path, "--", *command], stdout=subprocess.DEVNULL, check=True)
    with open(path) as file:
        return {event["event"]: event["value"] or 0 for event in json.load(file)["events"]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--model", default="host")
    parser.add_argument("pattern", nargs="?", default="")
    arguments = parser.parse_args()
    program = arguments.build + "/bench_accesses"
    print(f"{'':<28}{'M cycles':>10}{'model':>8}   main causes")
    with tempfile.TemporaryDirectory() as scratch:
        for name, pattern, rounds, wanted in ROWS:
            if not re.search(arguments.pattern, name):
                continue
            command = [program, *pattern.split()]
            native = statistics.median(
                float(subprocess.run([*command, str(rounds), "native"], stdout=subprocess.DEVNULL,
                                     stderr=subprocess.PIPE, check=True).stderr) for _ in range(3))
            first, all_rounds = (modelled(f"{arguments.build}/tally", arguments.model, [*command, str(n)], scratch)
                                 for n in (1, 1 + rounds))
            cycles = {event: all_rounds[event] - first[event] for event in first}
            ratio = cycles["cycles"] / native
            causes = sorted(((value / cycles["cycles"], event[len("cycles-"):]) for event, value in cycles.items()
                             if event.startswith("cycles-")), reverse=True)
            wrong = wanted != "any" and causes[0][1] not in wanted.split()
            print(f"{name:<28}{native / 1e6:>10.1f}{ratio:>8.2f}{' ' if 1 / 1.5 < ratio < 1.5 else '*'}  "
                  + ", ".join(f"{cause} {share:.0%}" for share, cause in causes[:3])
                  + (f" * {wanted.replace(' ', ' or ')}" if wrong else ""), flush=True)


if __name__ == "__main__":
    main()
