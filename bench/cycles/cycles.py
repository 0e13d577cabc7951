#!/usr/bin/env python3
"""Measures the error of modelled cycles on this machine: basic blocks and whole programs, natively and by the models.

usage: cycles.py --build DIRECTORY [--models NAME,…] [--blocks N] [--seed N] [--runs N] [--part known|blocks|programs]
                 [--json FILE]

blocks.cpp measures blocks natively. `tally profile` finds the hot blocks and predicts their cycles. The JSON has every
block and every program.
"""

import argparse
import collections
import datetime
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

# LLVM's names of the cores whose names in tally differ.
LLVM_CPUS = {"haswell": "haswell", "skylake": "skylake-avx512", "skylake-sp": "skylake-avx512",
             "icelake": "icelake-server", "icelake-sp": "icelake-server", "icelake-server": "icelake-server",
             "sapphire-rapids": "sapphirerapids", "sapphirerapids": "sapphirerapids",
             "granite-rapids": "sapphirerapids", "zen2": "znver2", "zen3": "znver3", "zen4": "znver4", "zen5": "znver5"}
LLVM_DEFAULT = ["haswell", "icelake-server", "sapphirerapids", "znver3", "znver4"]
LLVM_VERSIONS = ["19", "16"]

# Blocks of known cycles: bytes, and the values that processors have. The last column names what they are.
KNOWN = [("add", "4801c8", [1], "a chain of additions"),
         ("imul", "480fafc1", [3], "a chain of multiplications"),
         ("load", "488b2424", [4, 5], "a chain of loads from L1D"),
         ("fma", "c4e26db8cb", [4, 5], "a chain of vfmadd231ps"),
         ("mulsd", "f20f59ca", [3, 4, 5], "a chain of mulsd"),
         ("two", "4801c8480fafd1", [3], "imul and add, independent")]

# Instructions that a copied block cannot contain: they leave it, depend on the system, or run as long as data say.
REFUSED = re.compile(r"^(j|call|ret|loop|sys|int|iret|hlt|ud[0-9]|cpuid|rdtsc|rdrand|rdseed|xgetbv|xsave|xrstor|rdfsbase"
                     r"|wrfsbase|rep|lock rep|notrack|bnd|f?n?stcw|fldcw|ldmxcsr|stmxcsr|fxsave|fxrstor|enter|leave"
                     r"|\(bad\)|mfence|lfence|sfence|pause|wr[pf]|std|out|in |xbegin|xend|xtest|endbr)|%[fg]s:")
LEAVES = re.compile(r"^(notrack |bnd |rep |repz |repnz )*(j|call|ret|loop|syscall|hlt|ud[0-9]|int)")
INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\t([0-9a-f ]+?)\s*(?:\t(.*))?$")

Instruction = collections.namedtuple("Instruction", "address bytes text")
Block = collections.namedtuple("Block", "id program instructions weight fixups")


def fail(message):
    sys.exit(f"bench cycles: {message}")


