"""python3 cores.py: writes the files NAME_core.cpp of the cores below from LLVM's scheduling models and from
core_corrections.txt. Needed only to change them: the files are part of the tree. It runs llvm-mca-19 (Debian package
llvm-19) with one representative instruction of each kind.

A use of ports follows from llvm-mca's pressure: ports with an equal share are alternatives to each other."""
import json
import os
import re
import subprocess

here = os.path.dirname(os.path.abspath(__file__))

manual_intel = "Intel 64 and IA-32 Architectures Optimization Reference Manual"
fog_micro = "A. Fog, The microarchitecture of Intel, AMD and VIA CPUs"
# name: LLVM's processor, slots per cycle, reorder buffer, schedulers, latencies of loads, ports of loads, of vector loads, and of
# stores, fusion of a comparison with its branch, what it is, source.
cores = {
    "haswell": ("haswell", 4, 192, 60, 5, 6, "l0 l1", "l0 l1", "s0", False, "Haswell", manual_intel +
                ". Without fusion, as the loops of the RDPMC article behave on its machine"),
    "skylake": ("skylake-avx512", 4, 224, 97, 5, 6, "l0 l1", "l0 l1", "s0", True, "Skylake", manual_intel),
    "icelake-server": ("icelake-server", 5, 352, 160, 5, 7, "l0 l1", "l0 l1", "s0 s1", True, "Ice Lake", manual_intel),
    "sapphire-rapids": ("sapphirerapids", 6, 512, 205, 5, 7, "l0 l1 l2", "l0 l1 l2", "s0 s1", True,
                        "Golden Cove, also for Granite Rapids (Redwood Cove), which has no table of its own",
                        manual_intel),
    "zen2": ("znver2", 5, 224, 92, 4, 7, "l0 l1", "l0 l1", "s0", True, "Zen 2", fog_micro),
    "zen3": ("znver3", 6, 256, 96, 4, 7, "l0 l1 l2", "l0 l1", "s0 s1", True, "Zen 3", fog_micro),
    "zen4": ("znver4", 6, 320, 96, 4, 7, "l0 l1 l2", "l0 l1", "s0 s1", True, "Zen 4", fog_micro),
    # Four units for addresses, of which two load vectors and two store. Schedulers: more than the published 144, because
    # few operations wait in them: calls of strcmp for short strings had 2.3 times their native cycles with 144, 1.2 with
    # 224, 1.0 with 288; b2sum 0.81, 0.77, 0.75 (2026-11-30).
    "zen5": ("znver4", 8, 448, 224, 4, 5, "l0 l1 l2 l3", "l1 l2", "l2 l3", True, "Zen 5", "AMD, Software Optimization Guide "
             "for the AMD Zen5 Microarchitecture (58455), and measured on an EPYC with Zen 5 cores, 2026-11-29"),
}
# Other parameters, by their names in CoreTable.
#   forward, forward_blocked, renames: Zen 4 and Golden Cove (on Granite Rapids) measured with rows of a store, a load and
#     an addition, 2026-11-28 and 29 (Zen 4: 1 cycle for store and load, 8 for a store and an addition of what was stored);
#     Haswell, Skylake, Ice Lake: A. Fog.
#   mispredict: Golden Cove (on Granite Rapids, 2026-11-28), Zen 4 and Zen 5 (2026-11-29): measured, random branches against
#     constant ones; Zen 3: that of Zen 4, whose pipeline it has. The others are not checked: LLVM's MispredictPenalty (16,
#     14, 14, 17), a load and a comparison.
#   computes_constants: uops.info, Ice Lake, Golden Cove and Zen 3. shifts_keep_flags: there, eight shifts by CL of other
#     registers take 8 cycles on Ice Lake and Golden Cove, 4 on Zen 3 and 4, as their ports allow.
#   loop_queue: Intel's manual; a loop with a call and its return, three taken branches, takes 1.7 cycles on a Granite
#     Rapids (2026-11-28). Its stores into two lines in turn take 0.6 each: store and load 4 KiB apart, two pairs in 1.2.
#   loads_extend: Zen 5: measured, 2026-11-30; the others: LLVM's latencies of such loads.
#   fetch, indirect, access_bytes, store_merges: Zen 4: measured, 2026-11-29: a taken branch, a line, and each 8 operations
#     of a line take a cycle; a call and return of another library take 8 by a pointer and 9 by the PLT instead of 5; 2
#     stores into one line take 1, into two lines 2. Zen 2, 3: not checked. Golden Cove: Intel's manual, not checked;
#     indirect jumps of a Granite Rapids take 1.6 cycles. Others fetch from windows of 32 bytes, which is not modelled.
#   waiting: Zen 4: sums, products and polynomials of 4 to 256 elements, 2026-11-30 (it has 24 or 32 in each scheduler).
#   All of Zen 5: measured, 2026-11-29. A taken branch takes half a cycle, a call and its return 4 cycles, by a pointer 6.
parameters = {
    "haswell": dict(forward=5, loads_extend=2, forward_blocked=12, access_bytes=32, computes_constants=True, mispredict=22),
    "skylake": dict(forward=5, loads_extend=2, forward_blocked=13, computes_constants=True, mispredict=20),
    "icelake-server": dict(forward=5, loads_extend=2, forward_blocked=14, store_merges=True, shifts_keep_flags=False, computes_constants=True, mispredict=20),
    "sapphire-rapids": dict(forward=6, loads_extend=1, forward_blocked=17, renames="without_index",
                            shifts_keep_flags=False, computes_constants=True, fetch=8, loop_queue=144, mispredict=24),
    "zen2": dict(forward=7, loads_extend=2, forward_blocked=14, renames="moves", fetch=8, indirect=3, access_bytes=32, computes_constants=True, mispredict=22),
    "zen3": dict(forward=7, loads_extend=2, forward_blocked=16, renames="moves", fetch=8, indirect=3, access_bytes=32, store_merges=True,
                 shifts_keep_flags=False, computes_constants=True, mispredict=20),
    "zen4": dict(forward=7, loads_extend=2, forward_blocked=19, renames="moves", fetch=8, indirect=3, access_bytes=32, store_merges=True,
                 shifts_keep_flags=False, computes_constants=True, mispredict=20, waiting=28),
    "zen5": dict(index_latency=1, forward=7, vector_forward=9, forward_blocked=14, renames="all", renamed_stores=13,
                 loads_extend=1, reissues=True, adds_index_last=True, add_to_add=1, shifts_keep_flags=False, stack_sync=1, fuses_moves=True,
                 computes_constants=True, fetch=6, fetches=2, indirect=1, returns=4, store_bytes=32, store_joins=True, mispredict=22, wrong_target=6, waiting=40),
}

