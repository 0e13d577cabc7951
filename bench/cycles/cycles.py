#!/usr/bin/env python3
"""Measures the error of modelled cycles on this machine: basic blocks, kernels and whole programs, natively and modelled.

usage: cycles.py --build DIRECTORY [--models NAME,…] [--blocks N] [--seed N] [--runs N]
                 [--part blocks|kernels|programs] [--json FILE] [--write]
       cycles.py --read FILE --write

Blocks and kernels are measured natively by blocks.cpp, programs by `tally stat --native`. `tally profile` finds the hot
blocks. The JSON has every block, kernel and program. --write replaces what the tree says of this machine's model, by
this measurement or by that of a JSON: the errors that every modelled count of cycles has, and the tables of
docs/reference/modelled-cycles.md.
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
import written
from blocks import fail, output_of

# LLVM's names of the cores and models.
LLVM_CPUS = {"haswell": "haswell", "skylake": "skylake-avx512", "icelake-server": "icelake-server",
             "icelake": "icelake-server", "sapphire-rapids": "sapphirerapids", "zen2": "znver2", "zen3": "znver3",
             "zen4": "znver4", "zen5": "znver4"}
LLVM_DEFAULT = ["haswell", "icelake-server", "sapphirerapids", "znver4"]


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

    def is_right(kernel):
        return any(abs(native.get(kernel.id, (0, 0))[0] / one - 1) < 0.03 for one in known[kernel.id])

    for _ in range(4):  # another program may have disturbed one of them
        wrong = [kernel for kernel in kernels if kernel.id in known and not is_right(kernel)]
        if not wrong:
            break
        native.update(bench.native(wrong))
    right = True
    print("\nKernels of known cycles (they check the measurement)\n")
    for kernel in kernels:
        if kernel.id in known:
            cycles = native.get(kernel.id, (0, 0))[0]
            fine = is_right(kernel)
            right = right and fine
            print(f"  {kernel.program:<36}{cycles:>8.3f}   {'' if fine else 'WRONG: '}known "
                  f"{' or '.join(map(str, known[kernel.id]))}")
    if bench.arguments.part not in (None, "kernels"):
        return right
    weak = [kernel for kernel in kernels if kernel.id in native and kernel.id not in known]
    columns = bench.predictions(weak, [LLVM_CPUS.get(bench.core, "x86-64")])
    bench.report["kernels"] = [{"kernel": kernel.program, "native": native[kernel.id][0],
                                "columns": {name: column.get(kernel.id) for name, column in columns.items()}}
                               for kernel in weak]
    print(f"\nKernels of one cause: {len(weak)}; {len(kernels) - len(native)} fault here. Cycles; * more than 1.5 × off\n")
    written.print_table(written.kernel_rows(bench.report))
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
    cpus = dict.fromkeys([LLVM_CPUS[model] for model in [bench.core, *bench.models] if model in LLVM_CPUS] + LLVM_DEFAULT)
    columns = bench.predictions(used, cpus)
    report = bench.report
    report["blocks"] = [{"program": block.program, "weight": block.weight,
                         "code": "; ".join(" ".join(one.text.split("#")[0].split()) for one in block.instructions),
                         "kinds": sorted(block_code.properties(block)), "native": native[block.id][0],
                         "columns": {name: column.get(block.id) for name, column in columns.items()}} for block in used]
    print("Against this machine: MAPE %, median error %, Kendall's tau\n")
    written.print_table(written.block_rows(report))
    for model in bench.models:
        cpu = LLVM_CPUS.get(bench.core if model == "host" else model)
        found = written.errors([block for block in report["blocks"] if not {"stack", "forwarding"} & set(block["kinds"])],
                               f"tally {model}", f"mca {cpu}")
        if found:
            print(f"\n  tally {model} against llvm-mca {cpu}, without push, pop and forwarding ({found[0]} blocks): "
                  f"{found[1]:.0f} %, median {found[2]:.0f} %, tau {found[3]:.2f}")
    worst_blocks(report["blocks"], f"tally {bench.models[0]}")


def worst_blocks(blocks, name):
    known = [block for block in blocks if block["columns"].get(name) is not None]
    print(f"\n  The largest errors of {name}: native, predicted\n")
    for block in sorted(known, key=lambda block: -abs(block["columns"][name] / block["native"] - 1))[:8]:
        print(f"  {block['native']:>7.2f}{block['columns'][name]:>8.2f}  {block['code'][:100]}")


# Programs


def stat(bench, command, model, precision):
    """Instructions, modelled cycles, estimated ones in user mode, and the percent of their error; None if the cycles
    cannot be estimated."""
    path = os.path.join(bench.scratch, "stat.json")
    with open(os.path.join(bench.scratch, "output"), "wb") as output:  # for /dev/null grep stops at the first match
        subprocess.run([bench.tally, "stat", "-q", "-e", "instructions,cycles", "--model", model, "--precision", precision,
                        "--native", "--format", "json", "-o", path, "--", *command], stdin=subprocess.DEVNULL,
                       stdout=output, stderr=subprocess.DEVNULL, check=True)
    with open(path) as file:
        events = {event["event"]: event for event in json.load(file)["events"]}
    cycles = events["core-cycles-estimate"]
    if cycles["value"] is None:
        print(f"  left out: {' '.join(command)[:40]}: {cycles['reason']}")
        return None
    user, system = (events[name]["value"] for name in ("user_time", "system_time"))
    return {"instructions": events["instructions"]["value"], "cycles": events["cycles"]["value"],
            "estimate": cycles["value"] * user / (user + system), "error": cycles["error_percent"]}


def program_table(bench, rows):
    columns = [(model, precision) for model in bench.models for precision in ("fast", "full")]
    bench.report["programs"] = table = []
    for name, command, _ in rows:
        print(f"  {name} …", file=sys.stderr, flush=True)
        found = [[stat(bench, command, *column) for column in columns] for _ in range(bench.arguments.runs)]
        if None in sum(found, []):
            continue
        best = min(sum(found, []), key=lambda one: one["estimate"])
        table.append({"program": name, "instructions": best["instructions"], "native": best["estimate"],
                      "error_percent": best["error"],
                      "columns": {" ".join(c): one["cycles"] for c, one in zip(columns, found[0])}})
    print("\nPrograms: the least estimate of cycles, its part in user mode; modelled / estimated\n")
    written.print_table(written.program_rows(bench.report))
    constant = statistics.median(row["native"] / row["instructions"] for row in table)
    mean = statistics.mean(abs(row["instructions"] * constant / row["native"] - 1) for row in table)
    print(f"\n  instructions × {constant:.2f}, for comparison: mean error {100 * mean:.0f} %")


def machine():
    with open("/proc/cpuinfo") as file:
        fields = dict(line.split(":", 1) for line in file.read().split("\n\n")[0].splitlines() if ":" in line)
    fields = {key.strip(): value.strip() for key, value in fields.items()}
    return (f"{fields.get('model name')}, family {fields.get('cpu family')} model {fields.get('model')}"
            f"{', a virtual machine' if ' hypervisor' in fields.get('flags', '') else ''}")


def model_of_host(tally):
    """(shipped model, core) that tally takes for this machine."""
    done = subprocess.run([tally, "stat", "--model", "host", "-e", "cycles", "true"], capture_output=True, text=True)
    found = re.search(r"model host \(.*like (\S+)\), .*?: (\S+) core;", done.stderr)
    return found.groups() if found else fail("`tally stat --model host` names no model:\n" + done.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build")
    parser.add_argument("--models", default="host", type=lambda text: text.split(","))
    parser.add_argument("--blocks", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--part", choices=["blocks", "kernels", "programs"])
    parser.add_argument("--json")
    parser.add_argument("--read")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    if arguments.write and (arguments.part or "host" not in arguments.models):
        parser.error("--write needs all parts of the model host")
    if arguments.read:
        with open(arguments.read) as file:
            report, right = json.load(file), True
    else:
        report, right = measure(arguments)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(report, file, indent=1)
    if arguments.write:
        if not right:
            fail("kernels of known cycles took others: nothing is written")
        written.write(report)
    return 0 if right else 1


def measure(arguments):
    """Measures and prints. Returns the report, and whether kernels of known cycles took these."""
    os.environ.update(LC_ALL="C", PATH="/usr/bin:/bin")
    arguments.build = os.path.abspath(arguments.build)
    begin, tally = time.monotonic(), arguments.build + "/tally"
    # Without the latencies that `tally memory` has stored: the errors are those of the shipped model.
    cache = tempfile.TemporaryDirectory()
    os.environ["TALLY_CACHE_DIR"] = cache.name
    model, core = model_of_host(tally)
    report = {"schema": "tally-bench-cycles/1", "machine": machine(), "model": model, "core": core,
              "kernel": os.uname().release, "seed": arguments.seed,
              "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
              "tally": output_of([tally, "--version"]).splitlines()[0], "load": os.getloadavg()[0]}
    print(f"{report['machine']}, like {model}\n{report['date']}, {report['tally']}, load {report['load']:.1f}")
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
    return report, right


if __name__ == "__main__":
    sys.exit(main())
