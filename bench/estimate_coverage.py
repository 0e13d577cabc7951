#!/usr/bin/env python3
"""How often core-cycles-estimate has the known cycles of a loop in its interval.

  bench/estimate_coverage.py [--load N] [--runs N] [--cycles G,G,…] TALLY

Runs loops of known cycles under `tally stat --native`, with N busy processes next to them, and prints for each loop and
length: the ratio of estimate and known cycles (lowest, median, highest), the width of the interval, and how many runs
had the known cycles in it. Run it by hand: it takes some seconds for each run, and both processors.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

# Additions of registers take 1 cycle, and multiplications 3. A load from L1 takes 4 or 5, and ten independent additions
# 2 to 3.3, depending on the core: `calibrate` prints their time relative to a chain of additions.
LOOPS = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static void *place = &place;
static void add(uint64_t n) {
  asm volatile("1: .rept 100\n add %%rcx, %%rax\n .endr\n dec %0\n jnz 1b" : "+r"(n)::"rax", "cc");
}
static void imul(uint64_t n) {
  asm volatile("1: .rept 100\n imul %%rcx, %%rax\n .endr\n dec %0\n jnz 1b" : "+r"(n)::"rax", "cc");
}
static void load(uint64_t n) {
  void *p = place;
  asm volatile("1: .rept 100\n mov (%1), %1\n .endr\n dec %0\n jnz 1b" : "+r"(n), "+r"(p)::"cc");
}
static void ten(uint64_t n) {
  asm volatile(
      "1: .rept 100\n add %%r15, %%rax\n add %%r15, %%rcx\n add %%r15, %%rdx\n add %%r15, %%rbx\n add %%r15, %%rsi\n"
      "add %%r15, %%rdi\n add %%r15, %%r8\n add %%r15, %%r9\n add %%r15, %%r10\n add %%r15, %%r11\n .endr\n"
      "dec %0\n jnz 1b"
      : "+r"(n)::"rax", "rcx", "rdx", "rbx", "rsi", "rdi", "r8", "r9", "r10", "r11", "cc");
}
static const struct { const char *name; void (*run)(uint64_t); } loops[] = {
    {"add", add}, {"imul", imul}, {"load", load}, {"ten", ten}};
static double best(void (*run)(uint64_t)) {
  double least = 1e9;
  for (int i = 0; i < 20000; ++i) {
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    run(200);
    clock_gettime(CLOCK_MONOTONIC, &b);
    double ns = 1e9 * (b.tv_sec - a.tv_sec) + b.tv_nsec - a.tv_nsec;
    if (ns < least) least = ns;
  }
  return least;
}
int main(int argc, char **argv) {
  for (int i = 0; i < 4; ++i) {
    if (argc < 3)
      printf("%s %f\n", loops[i].name, best(loops[i].run) / best(add));
    else if (!strcmp(argv[1], loops[i].name))
      loops[i].run(strtoull(argv[2], 0, 10));
  }
}
"""


def estimate(tally, command):
    """The estimate and its interval, or why there is none."""
    words = [tally, "stat", "-q", "--native", "-e", "instructions", "--format", "json", "-o", "-", "--"]
    output = subprocess.run(words + command, stdout=subprocess.PIPE, check=True).stdout
    row = next(row for row in json.loads(output)["events"] if row["event"] == "core-cycles-estimate")
    if row["value"] is None:
        return row["reason"]
    error = row["value"] * row["error_percent"] / 100
    return row["value"], row["value"] - error, row["value"] + error


def judge(tally, program, loop, cycles_each, cycles, runs):
    ratios, widths, inside, absent = [], [], 0, []
    rounds = round(cycles / cycles_each / 100)
    known = rounds * cycles_each * 100
    for _ in range(runs):
        answer = estimate(tally, [program, loop, str(rounds)])
        if isinstance(answer, str):
            absent.append(answer)
            continue
        value, low, high = answer
        ratios.append(value / known)
        widths.append(100 * (high - low) / value)
        inside += low <= known <= high
    load = os.getloadavg()[0]
    text = f"load {load:4.1f}  {loop:4}  {cycles / 1e9:5.2f} G  inside {inside} of {len(ratios)}"
    if ratios:
        text += f"  estimate/known {min(ratios):.3f} {statistics.median(ratios):.3f} {max(ratios):.3f}"
        text += f"  width {statistics.median(widths):.1f} % (at most {max(widths):.1f} %)"
    if absent:
        text += f"  absent {len(absent)}: {absent[0]}"
    print(text, flush=True)
    return inside, len(ratios)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tally")
    parser.add_argument("--load", type=int, default=0)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--cycles", default="0.05,0.1,0.25,1,4")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "loops")
        subprocess.run(["cc", "-O1", "-x", "c", "-", "-o", program], input=LOOPS, text=True, check=True)
        times = subprocess.run([program], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
        each = {name: round(20 * float(time)) / 20 for name, time in zip(times[::2], times[1::2])}
        each["ten"] = round(2 * each["ten"]) / 2
        print("cycles each:", each)
        busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(arguments.load)]
        try:
            inside = total = 0
            for cycles in arguments.cycles.split(","):
                for loop, cycles_each in each.items():
                    good, all_runs = judge(arguments.tally, program, loop, cycles_each, 1e9 * float(cycles),
                                           arguments.runs)
                    inside, total = inside + good, total + all_runs
        finally:
            for process in busy:
                process.kill()
    print(f"inside {inside} of {total}")
    return 0 if total and inside >= 0.95 * total else 1


if __name__ == "__main__":
    sys.exit(main())