alus = ["alu0", "alu1", "alu2", "alu3", "alu4", "alu5"]  # of Zen 5; Zen 4 has four of them

# The fields of CoreTable in their order, with their defaults.
fields = dict(index_latency=0, forward=None, vector_forward=0, forward_blocked=None, renames="none", renamed_stores=9,
              loads_extend=0, shifts_keep_flags=True, reissues=False, adds_index_last=False, add_to_add=0, stack_sync=0,
              fuses_moves=False, computes_constants=False, fuses=False, fetch=0, fetches=1, loop_queue=0, indirect=0, returns=0, access_bytes=64, store_bytes=64, store_joins=False,
              store_merges=False, mispredict=None, wrong_target=0, waiting=0)

# A representative of each kind; none for those that only corrections describe.
instructions = {
    "nop": "nop", "zeroing": "xorl %eax, %eax", "move": "movq %rax, %rcx", "move_self": "movl %eax, %eax",
    "extend": "movzwl %ax, %ecx", "extend_byte": "movzbl %al, %ecx", "extend_sign": "movslq %eax, %rcx",
    "alu": "addq %rax, %rcx", "add_constant": "addq $8, %rcx", "carry": "adcq %rax, %rcx",
    "select": "cmoveq %rax, %rcx", "select_unsigned": "cmovbeq %rax, %rcx", "select_signed": "cmovlq %rax, %rcx", "set": "sete %al", "lea": "leaq (%rax,%rcx), %rdx",
    "lea_constant": "leaq 8(%rax), %rdx", "lea_scaled": "leaq (%rax,%rcx,4), %rdx", "lea_slow": "leaq 8(%rax,%rcx), %rdx",
    "lea_slow_scaled": "leaq 8(%rax,%rcx,4), %rdx", "lea_relative": "leaq 8(%rip), %rdx", "shift": "shlq $3, %rax", "shift_by_register": "shlq %cl, %rax",
    "rotate_carry": "rclq $1, %rax", "shift_double": "shldq $3, %rax, %rcx", "bit_test": "btq $3, %rax", "bit_set": "btsq $3, %rax",
    "bit_test_memory": "btl %ecx, (%rax)", "bit_deposit": "pdepq %rax, %rcx, %rdx",
    "bit_count": "popcntq %rax, %rcx", "bit_extract": "bextrq %rax, %rcx, %rdx", "byte_swap": "bswapl %eax",
    "byte_swap_wide": "bswapq %rax", "multiply": "imulq %rax, %rcx", "multiply_wide": "mulq %rcx",
    "divide": "divl %ecx", "divide_wide": "divq %rcx", "divide_wide_signed": "idivq %rcx",
    "exchange": "xchgq %rax, %rcx", "locked": "lock addq %rax, (%rcx)", "push": "", "pop": "", "jump": "jne 1f\n1:",
    "jump_always": "jmp 1f\n1:",
    "call": "", "ret": "", "leave": "", "vector_move": "vmovaps %ymm1, %ymm2",
    "vector_ones": "vpcmpeqd %ymm1, %ymm2, %ymm3", "vector_integer": "vpaddd %ymm1, %ymm2, %ymm3", "vector_logic": "vpand %ymm1, %ymm2, %ymm3",
    "vector_blend_variable": "vpblendvb %ymm1, %ymm2, %ymm3, %ymm4", "vector_shuffle": "vpunpckldq %ymm1, %ymm2, %ymm3",
    "vector_shuffle_bytes": "vpshufb %ymm1, %ymm2, %ymm3", "vector_insert_lane": "vinserti128 $1, %xmm1, %ymm2, %ymm3",
    "vector_shuffle_lanes": "vpermd %ymm1, %ymm2, %ymm3", "vector_horizontal": "vphaddd %ymm1, %ymm2, %ymm3",
    "vector_shift_by_register": "vpslld %xmm1, %ymm2, %ymm3", "vector_shift_variable": "vpsllvd %ymm1, %ymm2, %ymm3",
    "vector_multiply": "vpmullw %ymm1, %ymm2, %ymm3", "vector_multiply_32": "vpmulld %ymm1, %ymm2, %ymm3",
    "vector_compare_64": "vpcmpgtq %ymm1, %ymm2, %ymm3", "vector_sad": "vpsadbw %ymm1, %ymm2, %ymm3",
    "vector_mpsad": "vmpsadbw $0, %ymm1, %ymm2, %ymm3", "vector_test": "vptest %xmm1, %xmm2",
    "vector_mask": "vpmovmskb %ymm1, %eax", "vector_to_integer": "vmovq %xmm1, %rax",
    "vector_extract": "vpextrd $1, %xmm1, %eax", "vector_insert": "vpinsrd $1, %eax, %xmm1, %xmm2",
    "vector_string_explicit": "pcmpestri $0, %xmm1, %xmm2", "vector_string_implicit": "pcmpistri $0, %xmm1, %xmm2",
    "carryless_multiply": "pclmulqdq $0, %xmm1, %xmm2", "aes": "aesenc %xmm1, %xmm2", "aes_columns": "aesimc %xmm1, %xmm2",
    "aes_key": "aeskeygenassist $1, %xmm1, %xmm2", "vector_ternary": "vpternlogd $150, %ymm1, %ymm2, %ymm3",
    "vector_permute_bytes": "vpermi2d %ymm1, %ymm2, %ymm3", "vector_compress": "vpcompressd %ymm1, %ymm2 {%k1}",
    "vector_narrow": "vpmovdb %ymm1, %xmm2", "vector_compare_mask": "vpcmpub $1, %ymm1, %ymm2, %k1",
    "vector_count": "vplzcntd %ymm1, %ymm2", "vector_conflict": "vpconflictd %ymm1, %ymm2",
    "vector_zero_upper": "vzeroupper", "mask_logic": "kandq %k1, %k2, %k3", "mask_arithmetic": "kshiftrq $1, %k1, %k2",
    "mask_test": "kortestq %k1, %k2", "mask_move": "kmovq %k1, %k2", "mask_to_integer": "kmovq %k1, %rax",
    "gather": "", "scatter": "", "sha1_rounds": "sha1rnds4 $1, %xmm1, %xmm2",
    "sha256_rounds": "sha256rnds2 %xmm0, %xmm1, %xmm2", "sha_schedule": "sha256msg2 %xmm1, %xmm2", "string_move": "",
    "string_store": "", "string_compare": "", "string_step": "", "fence": "", "fence_full": "", "pause": "", "time_stamp": "", "random": "",
    "state_read": "", "state_write": "", "state_save": "", "serialize": "", "fp_add": "vaddpd %ymm1, %ymm2, %ymm3",
    "fp_multiply": "vmulpd %ymm1, %ymm2, %ymm3", "fp_fma": "vfmadd213pd %ymm1, %ymm2, %ymm3",
    "fp_convert": "vcvtdq2ps %ymm1, %ymm2", "fp_convert_width": "vcvtps2pd %xmm1, %xmm2",
    "fp_convert_general": "vcvttsd2si %xmm1, %rax",
    "fp_round": "vroundpd $0, %ymm1, %ymm2", "fp_approximate": "vrcpps %xmm1, %xmm2",
    "fp_divide_single": "vdivps %xmm1, %xmm2, %xmm3", "fp_divide_single_wide": "vdivps %ymm1, %ymm2, %ymm3",
    "fp_divide_double": "vdivpd %xmm1, %xmm2, %xmm3", "fp_divide_double_wide": "vdivpd %ymm1, %ymm2, %ymm3",
    "fp_root_single": "vsqrtps %xmm1, %xmm2", "fp_root_single_wide": "vsqrtps %ymm1, %ymm2",
    "fp_root_double": "vsqrtpd %xmm1, %xmm2", "fp_root_double_wide": "vsqrtpd %ymm1, %ymm2",
    "fp_horizontal": "vhaddps %ymm1, %ymm2, %ymm3", "fp_dot_single": "vdpps $1, %xmm1, %xmm2, %xmm3",
    "fp_dot_double": "vdppd $1, %xmm1, %xmm2, %xmm3", "x87_move": "fld %st(1)", "x87_add": "fadd %st(1), %st",
    "x87_multiply": "fmul %st(1), %st", "x87_divide": "fdiv %st(1), %st", "x87_root": "fsqrt", "x87_integer": "",
    "x87_constant": "", "x87_round": "frndint", "x87_function": "",
    "tile_move": "tilezero %tmm1", "tile_multiply": "tdpbssd %tmm1, %tmm2, %tmm3",
}


