#!/usr/bin/env python3
"""Measures the error of modelled cycles on this machine: basic blocks, kernels and whole programs, natively and modelled.

usage: cycles.py --build DIRECTORY [--models NAME,…] [--blocks N] [--seed N] [--runs N]
                 [--part blocks|kernels|programs] [--json FILE]

Blocks and kernels are measured natively by blocks.cpp, programs by `tally stat --native`. `tally profile` finds the hot
blocks. The JSON has every block, kernel and program.
"""

import argparse
import datetime
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time

import blocks as block_code
import programs as program_list
from blocks import fail, output_of

# LLVM's names of the cores.
LLVM_CPUS = {"haswell": "haswell", "skylake": "skylake-avx512", "icelake-server": "icelake-server",
             "sapphire-rapids": "sapphirerapids", "zen2": "znver2", "zen3": "znver3", "zen4": "znver4"}
LLVM_DEFAULT = ["haswell", "icelake-server", "sapphirerapids", "znver4"]


def kendall(pairs):
    """Kendall's tau-b."""
    pairs = sorted(pairs)
    agree = left = right = 0
    for i, (a, b) in enumerate(pairs):
        for c, d in pairs[i + 1:]:
            x, y = (c > a) - (c < a), (d > b) - (d < b)
            agree += x * y
            left += x != 0
            right += y != 0
    return agree / (left * right) ** 0.5 if left and right else float("nan")


def errors(truth, predicted):
    """(number of blocks, MAPE, median error, tau, median of predicted / true); None with fewer than three blocks."""
    common = [name for name in truth if name in predicted]
    if len(common) < 3:
        return None
    relative = [abs(predicted[name] / truth[name] - 1) for name in common]
    return (len(common), 100 * statistics.mean(relative), 100 * statistics.median(relative),
            kendall([(truth[name], predicted[name]) for name in common]),
            statistics.median(predicted[name] / truth[name] for name in common))


CATEGORIES = [("all", lambda p: True), ("without push, pop and forwarding", lambda p: not p & {"stack", "forwarding"}),
              ("integer, no memory", lambda p: not p & {"SIMD", "division", "loads", "stores"}),
              ("integer, loads", lambda p: not p & {"SIMD", "division", "stores"} and "loads" in p),
              ("integer, stores", lambda p: not p & {"SIMD", "division", "loads"} and "stores" in p),
              ("integer, both", lambda p: not p & {"SIMD", "division"} and {"loads", "stores"} <= p),
              ("SIMD", lambda p: "SIMD" in p and "division" not in p), ("division, root", lambda p: "division" in p)]


class Bench:
    """What all parts use: the programs that measure, the models, a directory for files, and the report."""

    def __init__(self, arguments, scratch, report):
        self.tally, self.harness = arguments.build + "/tally", arguments.build + "/bench_blocks"
        self.arguments, self.scratch, self.report = arguments, scratch, report
        self.models, self.core = arguments.models, report["core"]

    def native(self, blocks):
        return block_code.measured(self.harness, blocks, self.scratch)

    def predictions(self, blocks, cpus):
        """{name of a column: {id: cycles}}"""
        columns = {f"tally {model}": block_code.predicted_by_tally(self.tally, model, "fast", self.harness, blocks,
                                                                   self.scratch) for model in self.models}
        for cpu, column in block_code.predicted_by_llvm(cpus, blocks).items():
            columns[f"mca {cpu}"] = column
        return columns


# Kernels


def kernel_table(bench):
    """Prints the kernels. Returns whether those of known cycles took them within 3 %."""
    kernels, known = block_code.kernels(bench.scratch)
    native = bench.native(kernels)
    right = True
    print("\nKernels of known cycles (they check the measurement)\n")
    for kernel in kernels:
        if kernel.id in known:
            cycles = native.get(kernel.id, (0, 0))[0]
            fine = any(abs(cycles / one - 1) < 0.03 for one in known[kernel.id])
            right = right and fine
            print(f"  {kernel.program:<36}{cycles:>8.3f}   {'' if fine else 'WRONG: '}known "
                  f"{' or '.join(map(str, known[kernel.id]))}")
    if bench.arguments.part not in (None, "kernels"):
        return right
    weak = [kernel for kernel in kernels if kernel.id in native and kernel.id not in known]
    columns = bench.predictions(weak, [LLVM_CPUS.get(bench.core, "x86-64")])
    print(f"\nKernels of one cause: {len(weak)}; {len(kernels) - len(native)} fault here. Cycles; * more than 1.5 × off\n")
    print(f"  {'':<36}{'native':>8}" + "".join(f"{name:>18}" for name in columns))
    beyond = dict.fromkeys(columns, 0)
    for kernel in weak:
        cycles, cells = native[kernel.id][0], ""
        for name, column in columns.items():
            value = column.get(kernel.id)
            off = value is not None and not cycles / 1.5 <= max(value, 0.01) <= cycles * 1.5
            beyond[name] += off
            cells += f"{'–' if value is None else f'{value:.2f}':>17}{'*' if off else ' '}"
        print(f"  {kernel.program:<36}{cycles:>8.2f}{cells}".rstrip())
    print(f"  {'more than 1.5 × off':<44}" + "".join(f"{beyond[name]:>17} " for name in columns).rstrip())
    bench.report["kernels"] = [{"kernel": kernel.program, "native": native[kernel.id][0],
                                **{name: column.get(kernel.id) for name, column in columns.items()}} for kernel in weak]
    return right


