"""one_more.py SOURCE WORK: adds one more event, metric, report format, command, machine model and core to a copy of the
tree, as CONTRIBUTING.md says ("One more of something"), builds the command and uses each.

What stands in `added` is all that has to be written. WORK is kept, so that the next run compiles only what changed.
"""
import json
import os
import shutil
import subprocess
import sys

source, work = sys.argv[1:]
tree, build = os.path.join(work, "tree"), os.path.join(work, "build")

# File, the line that it goes behind (empty: a new file), and the lines.
added = [
    # An event: its name and its row.
    ("tally/hardware/event/table.hpp", "  far_branches,", "  transfers,"),
    ("tally/hardware/event/table.cpp", "     counted<channel::far>},",
     '    {Id::transfers, "transfers", hw, n, no, share(Id::instructions), "branches, by another word", branches},'),
    # A metric: its row.
    ("tally/core/count/metric_table.cpp", "constexpr MetricDefinition table[] = {",
     '    {"transfer-rate", "transfers / instructions", share, nowhere, "instructions that are transfers"},'),
    # A format of reports: its file, its declaration and its row.
    ("tally/output/formats/names.cpp", "", """#include "tally/output/formats/stat_format.hpp"

namespace tally::report {

Result<std::string> names(const result::Stat& stat, const Style&) {
  std::string text;
  for (const result::Event& event : stat.events) text += event.total.name + "\\n";
  return text;
}

}  // namespace tally::report
"""),
    ("tally/output/formats/stat_format.hpp", "Result<std::string> hpctool(const result::Stat& stat, const Style& style);",
     "Result<std::string> names(const result::Stat& stat, const Style& style);"),
    ("tally/output/formats/formats.cpp", "constexpr StatFormat stat_rows[] = {",
     '    {{Kind::stat, "names", ".names", "the events alone"}, names, nullptr, append_anything, nullptr, nullptr},'),
    # A command: its file and its line.
    ("tally/cli/greet_command.cpp", "", """#include "tally/cli/command.hpp"
#include "tally/cli/page.hpp"

namespace tally::cli {

void describe_greet(Page& page) { page.head("Says hello.", "tally greet"); }

int run_greet(const std::vector<std::string>& arguments) {
  Page page;
  describe_greet(page);
  if (const auto code = page.read(arguments)) return *code;
  return print("hello\\n");
}

}  // namespace tally::cli
"""),
    ("tally/cli/commands.inc", "// Every command of `tally`", 'TALLY_COMMAND(greet, "says hello")'),
    # A core: its table and its line.
    ("tally/engine/models/core/simple_core.hpp", "", """#pragma once

#include "tally/engine/models/core/core.hpp"

namespace tally::sim {
extern constinit const CoreTable simple_core;
}  // namespace tally::sim
"""),
    ("tally/engine/models/core/simple_core.cpp", "", """#include "tally/engine/models/core/simple_core.hpp"

namespace tally::sim {
namespace {
constexpr auto one_cycle_each = [] {
  std::array<Timing, operations> timings{};
  for (unsigned i = 1; i < operations; i++) timings[i] = {Operation(i), 1, 1, Unit::none, 0, "invented"};
  return timings;
}();
}  // namespace

constinit const CoreTable simple_core = {.name = "simple",
                                         .width = 1,
                                         .window = 0,
                                         .load_latency = 1,
                                         .vector_load_latency = 1,
                                         .load_busy = ticks_per_cycle,
                                         .store_busy = ticks_per_cycle,
                                         .in_order = true,
                                         .timings = one_cycle_each};
}  // namespace tally::sim
"""),
    ("tally/engine/models/CMakeLists.txt", "tally_directory(sim SOURCES", " core/simple_core.cpp"),
    ("tally/engine/machines/models.cpp", '#include "tally/engine/models/core/haswell_core.hpp"',
     '#include "tally/engine/models/core/simple_core.hpp"'),
    ("tally/engine/machines/models.cpp", "const sim::CoreTable* const cores[] = {", "&sim::simple_core, "),
    # A machine model: its text and its line.
    ("tally/engine/machines/small.cpp", "", """#include "tally/engine/machines/models.hpp"

namespace tally::machine {

constinit const std::string_view small_text = R"(# A small machine.
model  small
source invented
l1i    size=8K   ways=2 line=64
l1d    size=8K   ways=2 line=64
l2     size=64K  ways=4 line=64
llc    size=512K ways=8 line=64
core   simple
)";

}  // namespace tally::machine
"""),
    ("tally/engine/machines/CMakeLists.txt", "tally_directory(machine SOURCES", " small.cpp"),
    ("tally/engine/machines/models.hpp", "extern const std::string_view haswell_text;",
     "extern const std::string_view small_text;"),
    ("tally/engine/machines/models.hpp", "inline const std::array shipped{", '    Shipped{"small", small_text},'),
]