def port_of(resource):
    """The name of a port; None for those of memory accesses, which the model takes itself."""
    if "FPDiv" in resource:
        return "fdiv"
    if "Div" in resource:
        return "div"
    name = re.sub(r"^(HW|SKX|ICX|SPR|Zn\d)", "", resource)
    intel = re.fullmatch(r"Port0?(\d+)", name)
    if intel:
        return "p" + intel[1] if intel[1] in ("0", "1", "5", "6", "10") else None
    if re.match(r"AGU|LSU|Load|Store|FPSt|FP45|Multiplier|PortInvalid", name):
        return None
    return name.lower().replace("fpu", "fp")


def asked(cpu, code):
    """The row of LLVM: latency, operations, {resource: pressure}. None if the processor has no such instruction."""
    answer = subprocess.run(["llvm-mca-19", "-mtriple=x86_64", "-mcpu=" + cpu, "-instruction-tables", "-json"],
                            input=code + "\n", capture_output=True, text=True)
    if answer.returncode != 0 or not answer.stdout.startswith("{"):
        return None
    told = json.loads(answer.stdout)
    names = told["TargetInfo"]["Resources"]
    region = told["CodeRegions"][0]
    info = region["InstructionInfoView"]["InstructionList"][0]
    if info["Latency"] >= 100:  # LLVM's mark for microcode that it does not describe
        return None
    use = {}
    for entry in region["ResourcePressureView"]["ResourcePressureInfo"]:
        if entry["InstructionIndex"] == 0:
            use[names[entry["ResourceIndex"]]] = entry["ResourceUsage"]
    return info["Latency"], info["NumMicroOpcodes"], use