# Blocks


def block_tables(bench, rows):
    arguments = bench.arguments
    candidates = block_code.hot_blocks(bench.tally, rows, bench.scratch)
    random.Random(arguments.seed).shuffle(candidates)
    drawn = [block._replace(id=f"b{number}") for number, block in enumerate(candidates[:arguments.blocks])]
    native = bench.native(drawn)
    used = [block for block in drawn if block.id in native and native[block.id][1] < 0.1 and native[block.id][0] > 0.05]
    print(f"\nBasic blocks: {len(candidates)} hot blocks of {len({b.program for b in candidates})} programs; "
          f"{len(drawn)} drawn (seed {arguments.seed}); {len(drawn) - len(native)} fault, "
          f"{len(native) - len(used)} vary by over 10 %; {len(used)} used\n")
    truth = {block.id: native[block.id][0] for block in used}
    kinds = {block.id: block_code.properties(block) for block in used}
    cpus = dict.fromkeys([LLVM_CPUS[model] for model in [bench.core, *bench.models] if model in LLVM_CPUS] + LLVM_DEFAULT)
    columns = bench.predictions(used, cpus)
    print("Against this machine: MAPE %, median error %, Kendall's tau\n")
    print_columns(columns, truth, kinds)
    for model in bench.models:
        cpu = LLVM_CPUS.get(bench.core if model == "host" else model)
        other = columns.get(f"mca {cpu}")
        if other:
            plain = {name: other[name] for name in other if not kinds[name] & {"stack", "forwarding"}}
            count, mean, median, tau, _ = errors(plain, columns[f"tally {model}"])
            print(f"\n  tally {model} against llvm-mca {cpu}, without push, pop and forwarding "
                  f"({count} blocks): {mean:.0f} %, median {median:.0f} %, tau {tau:.2f}")
    bench.report["blocks"] = [{"id": block.id, "program": block.program, "weight": block.weight,
                               "code": "; ".join(one.text for one in block.instructions),
                               "kinds": sorted(kinds[block.id]), "native": truth[block.id],
                               **{name: column.get(block.id) for name, column in columns.items()}} for block in used]
    worst_blocks(columns, truth, used)


def print_columns(columns, truth, kinds):
    width = max(len(name) for name in columns) + 2
    print(f"  {'':<34}{'n':>4}" + "".join(f"{name:>{width}}" for name in columns))
    for title, wanted in CATEGORIES:
        chosen = {name: value for name, value in truth.items() if wanted(kinds[name])}
        cells = []
        for column in columns.values():
            found = errors(chosen, column)
            cells.append(f"{found[1]:.0f} {found[2]:.0f} {found[3]:.2f}" if found else "–")
        print(f"  {title:<34}{len(chosen):>4}" + "".join(f"{cell:>{width}}" for cell in cells))
    print(f"  {'predicted / native, median':<38}" + "".join(
        f"{errors(truth, column)[4]:>{width}.2f}" if errors(truth, column) else "–" for column in columns.values()))


def worst_blocks(columns, truth, used):
    first = next(iter(columns))
    by_error = sorted((block for block in used if block.id in columns[first]),
                      key=lambda block: -abs(columns[first][block.id] / truth[block.id] - 1))
    print(f"\n  The largest errors of {first}: native, predicted\n")
    for block in by_error[:8]:
        code = "; ".join(" ".join(one.text.split("#")[0].split()) for one in block.instructions)
        print(f"  {truth[block.id]:>7.2f}{columns[first][block.id]:>8.2f}  {code[:100]}")


# Programs