def output_of(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        fail(f"{' '.join(command)[:200]} failed ({done.returncode}): {done.stderr[-500:].strip()}")
    return done.stdout


# Programs


def write_inputs(directory):
    """The same inputs on every machine."""
    dice = random.Random(7)
    words = ["".join(dice.choices("etaoinshrdlucmfw", k=dice.randint(2, 9))) for _ in range(4000)]
    lines = [" ".join(words[int(dice.paretovariate(0.8)) % 4000] for _ in range(9)) for _ in range(60000)]
    text = "\n".join(lines) + "\n"
    records = [{"id": i, "name": words[i % 4000], "values": [dice.randint(0, 9999) for _ in range(5)]}
               for i in range(12000)]
    functions = []
    for i in range(260):
        body = "".join(f"  case {k}: a += b * {dice.randint(2, 99)} ^ (c >> {dice.randint(1, 9)}); "
                       f"if (a > {dice.randint(9, 9999)}) c -= t[{k}]; break;\n" for k in range(9))
        functions.append(f"int f{i}(int a, int b, int c, int *t) {{\n for (int i = 0; i < b; i++) switch (t[i] % 9) {{\n"
                         f"{body} }}\n return a + {f'f{i - 1}(b, c, a, t)' if i else 'c'};\n}}\n")
    files = {"text": text[:3_000_000], "short": text[:1_000_000], "json": json.dumps(records),
             "c.c": "".join(functions),
             "py": "s = 0\nfor i in range(1500000):\n    s += i * 3 % 7\nprint(s)\n",
             "pl": "my (%h, $s); for my $i (1 .. 600000) { $h{$i % 5000} .= 'x'; $s += length $h{$i % 77} } print $s;\n",
             "sql": "create table t (a integer, b text);\nwith recursive n(i) as (select 1 union all select i + 1 from n "
                    "where i < 150000) insert into t select i * 7919 % 10007, 'v' || i from n;\ncreate index x on t (a);"
                    "\nselect count(*), sum(length(b)) from t where a % 3 = 1;\nselect a, count(*) from t group by a "
                    "order by 2 limit 3;\n"}
    for name, content in files.items():
        with open(os.path.join(directory, name), "w") as file:
            file.write(content)


def programs(directory, build):
    """(name, command, whether hot blocks are taken from it), with programs of Debian by their full paths."""
    def at(name): return os.path.join(directory, name)
    rows = [("bzip2", ["bzip2", "-c", at("short")], True),
            ("gzip", ["gzip", "-c", at("text")], True),
            ("xz -1", ["xz", "-1", "-T1", "-c", at("text")], True),
            ("python3", ["python3", at("py")], True),
            ("perl", ["perl", at("pl")], True),
            ("sqlite3", ["sqlite3", ":memory:", ".read " + at("sql")], True),
            ("gcc -O2", ["gcc", "-O2", "-S", "-o", "/dev/null", at("c.c")], True),
            ("openssl", ["openssl", "dgst", "-sha512", at("text"), at("text"), at("text"), at("text"), at("text"),
                         at("text"), at("text"), at("text"), at("text"), at("text"), at("text")], True),
            ("sort", ["sort", "--parallel=1", at("text")], True),
            ("jq", ["jq", "-c", "[.[] | select(.id % 3 == 0) | {name, sum: (.values | add)}] | length", at("json")], True),
            ("awk", ["awk", "{ for (i = 1; i <= NF; i++) n[$i]++ } END { for (w in n) s += n[w] * length(w); print s }",
                     at("text")], True),
            ("grep", ["grep", "-cE", "(tea|son)[a-f]+.*(hot|nit)", at("text")], True),
            ("matmul, rows", [f"{build}/bench_kernels", "rows", "700"], False),
            ("matmul, columns", [f"{build}/bench_kernels", "columns", "450"], False),
            ("sort of numbers", [f"{build}/bench_kernels", "sort", "1500000"], False)]
    found = []
    for name, command, hot in rows:
        path = shutil.which(command[0], path="/usr/bin:/bin") if "/" not in command[0] else command[0]
        if path:
            found.append((name, [path, *command[1:]], hot))
        else:
            print(f"  skipped: {name} is not installed")
    return found


# Hot blocks


def executed_addresses(tally, command, scratch):
    """{object: {address: executions}} of a run."""
    path = os.path.join(scratch, "callgrind.out")
    subprocess.run([tally, "profile", "-q", "-e", "instructions", "--asm", "--format", "callgrind", "-o", path, "--",
                    *command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   env=dict(os.environ, LC_ALL="C"))
    counts, names, current, skip = {}, {}, None, False
    if not os.path.exists(path):
        return counts
    with open(path, errors="replace") as file:
        for line in file:
            if line.startswith("ob="):
                number, _, name = line[3:].strip().partition(" ")
                if name:
                    names[number] = name
                current = counts.setdefault(names.get(number, number), collections.Counter())
            elif line.startswith("calls="):
                skip = True
            elif line.startswith("0x") and current is not None:
                words = line.split()
                if not skip and len(words) > 2:
                    current[int(words[0], 16)] += int(words[2])
                skip = False
    os.remove(path)
    return counts


def disassemble(path, ranges):
    """The instructions of some address ranges of an ELF file."""
    found = []
    for low, high in ranges:
        text = subprocess.run(["objdump", "-d", "-w", "--insn-width=16", "-z", f"--start-address={low}",
                               f"--stop-address={high}", path], capture_output=True, text=True,
                              env=dict(os.environ, LC_ALL="C")).stdout
        for line in text.splitlines():
            match = INSTRUCTION.match(line)
            if match and match.group(3):
                found.append(Instruction(int(match.group(1), 16), bytes.fromhex(match.group(2)), match.group(3).strip()))
    return found


def ranges_of(addresses):
    """Address ranges that cover the addresses, with gaps of less than 64 bytes closed."""
    ranges = []
    for address in sorted(addresses):
        if ranges and address - ranges[-1][1] < 64:
            ranges[-1][1] = address + 16
        else:
            ranges.append([address, address + 16])
    return ranges


def fixups_of(instructions):
    """RIP-relative displacements as (offset, end) in the block's bytes; None if one cannot be located."""
    fixups, offset = [], 0
    for one in instructions:
        match = re.search(r"(-?)0x([0-9a-f]+)\(%rip\)", one.text)
        end = offset + len(one.bytes)
        if match:
            value = int(match.group(2), 16) * (-1 if match.group(1) else 1)
            field = (value & 0xffffffff).to_bytes(4, "little")
            if one.bytes.count(field) != 1:
                return None
            fixups.append((offset + one.bytes.index(field), end))
        offset = end
    return fixups


def hot_blocks(tally, rows, scratch):
    """The basic blocks that hold 90 % of the executed instructions of each program."""
    all_blocks, seen = [], set()
    for name, command, hot in rows:
        if not hot:
            continue
        blocks = []
        counts = executed_addresses(tally, command, scratch)
        total = sum(sum(of.values()) for of in counts.values())
        for path, of in counts.items():
            if not os.path.isfile(path) or sum(of.values()) < total / 100:
                continue
            limit = sorted(of.values(), reverse=True)[:1500][-1]  # the hottest addresses of the object
            code = disassemble(path, ranges_of(address for address, times in of.items() if times >= limit))
            run = []
            targets = {int(m.group(1), 16) for one in code for m in [re.match(r"\S*j\w+\s+([0-9a-f]+)", one.text)] if m}
            for one in code:
                executions = of.get(one.address, 0)
                follows = run and run[-1].address + len(run[-1].bytes) == one.address
                if run and (not follows or of[run[-1].address] != executions or one.address in targets):
                    blocks.append((of[run[0].address], run))
                    run = []
                if LEAVES.match(one.text):
                    if run:
                        blocks.append((of[run[0].address], run))
                    run = []
                elif executions:
                    run = run + [one]
            if run:
                blocks.append((of[run[0].address], run))
        blocks.sort(key=lambda block: -block[0] * len(block[1]))
        covered = 0
        for executions, run in blocks:
            covered += executions * (len(run) + 1)  # with its branch
            key = b"".join(one.bytes for one in run)
            if not (2 <= len(run) <= 100) or key in seen or any(REFUSED.search(one.text) for one in run):
                continue
            fixups = fixups_of(run)
            if fixups is None:
                continue
            seen.add(key)
            all_blocks.append(Block("", name, run, executions * len(run) / max(total, 1), fixups))
            if covered > 0.9 * total:
                break
    return all_blocks


def operands_of(text):
    """(mnemonic, operands) of an instruction in AT&T syntax."""
    words = text.split("#")[0].split("<")[0].strip().split(None, 1)
    return words[0], re.split(r",(?![^(]*\))", words[1]) if len(words) > 1 else []


def properties(block):
    """What a block has, for the rows of the table."""
    loads, stores, found = set(), set(), set()
    for one in block.instructions:
        mnemonic, operands = operands_of(one.text)
        if mnemonic in ("lock", "data16", "cs", "rex.W"):
            mnemonic, operands = operands_of((one.text.split(None, 1) + ["nop"])[1])
        if re.match(r"v?(div|sqrt|idiv)", mnemonic):
            found.add("division")
        if mnemonic.startswith(("push", "pop")) and not mnemonic.startswith("popcnt"):
            found.add("stack")
            (loads if mnemonic.startswith("pop") else stores).add("stack")
        if any(re.search("%[xyz]mm", operand) for operand in operands):
            found.add("SIMD")
        if re.match("lea|nop|prefetch", mnemonic):
            continue
        for position, operand in enumerate(operands):
            if "(" not in operand:
                continue
            written = position == len(operands) - 1 and not re.match(r"cmp[bwlq]?$|test|v?u?comis|bt", mnemonic)
            if written:
                stores.add(operand)
            if not written or not re.match(r"v?mov|set", mnemonic):
                loads.add(operand)
    if loads & stores:
        found.add("forwarding")
    found.add("loads" if loads else "")
    found.add("stores" if stores else "")
    return found - {""}


def write_blocks(path, blocks):
    with open(path, "w") as file:
        for block in blocks:
            code = b"".join(one.bytes for one in block.instructions).hex()
            file.write(" ".join([block.id, code, *(f"{a}:{b}" for a, b in block.fixups)]) + "\n")


# Cycles of blocks


def measured(harness, path):
    """{id: (cycles, spread)} of the blocks that can run: the mean of the two halves, and their relative difference."""
    result = {}
    for line in output_of([harness, "native", path]).splitlines():
        words = line.split()
        if words[1] != "failed":
            one, other = map(float, words[1:])
            result[words[0]] = ((one + other) / 2, abs(one - other) / max(one, 0.01))
    return result


def check_harness(harness, scratch):
    """Prints the blocks of known cycles; true if all are as known within 3 %."""
    path = os.path.join(scratch, "known")
    with open(path, "w") as file:
        file.writelines(f"{name} {code}\n" for name, code, _, _ in KNOWN)
    result = measured(harness, path)
    right = True
    print("\nBlocks of known cycles (they check the harness)\n")
    for name, _, known, title in KNOWN:
        cycles = result.get(name, (0, 0))[0]
        fine = any(abs(cycles / one - 1) < 0.03 for one in known)
        right = right and fine
        print(f"  {title:<34}{cycles:>8.3f}   {'' if fine else 'WRONG: '}known {' or '.join(map(str, known))}")
    return right


def predicted_by_tally(tally, model, harness, path, scratch):
    """{id: cycles} by a model: the difference of the functions ID.2 and ID.1 in profiles of the harness."""
    lines, result = open(path).readlines(), {}
    part, profile = os.path.join(scratch, "part"), os.path.join(scratch, "profile.json")
    for first in range(0, len(lines), 20):  # a profile does not place the cycles of much more generated code
        with open(part, "w") as file:
            file.writelines(lines[first:first + 20])
        text = output_of([tally, "profile", "-q", "-e", "cycles", "--model", model, "--format", "json", "-o", profile,
                          "--", harness, "run", part])
        with open(profile) as file:
            data = json.load(file)
        for thread in data["threads"]:
            if os.path.exists(path_of_map := f"/tmp/perf-{thread['pid']}.map"):
                os.remove(path_of_map)
        if data["events"][0]["not_placed"]:
            print(f"  {model}: a profile has cycles that belong to no block; its {first} to {first + 20} are left out")
            continue
        cycles = {function["name"]: function["counts"][0] for function in data["functions"]}
        for name, times in (line.split() for line in text.splitlines()):
            if name + ".1" in cycles and name + ".2" in cycles:
                result[name] = (cycles[name + ".2"] - cycles[name + ".1"]) / int(times)
    return result


def llvm_text(version, blocks):
    """{id: assembly} by llvm-mc, for llvm-mca."""
    mc = shutil.which(f"llvm-mc-{version}")
    if mc is None:
        return {block.id: "\n".join(one.text.split("#")[0].split("<")[0] for one in block.instructions)
                for block in blocks}
    lines = "".join("".join(f"[{','.join(f'0x{byte:02x}' for byte in one.bytes)}]\n" for one in block.instructions) +
                    "[0x0f,0x0b]\n" for block in blocks)  # ud2 ends each block
    done = subprocess.run([mc, "--disassemble", "-triple=x86_64", "-mattr=+avx512f"], input=lines, capture_output=True,
                          text=True)
    texts = [part.strip() for part in re.split(r"\n\s*ud2", "\n" + re.sub(r"\s*#.*", "", done.stdout))]
    return {block.id: text.replace(".text", "").strip() for block, text in zip(blocks, texts)}


def predicted_by_llvm(version, cpu, texts):
    """{id: cycles} by llvm-mca; {} if it does not know the CPU."""
    mca = shutil.which(f"llvm-mca-{version}")
    if mca is None:
        return {}
    source = "".join(f"# LLVM-MCA-BEGIN {name}\n{text}\n# LLVM-MCA-END\n" for name, text in texts.items())
    options = ["-skip-unsupported-instructions=any"] if int(version) >= 19 else []
    done = subprocess.run([mca, "-mtriple=x86_64", f"-mcpu={cpu}", "-iterations=100", "-json", *options], input=source,
                          capture_output=True, text=True)
    try:
        regions = json.loads(done.stdout)["CodeRegions"]
    except ValueError:
        return {}
    return {region["Name"]: region["SummaryView"]["TotalCycles"] / region["SummaryView"]["Iterations"]
            for region in regions if region.get("SummaryView")}


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


def block_tables(arguments, rows, scratch, report):
    tally, harness = arguments.tally, arguments.build + "/bench_blocks"
    candidates = hot_blocks(tally, rows, scratch)
    random.Random(arguments.seed).shuffle(candidates)
    blocks = [block._replace(id=f"b{number}") for number, block in enumerate(candidates[:arguments.blocks])]
    path = os.path.join(scratch, "blocks")
    write_blocks(path, blocks)
    native = measured(harness, path)
    used = [block for block in blocks if block.id in native and native[block.id][1] < 0.1 and native[block.id][0] > 0.05]
    print(f"\nBasic blocks: {len(candidates)} hot blocks of {len({b.program for b in candidates})} programs; "
          f"{len(blocks)} drawn (seed {arguments.seed}); {len(blocks) - len(native)} fault, "
          f"{len(native) - len(used)} vary by over 10 %; {len(used)} used\n")
    write_blocks(path, used)
    truth = {block.id: native[block.id][0] for block in used}
    kinds = {block.id: properties(block) for block in used}
    columns = {f"tally {model}": predicted_by_tally(tally, model, harness, path, scratch) for model in arguments.models}
    for version in LLVM_VERSIONS:
        texts = llvm_text(version, used)
        for cpu in dict.fromkeys([LLVM_CPUS.get(model) for model in arguments.models if model in LLVM_CPUS] + LLVM_DEFAULT):
            columns[f"mca-{version} {cpu}"] = predicted_by_llvm(version, cpu, texts)
    columns = {name: column for name, column in columns.items() if column}
    print("Against this machine: MAPE %, median error %, Kendall's tau\n")
    print_columns(columns, truth, kinds)
    for model in arguments.models:
        for version in LLVM_VERSIONS:
            other = columns.get(f"mca-{version} {LLVM_CPUS.get(model)}")
            if other and f"tally {model}" in columns:
                plain = {name: other[name] for name in other if name in kinds and not kinds[name] & {"stack", "forwarding"}}
                count, mean, median, tau, _ = errors(plain, columns[f"tally {model}"])
                print(f"\n  tally {model} against llvm-mca-{version} {LLVM_CPUS[model]}, without push, pop and forwarding "
                      f"({count} blocks): {mean:.0f} %, median {median:.0f} %, tau {tau:.2f}")
    report["blocks"] = [{"id": block.id, "program": block.program, "weight": block.weight,
                         "code": "; ".join(one.text for one in block.instructions), "kinds": sorted(kinds[block.id]),
                         "native": truth[block.id], **{name: column.get(block.id) for name, column in columns.items()}}
                        for block in used]
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


# Cycles of programs


class Frequency:
    """Samples the frequency of a CPU while it is open."""

    def __init__(self, harness, cpu):
        self.process = subprocess.Popen([harness, "frequency", str(cpu)], stdout=subprocess.PIPE, text=True)
        self.values = [float(self.process.stdout.readline())]
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.values.append(float(line))

    def close(self):
        self.process.kill()
        self.process.wait()
        return statistics.mean(self.values)


def native_cycles(harness, command, runs):
    """(user cycles, seconds, GHz): the least user + system time of some runs × the mean share of user time × GHz."""
    cpu = max(os.sched_getaffinity(0))
    times, users, frequencies = [], [], []
    for _ in range(runs):
        frequency = Frequency(harness, cpu)
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, preexec_fn=lambda: os.sched_setaffinity(0, {cpu}))
        usage = os.wait4(process.pid, 0)[2]
        process.returncode = 0
        frequencies.append(frequency.close())
        times.append(usage.ru_utime + usage.ru_stime)
        users.append(usage.ru_utime)
    best = min(range(runs), key=lambda run: times[run] * frequencies[run])
    share = sum(users) / sum(times)
    return times[best] * share * frequencies[best] * 1e9, times[best], frequencies[best]


def modelled(tally, model, command, scratch):
    path = os.path.join(scratch, "stat.json")
    subprocess.run([tally, "stat", "-q", "-e", "instructions,cycles", "--model", model, "--format", "json", "-o", path,
                    "--", *command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    events = {event["name"].split(":")[0]: event["value"] for event in json.load(open(path))["events"]}
    return events.get("instructions"), events.get("cycles")


def program_table(arguments, rows, scratch, report):
    harness = arguments.build + "/bench_blocks"
    models = arguments.models[:1]
    print(f"\nPrograms: user time × frequency, the least of {arguments.runs} runs; modelled / native\n")
    print(f"  {'':<18}{'M instr.':>9}{'M cycles':>9}{'IPC':>6}{'s':>7}{'GHz':>6}" + "".join(f"{m:>16}" for m in models))
    table = []
    for name, command, _ in rows:
        cycles, seconds, frequency = native_cycles(harness, command, arguments.runs)
        row = {"program": name, "native_cycles": cycles, "seconds": seconds, "ghz": frequency}
        for model in models:
            instructions, value = modelled(arguments.tally, model, command, scratch)
            row["instructions"], row[model] = instructions, value
        table.append(row)
        print(f"  {name:<18}{instructions / 1e6:>9.0f}{cycles / 1e6:>9.0f}{instructions / cycles:>6.2f}{seconds:>7.3f}"
              f"{frequency:>6.2f}" + "".join(f"{row[m] / cycles:>16.2f}" if row[m] else f"{'absent':>16}" for m in models),
              flush=True)
    report["programs"] = table
    for model in models:
        ratios = {row["program"]: row[model] / row["native_cycles"] for row in table if row[model]}
        mean = statistics.mean(abs(ratio - 1) for ratio in ratios.values())
        worst = max(ratios, key=lambda name: max(ratios[name], 1 / ratios[name]))
        print(f"\n  {model}: {len(ratios)} programs, mean error {100 * mean:.0f} %, worst {ratios[worst]:.2f} ({worst})")
    constant = statistics.median(row["native_cycles"] / row["instructions"] for row in table)
    mean = statistics.mean(abs(row["instructions"] * constant / row["native_cycles"] - 1) for row in table)
    print(f"  instructions × {constant:.2f}, for comparison: mean error {100 * mean:.0f} %")


def model_names(tally):
    """The machines that tally can simulate, host first."""
    text = " ".join(output_of([tally, "help", "models"]).split())
    names = re.search(r"simulate this machine: (.*?),? or a machine file", text)
    return [name.strip() for name in names.group(1).split(",")] if names else ["host"]


def machine():
    with open("/proc/cpuinfo") as file:
        fields = dict(line.split(":", 1) for line in file.read().split("\n\n")[0].splitlines() if ":" in line)
    fields = {key.strip(): value.strip() for key, value in fields.items()}
    return (f"{fields.get('model name')}, family {fields.get('cpu family')} model {fields.get('model')}"
            f"{', a virtual machine' if ' hypervisor' in fields.get('flags', '') else ''}, Linux {os.uname().release}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--models")
    parser.add_argument("--blocks", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--part", choices=["known", "blocks", "programs"])
    parser.add_argument("--json")
    arguments = parser.parse_args()
    arguments.build = os.path.abspath(arguments.build)
    arguments.tally = arguments.build + "/tally"
    arguments.models = arguments.models.split(",") if arguments.models else model_names(arguments.tally)
    begin = time.monotonic()
    report = {"schema": "tally-bench-cycles/1", "machine": machine(), "models": arguments.models, "seed": arguments.seed,
              "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
              "tally": output_of([arguments.tally, "--version"]).splitlines()[0], "load": os.getloadavg()[0]}
    print(f"{report['machine']}\n{report['date']}, {report['tally']}, load {report['load']:.1f}")
    with tempfile.TemporaryDirectory() as scratch:
        right = check_harness(arguments.build + "/bench_blocks", scratch)
        if arguments.part != "known":
            write_inputs(scratch)
            rows = programs(scratch, arguments.build)
            if arguments.part != "programs":
                block_tables(arguments, rows, scratch, report)
            if arguments.part != "blocks":
                program_table(arguments, rows, scratch, report)
    print(f"\n{time.monotonic() - begin:.0f} s")
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(report, file, indent=1)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