def uses_of(pressure):
    shares = {}
    for resource, share in pressure.items():
        port = port_of(resource)
        if port is not None and share > 0:
            shares.setdefault(round(share, 2), []).append(port)
    uses = [(sorted(ports), max(1, round(share * len(ports)))) for share, ports in shares.items()]
    # A divider keeps its port only for the start.
    uses = [(ports, 1) if any("div" in p for q, _ in uses for p in q) and ports[0] not in ("div", "fdiv") and
            len(uses) <= 3 else (ports, n) for ports, n in uses]
    return sorted(uses, key=lambda use: -use[1])[:3]


def corrections():
    """{(core, kind): (settings, source)}: later lines win."""
    rows, sources = {}, {}
    for line in open(os.path.join(here, "core_corrections.txt")):
        line = line.split("#")[0].strip()
        if not line:
            continue
        words = line.split()
        if words[0] == "source":
            sources[words[1]] = (words[2], " ".join(words[3:]))
            continue
        names, kinds, settings, source = words[0], words[1], words[2:-1], words[-1]
        assert source in sources, line
        for name in cores if names == "*" else names.split(","):
            for kind in kinds.split(","):
                assert name in cores and kind in instructions, line
                before = rows.get((name, kind), ({}, None))[0]
                known_for, text = sources[source]
                taken_over = known_for != "*" and name not in known_for.split(",")
                rows[name, kind] = ({**before, **dict(s.split("=") for s in settings)},
                                    f"not checked for this core: {text}" if taken_over else text)
    return rows


