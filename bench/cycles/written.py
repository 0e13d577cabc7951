"""The tables of ./dev bench cycles, on a terminal and in the tree. A table is a list of rows; the first is its heading."""

import os
import re
import statistics

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
ERRORS = os.path.join(ROOT, "tally/counting/backend/measured_errors.inc")
PAGE = os.path.join(ROOT, "docs/reference/modelled-cycles.md")

CATEGORIES = [("all", lambda p: True), ("without push, pop and forwarding", lambda p: not p & {"stack", "forwarding"}),
              ("integer, no memory", lambda p: not p & {"SIMD", "division", "loads", "stores"}),
              ("integer, loads", lambda p: not p & {"SIMD", "division", "stores"} and "loads" in p),
              ("integer, stores", lambda p: not p & {"SIMD", "division", "loads"} and "stores" in p),
              ("integer, both", lambda p: not p & {"SIMD", "division"} and {"loads", "stores"} <= p),
              ("SIMD", lambda p: "SIMD" in p and "division" not in p), ("division, root", lambda p: "division" in p)]


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


def errors(blocks, name, truth=None):
    """(number of blocks, MAPE, median error, tau, median of predicted / true) of a column, against native cycles or
    another column; None with fewer than three blocks."""
    pairs = [(block["columns"].get(truth) if truth else block["native"], block["columns"].get(name)) for block in blocks]
    pairs = [(true, value) for true, value in pairs if true and value is not None]
    if len(pairs) < 3:
        return None
    relative = [abs(value / true - 1) for true, value in pairs]
    return (len(pairs), 100 * statistics.mean(relative), 100 * statistics.median(relative), kendall(pairs),
            statistics.median(value / true for true, value in pairs))


def is_off(value, native):
    return value is not None and not native / 1.5 <= max(value, 0.01) <= native * 1.5


def kernel_rows(report, every=True):
    """All kernels, or those that tally's model misses by more than a factor of 1.5."""
    kernels = report["kernels"]
    names = list(kernels[0]["columns"])
    rows = [["", "native", *names]]
    for kernel in kernels:
        if every or is_off(kernel["columns"][names[0]], kernel["native"]):
            rows.append([kernel["kernel"], f"{kernel['native']:.2f}", *(
                "–" if value is None else f"{value:.2f}{' *' if is_off(value, kernel['native']) else ''}"
                for value in kernel["columns"].values())])
    return rows + [["more than 1.5 × off", f"of {len(kernels)}", *(
        str(sum(is_off(kernel["columns"][name], kernel["native"]) for kernel in kernels)) for name in names)]]


def block_rows(report):
    names = list(report["blocks"][0]["columns"])
    rows = [["", "n", *names]]
    for title, wanted in CATEGORIES:
        chosen = [block for block in report["blocks"] if wanted(set(block["kinds"]))]
        found = [errors(chosen, name) for name in names]
        rows.append([title, str(len(chosen)), *(f"{e[1]:.0f} {e[2]:.0f} {e[3]:.2f}" if e else "–" for e in found)])
    ratios = [errors(report["blocks"], name) for name in names]
    return rows + [["predicted / native, median", "", *(f"{e[4]:.2f}" if e else "–" for e in ratios)]]


def program_ratios(report, column):
    return {row["program"]: row["columns"][column] / row["native"] for row in report["programs"] if row["columns"][column]}


def mean_error(ratios):
    return 100 * statistics.mean(abs(ratio - 1) for ratio in ratios.values())


def program_rows(report):
    programs = report["programs"]
    names = list(programs[0]["columns"])
    ratios = [program_ratios(report, name) for name in names]
    rows = [["", "M instr.", "M cycles", "±", "IPC", *names]]
    for row in programs:
        rows.append([row["program"], f"{row['instructions'] / 1e6:.0f}", f"{row['native'] / 1e6:.0f}",
                     f"{row['error_percent']:.0f} %", f"{row['instructions'] / row['native']:.2f}",
                     *(f"{of[row['program']]:.2f}" if row["program"] in of else "absent" for of in ratios)])
    return rows + [["mean error", "", "", "", "", *(f"{mean_error(of):.0f} %" for of in ratios)],
                   ["least to greatest", "", "", "", "", *(f"{min(of.values()):.2f} to {max(of.values()):.2f}"
                                                           for of in ratios)]]


def print_table(rows):
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print(("  " + row[0].ljust(widths[0]) + "".join("  " + cell.rjust(width) for cell, width in
                                                        zip(row[1:], widths[1:]))).rstrip())


def markdown(rows):
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], "|---|" + "--:|" * (len(rows[0]) - 1), *lines[1:]]) + "\n"


def section(report):
    """The text about a model in the page."""
    model, date = report["model"], report["date"][:10]
    return f"""## {model}

{report['machine']}, {date}, load {report['load']:.1f} on {os.cpu_count()} processors, {report['tally']}.

Programs: instructions and estimated cycles in user mode, and modelled cycles divided by these:

{markdown(program_rows(report))}
{len(report['blocks'])} basic blocks: mean error in percent, median error, Kendall's tau:

{markdown(block_rows(report))}
Kernels that the model misses by more than a factor of 1.5 (*), in cycles:

{markdown(kernel_rows(report, every=False))}"""


def replace_section(text, model, new):
    """The sections of models are in order, each from its heading to the next one."""
    parts = re.split(r"^(?=## )", text, flags=re.MULTILINE)
    others = [part.rstrip("\n") for part in parts[1:] if not part.startswith(f"## {model}\n")]
    return "\n\n".join([parts[0].rstrip("\n"), *sorted([*others, new.rstrip("\n")])]) + "\n"


def write(report):
    """Writes the errors of this model, and its section of the page."""
    model = report["model"]
    with open(ERRORS) as file:
        kept = [line for line in file if not line.startswith(f'{{"{model}",')]
    for precision in ("fast", "full"):
        ratios = program_ratios(report, f"host {precision}")
        kept.append(f'{{"{model}", Precision::{precision}, {len(ratios)}, {mean_error(ratios):.0f}, '
                    f'{min(ratios.values()):.2f}, {max(ratios.values()):.2f}, "{report["machine"]}", '
                    f'"{report["date"][:10]}"}},\n')
    with open(ERRORS, "w") as file:
        file.writelines(kept[:2] + sorted(kept[2:]))
    with open(PAGE) as file:
        page = file.read()
    with open(PAGE, "w") as file:
        file.write(replace_section(page, model, section(report)))
    print(f"{os.path.relpath(ERRORS)} and {os.path.relpath(PAGE)} have the errors of {model}")
