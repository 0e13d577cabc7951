"""Basic blocks: the hot ones of programs, kernels of one cause, and their cycles natively, by tally and by llvm-mca."""

import collections
import json
import os
import re
import shutil
import subprocess
import sys

# Instructions that a copied block cannot contain: they leave it, depend on the system, or run as long as data say.
REFUSED = re.compile(r"^(j|call|ret|loop|sys|int|iret|hlt|ud[0-9]|cpuid|rdtsc|rdrand|rdseed|xgetbv|xsave|xrstor|rdfsbase"
                     r"|wrfsbase|rep|lock rep|notrack|bnd|f?n?stcw|fldcw|ldmxcsr|stmxcsr|fxsave|fxrstor|enter|leave"
                     r"|\(bad\)|\.byte|rex|mfence|lfence|sfence|pause|wr[pf]|std|out|in |xbegin|xend|xtest|endbr)|%[fg]s:")
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


def executed_addresses(tally, command, scratch):
    """{object: {address: executions}} of a run."""
    path = os.path.join(scratch, "callgrind.out")
    with open(os.path.join(scratch, "output"), "wb") as output:
        subprocess.run([tally, "profile", "-q", "-e", "instructions", "--asm", "--format", "callgrind", "-o", path, "--",
                        *command], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.DEVNULL)
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


# Kernels


def kernels(scratch):
    """Blocks of the file kernels.txt, and what processors are known to take for the first of them."""
    blocks, known = [], {}
    source, objects, code = (os.path.join(scratch, name) for name in ("kernel.s", "kernel.o", "kernel.bin"))
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "kernels.txt")) as file:
        rows = [line.split("|", 1) for line in file if not line.startswith("#")]
    for number, (name, text) in enumerate(rows):
        with open(source, "w") as file:
            file.write(".intel_syntax noprefix\n" + text.replace(";", "\n"))
        output_of(["as", "-o", objects, source])
        output_of(["objcopy", "-O", "binary", "-j", ".text", objects, code])
        with open(code, "rb") as file:
            instruction = Instruction(0, file.read(), text.strip())
        name, _, cycles = name.partition("=")
        blocks.append(Block(f"k{number}", name.strip(), [instruction], 0, []))
        if cycles:
            known[f"k{number}"] = [int(one) for one in cycles.split()]
    return blocks, known


# Their cycles


def measured(harness, blocks, scratch):
    """{id: (cycles, spread)} of the blocks that can run: the median of three runs, and its relative difference from the
    nearer one of the others. On a busy machine every twelfth block is wrong by over 10 % in a single run."""
    path, runs = os.path.join(scratch, "blocks"), collections.defaultdict(list)
    write_blocks(path, blocks)
    for _ in range(3):
        for line in output_of([harness, "native", path]).splitlines():
            words = line.split()
            if words[1] != "failed":
                runs[words[0]].append(sum(map(float, words[1:])) / 2)
    result = {}
    for name, (low, middle, high) in ((name, sorted(of)) for name, of in runs.items() if len(of) == 3):
        result[name] = (middle, min(middle - low, high - middle) / max(middle, 0.01))
    return result


def predicted_by_tally(tally, model, precision, harness, blocks, scratch):
    """{id: cycles} by a model: the difference of the functions ID.2 and ID.1 in profiles of the harness. Without waits
    for lines and pages, because blocks that walk over memory hit in L1 natively: few physical pages are mapped."""
    waits = ["cycles-L2", "cycles-L3", "cycles-DRAM", "cycles-TLB"]
    result = {}
    part, profile = os.path.join(scratch, "part"), os.path.join(scratch, "profile.json")
    for first in range(0, len(blocks), 20):  # a profile places 100,000 different instructions
        write_blocks(part, blocks[first:first + 20])
        text = output_of([tally, "profile", "-q", "-e", ",".join(["cycles", *waits]), "--model", model, "--precision",
                          precision, "--format", "json", "-o", profile, "--", harness, "run", part])
        with open(profile) as file:
            data = json.load(file)
        for thread in data["threads"]:
            if os.path.exists(path_of_map := f"/tmp/perf-{thread['pid']}.map"):
                os.remove(path_of_map)
        if data["events"][0]["not_placed"]:
            fail(f"the profile of blocks {first} to {first + 20} by {model} has cycles at no place")
        cycles = {function["name"]: function["counts"][0] - sum(function["counts"][1:len(waits) + 1])
                  for function in data["functions"]}
        for name, times in (line.split() for line in text.splitlines()):
            if name + ".1" in cycles and name + ".2" in cycles:
                result[name] = (cycles[name + ".2"] - cycles[name + ".1"]) / int(times)
    return result


def predicted_by_llvm(cpus, blocks):
    """{cpu: {id: cycles}} by llvm-mca-19, where it knows the CPU; {} if it is not installed."""
    mc, mca = shutil.which("llvm-mc-19"), shutil.which("llvm-mca-19")
    if mc is None or mca is None:
        return {}
    lines = "".join("".join(f"[{','.join(f'0x{byte:02x}' for byte in one.bytes)}]\n" for one in block.instructions) +
                    "[0x0f,0x0b]\n" for block in blocks)  # ud2 ends each block
    done = subprocess.run([mc, "--disassemble", "-triple=x86_64", "-mattr=+avx512f"], input=lines, capture_output=True,
                          text=True)
    texts = re.split(r"\n\s*ud2", re.sub(r"\s*#.*|\.text", "", done.stdout))
    source = "".join(f"# LLVM-MCA-BEGIN {block.id}\n{text}\n# LLVM-MCA-END\n" for block, text in zip(blocks, texts))
    result = {}
    for cpu in cpus:
        done = subprocess.run([mca, "-mtriple=x86_64", f"-mcpu={cpu}", "-iterations=100", "-json",
                               "-skip-unsupported-instructions=any"], input=source, capture_output=True, text=True)
        try:
            regions = json.loads(done.stdout)["CodeRegions"]
        except ValueError:
            continue
        result[cpu] = {region["Name"]: region["SummaryView"]["TotalCycles"] / region["SummaryView"]["Iterations"]
                       for region in regions if region.get("SummaryView")}
    return result