def uses_in(text):
    """"p0|p1:2+div:6": two cycles on either of two ports, and six of the divider; "-": none."""
    return [] if text == "-" else [(part.split(":")[0].split("|"), int((part.split(":") + ["1"])[1]))
                                   for part in text.split("+")]


def rows_of(name, corrected):
    """The rows of a core: kind, latency, slots, uses, source."""
    cpu, rows = cores[name][0], []
    for kind, code in instructions.items():
        found = asked(cpu, code) if code else None
        source = f"LLVM 19, llvm-mca -mcpu={cpu}" + (", with the units of Zen 5" if name == "zen5" else "")
        if code and found is None and name == "zen2":
            found = asked("znver3", code)
            source = "LLVM 19, llvm-mca -mcpu=znver3"
        settings, reason = corrected.get((name, kind), ({}, None))
        if found is None and "latency" not in settings:
            continue
        latency, slots, pressure = found or (0, 1, {})
        uses = uses_in(settings["uses"]) if "uses" in settings else uses_of(pressure)
        if name == "zen5" and "uses" not in settings:
            uses = [(alus, n) if ports == alus[:4] else (ports, n) for ports, n in uses]
        rows.append((kind, int(settings.get("latency", latency)), int(settings.get("slots", max(1, slots))), uses,
                     reason or source))
    return rows