# Arguments of tally, and what it must print.
uses = [
    (["stat", "-e", "transfers", "--backend", "engine", "--", "/bin/true"], "transfers"),
    (["stat", "--metrics", "transfer-rate", "--backend", "engine", "--", "/bin/true"], "transfer-rate"),
    (["stat", "-e", "transfers,loads", "--format", "names", "--backend", "engine", "--", "/bin/true"], "transfers:u\nloads:u\n"),
    (["stat", "--help"], "the events alone"),
    (["greet"], "hello\n"),
    (["--help"], "greet"),
    (["stat", "-e", "cycles", "--model", "small", "--backend", "engine", "--", "/bin/true"], "simple core and small caches"),
]


def copy():
    """The files that git knows, each only where it differs: the rest need not be compiled again."""
    names = subprocess.check_output(["git", "-C", source, "ls-files", "-z"], text=True).split("\0")
    texts = {}
    for name in names:
        path = os.path.join(source, name)
        if name and os.path.isfile(path) and not name.startswith(("tests/", "docs/", "bench/")):
            with open(path, "rb") as file:
                texts[name] = file.read()
    return texts


def add(texts):
    for name, behind, lines in added:
        if not behind:
            if name in texts:
                sys.exit(f"{name} is there already: give one_more.py another name for it")
            texts[name] = lines.encode()
            continue
        text = texts[name].decode()
        at = text.find(behind)
        if at < 0:
            sys.exit(f"{name} has no '{behind}' any more: one_more.py and CONTRIBUTING.md have to follow")
        # What ends with a bracket or a word goes on in its line; else the next line is the new one.
        end = at + len(behind)
        if lines.startswith("&") or lines.startswith(" ") and not lines.startswith("  "):
            text = text[:end] + lines + text[end:]
        else:
            end = text.index("\n", end)
            text = text[:end] + "\n" + lines + text[end:]
        texts[name] = text.encode()


def write(texts):
    for name, text in texts.items():
        path = os.path.join(tree, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.isfile(path):
            with open(path, "rb") as file:
                if file.read() == text:
                    continue
        with open(path, "wb") as file:
            file.write(text)
        shutil.copymode(os.path.join(source, name), path) if os.path.exists(os.path.join(source, name)) else None


def main():
    try:
        texts = copy()
    except (OSError, subprocess.CalledProcessError) as why:
        print(f"skipped: the list of files comes from git: {why}")
        sys.exit(77)
    add(texts)
    write(texts)
    options = ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0", "-DTALLY_TESTS=OFF"]
    if shutil.which("ccache"):
        options.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
    subprocess.check_call(["cmake", "-G", "Ninja", "-S", tree, "-B", build, *options], stdout=subprocess.DEVNULL)
    subprocess.check_call(["cmake", "--build", build, "--target", "tally"])
    wrong = 0
    for arguments, expected in uses:
        ran = subprocess.run([os.path.join(build, "tally"), *arguments], text=True, capture_output=True)
        if ran.returncode != 0 or expected not in ran.stdout + ran.stderr:
            wrong += 1
            print(f"tally {' '.join(arguments)}: exit code {ran.returncode}, without '{expected}':\n{ran.stdout}{ran.stderr}")
    files = {name for name, behind, _ in added if behind}
    print(json.dumps({"new files": sum(not behind for _, behind, _ in added), "files edited": len(files)}))
    sys.exit(1 if wrong else 0)


main()
