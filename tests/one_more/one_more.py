"""one_more.py SOURCE WORK: adds one more event, backend, metric and so on (`added`) to a copy of the tree, builds the
command and uses each. `added` is all that has to be written. WORK is kept, so that the next run compiles only what
changed.

one_more.py --table: the same as a table, for CONTRIBUTING.md ("One more of something").
one_more.py --check FILE: whether that table is in FILE.
"""
import json
import os
import shutil
import subprocess
import sys

source, work = sys.argv[1:] if len(sys.argv) == 3 else ("", "")
tree, build = os.path.join(work, "tree"), os.path.join(work, "build")

# For each kind: file, the line after which it is inserted (empty: a new file), and the lines.
added = {
    "event": [
        ("tally/hardware/event/generic_events.hpp", "  far_branches,", "  transfers,"),
        ("tally/hardware/event/generic_events.cpp", "     counted<channel::far>},",
         '    {Id::transfers, "transfers", hw, n, no, share(Id::instructions), "branches, by another word", branches},'),
    ],
    "software event": [
        ("tally/hardware/event/generic_events.hpp", "  cpu_clock,", "  thread_switches,"),
        ("tally/hardware/event/generic_events.cpp", '                "the same, by the processor\'s clock instead of the scheduler\'s account"}),',
         '    kernels(3, {Id::thread_switches, "thread-switches", sw, n, no, none, "context-switches, by another word"}),'),
    ],
    "backend": [
        ("tally/counting/backend/steady/CMakeLists.txt", "",
         "tally_directory(backend_steady SOURCES steady.cpp DEPENDS backend)\n"),
        ("tally/counting/backend/steady/steady.cpp", "", """#include "tally/counting/backend/native.hpp"
#include "tally/counting/backend/candidate.hpp"

namespace tally::backend::steady {
namespace {

class Steady final : public Backend {
 public:
  Traits traits() const override { return {.name = "steady"}; }
  std::optional<Error> refuses(const Order& order) const override { return refuses_all_but_counts(order); }
  Result<Outcome> run(const Order& order) override {
    CommandRun native(order);
    if (const auto started = native.start(); !started) return fail(started.error());
    if (const auto executed = native.executed(); !executed) return fail(executed.error());
    native.wait();
    Outcome counts = native.outcome(native.statistics());
    for (const event::Event& event : order.events) counts.counts.push_back(event_count(event, steady()));
    return counts;
  }
  Outlook outlook(const event::Event& /*event*/) const override { return outlook_of(steady()); }

 private:
  static Count steady() { return exact(4242, CountSource::pmu("steady")); }
};

}  // namespace

extern const Candidate by_name;
const Candidate by_name{"steady", Candidate::ChoiceRule::by_name,
                  [](const linux::HostMachine&, const std::optional<Simulation>&) -> std::unique_ptr<Backend> {
                    return std::make_unique<Steady>();
                  },
                  nullptr};

}  // namespace tally::backend::steady
"""),
        ("tally/counting/backend/choose/candidates.inc", "// The candidates in the order", "TALLY_CANDIDATE(steady, by_name)"),
    ],
    "condition that needs the engine": [
        ("tally/counting/backend/order.hpp", "  bool as_valgrind = false;", "  bool sealed = false;"),
        ("tally/counting/backend/engine_only.cpp", "constexpr EngineOnly table[] = {",
         '    {"--sealed", [](const Order& order, bool) { return order.conditions.sealed; }, "", "omit `--backend {0}`"},'),
        ("tally/cli/launch.cpp", '"also count descendants that outlive the program, until all have ended");',
         '  page.add_flag("--sealed", conditions.sealed, "engine only: invented");'),
    ],
    "metric": [
        ("tally/core/count/metric_table.cpp", "constexpr MetricDefinition table[] = {",
         '    {"transfer-rate", "transfers / instructions", share, nowhere, "instructions that are transfers"},'),
    ],
    "report format": [
        ("tally/output/text/names.cpp", "", """#include "tally/output/kinds/stat_format.hpp"

namespace tally::output {

Result<std::string> names(const result::Stat& stat, const Style&) {
  std::string text;
  for (const result::Event& event : stat.events) text += event.total.name.text() + "\\n";
  return text;
}

}  // namespace tally::output
"""),
        ("tally/output/kinds/stat_format.hpp", "Result<std::string> hpctool(const result::Stat& stat, const Style& style);",
         "Result<std::string> names(const result::Stat& stat, const Style& style);"),
        ("tally/output/registry/formats.cpp", "constexpr StatFormat stat_rows[] = {",
         '    {{Kind::stat, "names", ".names", "the events alone"}, names, nullptr, append_anything, nullptr, nullptr},'),
    ],
    "command": [
        ("tally/cli/greet_command.cpp", "", """#include "tally/cli/commands.hpp"
#include "tally/tools/command/command_page.hpp"

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
    ],
    "core": [
        ("tally/engine/models/core/simple_core.hpp", "", """#pragma once

#include "tally/engine/models/core/core_model.hpp"

namespace tally::models {
extern constinit const CoreTable simple_core;
}  // namespace tally::models
"""),
        ("tally/engine/models/core/simple_core.cpp", "", """#include "tally/engine/models/core/simple_core.hpp"

namespace tally::models {
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
}  // namespace tally::models
"""),
        ("tally/engine/models/CMakeLists.txt", "tally_directory(models SEPARATE SOURCES", " core/simple_core.cpp"),
        ("tally/engine/machines/shipped_models.cpp", '#include "tally/engine/models/core/haswell_core.hpp"',
         '#include "tally/engine/models/core/simple_core.hpp"'),
        ("tally/engine/machines/shipped_models.cpp", "const models::CoreTable* const cores[] = {", "&models::simple_core, "),
    ],
    "machine model": [
        ("tally/engine/machines/small.cpp", "", """#include "tally/engine/machines/shipped_models.hpp"

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
        ("tally/engine/machines/shipped_models.hpp", "extern const std::string_view haswell_text;",
         "extern const std::string_view small_text;"),
        ("tally/engine/machines/shipped_models.hpp", "inline const std::array shipped{", '    ShippedModel{"small", small_text},'),
    ],
}

# Arguments of tally, and what it must print.
uses = [
    (["stat", "-e", "transfers", "--backend", "engine", "--", "/bin/true"], "transfers"),
    (["stat", "--metrics", "transfer-rate", "--backend", "engine", "--", "/bin/true"], "transfer-rate"),
    (["stat", "-e", "transfers,loads", "--format", "names", "--backend", "engine", "--", "/bin/true"], "transfers:u\nloads:u\n"),
    (["stat", "--help"], "the events alone"),
    (["stat", "-e", "thread-switches", "--backend", "none", "--", "/bin/true"], "thread-switches"),
    (["stat", "-e", "instructions", "--backend", "steady", "--", "/bin/true"], "4,242"),
    (["stat", "-e", "page-faults", "--sealed", "--", "/bin/true"], " · engine"),
    (["greet"], "hello\n"),
    (["--help"], "greet"),
    (["stat", "-e", "cycles", "--model", "small", "--backend", "engine", "--", "/bin/true"], "simple core and small caches"),
]


def everything():
    return [one for of_kind in added.values() for one in of_kind]


def table():
    """For each kind: its new files, and the lines in others."""
    rows = ["| one more | new files | lines elsewhere |", "|---|---|---|"]
    for kind, of_kind in added.items():
        files = ", ".join(f"`{name}`" for name, anchor, _ in of_kind if not anchor)
        edited = [name for name, anchor, _ in of_kind if anchor]
        lines = ", ".join(f"{edited.count(name)} in `{name}`" for name in dict.fromkeys(edited))
        rows.append(f"| {kind} | {files or 'none'} | {lines or 'none'} |")
    return "\n".join(rows) + "\n"


def check(path):
    with open(path, encoding="utf-8") as file:
        if table() in file.read():
            return 0
    print(f"{path} has another table than `one_more.py --table` prints")
    return 1


def copy():
    """Copies the files that git lists, each only if it differs: the rest need not be compiled again."""
    names = subprocess.check_output(["git", "-C", source, "ls-files", "-z"], text=True).split("\0")
    texts = {}
    for name in names:
        path = os.path.join(source, name)
        if name and os.path.isfile(path) and not name.startswith(("tests/", "docs/", "bench/")):
            with open(path, "rb") as file:
                texts[name] = file.read()
    return texts


def add(texts):
    for name, anchor, lines in everything():
        if not anchor:
            if name in texts:
                sys.exit(f"{name} exists already: change its name in one_more.py")
            texts[name] = lines.encode()
            continue
        text = texts[name].decode()
        at = text.find(anchor)
        if at < 0:
            sys.exit(f"{name} no longer has '{anchor}': update one_more.py and CONTRIBUTING.md")
        # If an item ends with a bracket or a word, the next item continues its line; else it is a new line.
        end = at + len(anchor)
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
    files = {name for name, anchor, _ in everything() if anchor}
    print(json.dumps({"new files": sum(not anchor for _, anchor, _ in everything()), "files edited": len(files)}))
    sys.exit(1 if wrong else 0)


if sys.argv[1:] == ["--table"]:
    print(table(), end="")
elif sys.argv[1:2] == ["--check"]:
    sys.exit(check(sys.argv[2]))
else:
    main()