def lines_of(rows, name, type_of_sources):
    """The definitions of the sources and of an array of rows."""
    sources = sorted(dict.fromkeys(row[4] for row in rows), key=lambda source: not source.startswith("LLVM"))
    labels = {source: f"source_{number}" if number or source[:4] != "LLVM" else "llvm"
              for number, source in enumerate(sources)}
    lines = [f'{type_of_sources} {label} = "{text}";' for text, label in labels.items()] + ["", f"{name}[] = {{"]
    for kind, latency, slots, uses, source in rows:
        listed = ", ".join(f"{{{' | '.join(ports)}, {n}}}" for ports, n in uses)
        lines.append(f"    {{{kind}, {latency}, {slots}, {{{listed}}}, {labels[source]}}},")
    return lines + ["};", ""]


def write_file(name, lines):
    path = os.path.join(here, name)
    with open(path, "w") as file:
        file.write("\n".join(lines))
    subprocess.run(["clang-format", "-i", path], check=True)


def write_common(rows):
    write_file("common_timings.hpp", [
        "// The rows that all cores out of order have in common. Written by cores.py.", "#pragma once", "",
        '#include "tally/engine/models/core/cores.hpp"', "", "namespace tally::models::common {", "",
        "using enum Operation;", *lines_of(rows, "inline constexpr Timing rows", "inline constexpr const char*"),
        "}  // namespace tally::models::common", ""])


def write(name, rows):
    _, width, rob, scheduler, load, vector_load, loads, vector_loads, stores, fuses, title, source = cores[name]
    memory_ports = sorted({*loads.split(), *vector_loads.split(), *stores.split()})
    ports = memory_ports + sorted({p for row in rows for use in row[3] for p in use[0]} - set(memory_ports))
    assert len(ports) <= 16, ports
    def mask(names): return " | ".join(names.split())
    symbol = name.replace("-", "_")
    out = [f"// The core {title}. Written by cores.py from LLVM's scheduling model and core_corrections.txt.",
           '#include "tally/engine/models/core/tables/common_timings.hpp"', "", "namespace tally::models {", "",
           "// Ports. l: loads, s: stores, div and fdiv: dividers.",
           *(f"constexpr Ports {port} = 1 << {i};" for i, port in enumerate(ports)), "", "using enum Operation;", "",
           *lines_of(rows, "constexpr Timing rows", "constexpr const char*"),
           f"// Width, reorder buffer and loads: {source}. Schedulers: published sizes, checked on Zen 4; Zen 5: measured.",
           f"constinit const CoreTable {symbol}_core = {{", f'    .name = "{name}",', f"    .width = {width},",
           f"    .rob = {rob},", f"    .scheduler = {scheduler},", f"    .load_latency = {load},",
           f"    .vector_load_latency = {vector_load},", f"    .loads = {mask(loads)},",
           f"    .vector_loads = {mask(vector_loads)},", f"    .stores = {mask(stores)},"]
    given = {**parameters[name], "fuses": fuses}
    given.setdefault("store_bytes", given.get("access_bytes", 64))
    for field in fields:
        value = given.get(field, fields[field])
        if value != fields[field]:
            out.append(f"    .{field} = {'Renames::' if field == 'renames' else ''}{str(value).lower()},")
    write_file(symbol + "_core.cpp", [*out, "    .timings = by_operation(rows, common::rows),", "};", "",
                                      "}  // namespace tally::models", ""])


if __name__ == "__main__":
    corrected = corrections()
    rows = {name: rows_of(name, corrected) for name in cores}
    common = [row for row in rows["haswell"] if all(row in of for of in rows.values())]
    write_common(common)
    for name, of in rows.items():
        write(name, [row for row in of if row not in common])