def stat(bench, command, model, precision):
    """{event: (value, percent of error)} of a run."""
    path = os.path.join(bench.scratch, "stat.json")
    subprocess.run([bench.tally, "stat", "-q", "-e", "instructions,cycles", "--model", model, "--precision", precision,
                    "--native", "--format", "json", "-o", path, "--", *command], stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    with open(path) as file:
        events = {event["event"]: event for event in json.load(file)["events"]}
    cycles = events["core-cycles-estimate"]
    if cycles["value"] is None:
        fail(f"the cycles of {' '.join(command)[:60]} cannot be estimated: {cycles['reason']}")
    user, system = (events[name]["value"] for name in ("user_time", "system_time"))
    return {"instructions": events["instructions"]["value"], "cycles": events["cycles"]["value"],
            "estimate": cycles["value"] * user / (user + system), "error": cycles["error_percent"]}


def program_table(bench, rows):
    columns = [(model, precision) for model in bench.models for precision in ("fast", "full")]
    print("\nPrograms: the least estimate of cycles, its part in user mode; modelled / estimated\n")
    print(f"  {'':<18}{'M instr.':>9}{'M cycles':>9}{'±':>7}{'IPC':>6}" + "".join(f"{' '.join(c):>16}" for c in columns))
    table = []
    for name, command, _ in rows:
        found = [[stat(bench, command, *column) for column in columns] for _ in range(bench.arguments.runs)]
        best = min(sum(found, []), key=lambda one: one["estimate"])
        instructions, native = best["instructions"], best["estimate"]
        ratios = [one["cycles"] / native if one["cycles"] else None for one in found[0]]
        table.append({"program": name, "instructions": instructions, "native_cycles": native,
                      "error_percent": best["error"], "ratios": {" ".join(c): r for c, r in zip(columns, ratios)}})
        print(f"  {name:<18}{instructions / 1e6:>9.0f}{native / 1e6:>9.0f}{best['error']:>5.0f} %"
              f"{instructions / native:>6.2f}" + "".join(f"{r:>16.2f}" if r else f"{'absent':>16}" for r in ratios),
              flush=True)
    bench.report["programs"] = table
    print()
    for column in map(" ".join, columns):
        ratios = {row["program"]: row["ratios"][column] for row in table if row["ratios"][column]}
        mean = statistics.mean(abs(ratio - 1) for ratio in ratios.values())
        least, most = min(ratios, key=ratios.get), max(ratios, key=ratios.get)
        print(f"  {column}: {len(ratios)} programs, mean error {100 * mean:.0f} %, from {ratios[least]:.2f} ({least}) to "
              f"{ratios[most]:.2f} ({most})")
    constant = statistics.median(row["native_cycles"] / row["instructions"] for row in table)
    mean = statistics.mean(abs(row["instructions"] * constant / row["native_cycles"] - 1) for row in table)
    print(f"  instructions × {constant:.2f}, for comparison: mean error {100 * mean:.0f} %")


def machine():
    with open("/proc/cpuinfo") as file:
        fields = dict(line.split(":", 1) for line in file.read().split("\n\n")[0].splitlines() if ":" in line)
    fields = {key.strip(): value.strip() for key, value in fields.items()}
    return (f"{fields.get('model name')}, family {fields.get('cpu family')} model {fields.get('model')}"
            f"{', a virtual machine' if ' hypervisor' in fields.get('flags', '') else ''}")


def core_of_host(tally):
    """The core that tally takes for this machine."""
    done = subprocess.run([tally, "stat", "--model", "host", "-e", "cycles", "true"], capture_output=True, text=True)
    found = re.search(r"model host .*?: (\S+) core;", done.stderr)
    return found[1] if found else fail("`tally stat --model host` names no core:\n" + done.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--models", default="host", type=lambda text: text.split(","))
    parser.add_argument("--blocks", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--part", choices=["blocks", "kernels", "programs"])
    parser.add_argument("--json")
    arguments = parser.parse_args()
    arguments.build = os.path.abspath(arguments.build)
    os.environ.update(LC_ALL="C", PATH="/usr/bin:/bin")
    begin, tally = time.monotonic(), arguments.build + "/tally"
    report = {"schema": "tally-bench-cycles/1", "machine": machine(), "core": core_of_host(tally),
              "kernel": os.uname().release, "seed": arguments.seed,
              "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
              "tally": output_of([tally, "--version"]).splitlines()[0], "load": os.getloadavg()[0]}
    print(f"{report['machine']}, core {report['core']}\n{report['date']}, {report['tally']}, load {report['load']:.1f}")
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(arguments, scratch, report)
        right = kernel_table(bench)
        if arguments.part != "kernels":
            program_list.write_inputs(scratch)
            rows = program_list.programs(scratch, arguments.build)
            if arguments.part != "programs":
                block_tables(bench, rows)
            if arguments.part != "blocks":
                program_table(bench, rows)
    print(f"\n{time.monotonic() - begin:.0f} s")
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(report, file, indent=1)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
