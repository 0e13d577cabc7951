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
        ("tally/tools/launch/launch.cpp", '"also count descendants that outlive the program, until all have ended");',
         '  page.add_flag("--sealed", conditions.sealed, "engine only: invented");'),
    ],
    "field of the engine": [
        ("tally/engine/channel/event_fields.hpp", "  prefetches,  ///<", "  pauses,  ///< pause"),
        ("tally/engine/translate/decode.cpp", "return channel::prefetches;",
         "  if (i.mnemonic == ZYDIS_MNEMONIC_PAUSE) return channel::pauses;"),
        ("tally/hardware/event/generic_events.hpp", "  prefetches,", "  pauses,"),
        ("tally/hardware/event/generic_events.cpp", "     counted<channel::prefetches>},",
         '    {Id::pauses, "pauses", hw, n, no, each(Id::instructions), "PAUSE", counted<channel::pauses>},'),
    ],
    "dialect of marks": [
        ("tally/engine/instrument/marks/beacon_marks.cpp", "", """#include "tally/engine/instrument/part_probes.hpp"
#include "tally/engine/translate/program_marks.hpp"

namespace tally::engine::instrument {
namespace {

void handle_beacon(Thread* t) {
  const bool begins = t->gpr[rax] == 1;
  change_parts(t, begins ? PartAction::start : PartAction::stop, begins ? "lit" : nullptr, 1);
}

}  // namespace

/// xchg cx, cx
constinit const MarkDialect beacon_marks = {
    .code = {0x66, 0x87, 0xc9}, .bytes = 3, .first_bytes = 3, .instructions = 1, .reached = handle_beacon};

}  // namespace tally::engine::instrument
"""),
        ("tally/engine/channel/mark_dialects.inc", "TALLY_MARKS(sniper, 0x87)", "TALLY_MARKS(beacon, 0x87)"),
    ],
    "dialect of marks, illegal natively": [
        ("tally/engine/instrument/marks/flare_marks.cpp", "", """#include "tally/engine/instrument/marks/illegal_marks.hpp"
#include "tally/engine/instrument/part_probes.hpp"
#include "tally/engine/translate/exec_regions.hpp"

namespace tally::engine::instrument {
namespace {

u32 length_of_flare(u64 pc) {
  u8 bytes[2] = {};
  return read_code(pc, bytes, 2) == 2 && bytes[0] == 0x0f && bytes[1] == 0x0a ? 2 : 0;
}

void handle_flare(Thread* t) { change_parts(t, PartAction::dump, "seen", 1); }

}  // namespace

constinit const IllegalMarkDialect flare_marks = {length_of_flare, handle_flare};

}  // namespace tally::engine::instrument
"""),
        ("tally/engine/channel/mark_dialects.inc", "TALLY_ILLEGAL_MARKS(gem5,", 'TALLY_ILLEGAL_MARKS(flare, "its only one")'),
    ],
    "CPU model": [
        ("tally/engine/cpus/models/modest.inc", "", """{
    .name = "modest",
    .source = "invented",
    .vendor = Vendor::intel,
    .brand = "modest",
    .family = 15,
    .model = 4,
    .stepping = 3,
    .highest_leaf = 0xd,
    .highest_extended_leaf = 0x80000008,
    .threads = 1,
    .threads_per_core = 1,
    .features = level_1,
    .caches = {{1, data, 32, 8}, {1, code, 32, 8}, {2, both, 256, 8}, {3, both, 8192, 16}},
},
"""),
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
    "reader": [
        ("tally/output/result/stored_plain.hpp", "", """#pragma once

#include <string_view>

#include "tally/output/result/stat_result.hpp"

namespace tally::result {

bool is_plain(std::string_view text);
Stat read_plain(std::string_view text);

}  // namespace tally::result
"""),
        ("tally/output/result/stored_plain.cpp", "", """#include "tally/output/result/stored_plain.hpp"

#include <algorithm>

namespace tally::result {

bool is_plain(std::string_view text) { return text.starts_with("plain\\n"); }

Stat read_plain(std::string_view text) {
  const Count lines = exact(std::count(text.begin(), text.end(), '\\n'), CountSource::pmu("plain"));
  Stat stat;
  stat.runs.emplace_back();
  stat.events.push_back({{"lines", {"lines"}, Unit::events, lines}, {}});
  return stat;
}

}  // namespace tally::result
"""),
        ("tally/output/registry/readers.hpp", "AnyResults read_stat_json(const StoredFile& file);",
         "bool is_stat_plain(const StoredFile& file);\nAnyResults read_stat_plain(const StoredFile& file);"),
        ("tally/output/registry/readers.cpp", '#include "tally/output/result/stored_hpctool.hpp"',
         '#include "tally/output/result/stored_plain.hpp"'),
        ("tally/output/registry/readers.cpp", "AnyResults read_stat_json(const StoredFile& file) {",
         "bool is_stat_plain(const StoredFile& file) { return result::is_plain(file.text); }\n"
         "AnyResults read_stat_plain(const StoredFile& file) { return {{result::read_plain(file.text)}}; }"),
        ("tally/output/registry/formats.cpp", "    {table_of(Kind::stat), table,",
         '    {{Kind::stat, "plain", "", "for people", read_stat_plain, is_stat_plain}, table, nullptr, append_anything, '
         "nullptr, nullptr},"),
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
        ("tally/engine/models/core/tables/simple_core.cpp", "", """#include "tally/engine/models/core/cores.hpp"

namespace tally::models {
namespace {
constexpr auto one_cycle_each = [] {
  std::array<Timing, operations> timings{};
  for (unsigned i = 1; i < operations; i++) timings[i] = {Operation(i), 1, 1, {}, "invented"};
  return timings;
}();
}  // namespace

constinit const CoreTable simple_core = {.name = "simple",
                                         .width = 1,
                                         .rob = 0,
                                         .load_latency = 1,
                                         .vector_load_latency = 1,
                                         .loads = 1,
                                         .vector_loads = 1,
                                         .stores = 2,
                                         .timings = one_cycle_each};
}  // namespace tally::models
"""),
        ("tally/engine/models/CMakeLists.txt", "tally_directory(models SEPARATE SOURCES", " core/tables/simple_core.cpp"),
        ("tally/engine/models/core/cores.hpp", "extern constinit const CoreTable haswell_core;",
         "extern constinit const CoreTable simple_core;"),
        ("tally/engine/machines/shipped_models.cpp", "const models::CoreTable* const cores[] = {", "    &models::simple_core,"),
    ],
    "machine model": [
        ("tally/engine/machines/models/small_machine.cpp", "", """#include "tally/engine/machines/shipped_models.hpp"

namespace tally::machines {

constinit const std::string_view small_text = R"(# A small machine.
model  small
source invented
l1i    size=8K   ways=2 line=64
l1d    size=8K   ways=2 line=64
l2     size=64K  ways=4 line=64
llc    size=512K ways=8 line=64
core   simple
)";

}  // namespace tally::machines
"""),
        ("tally/engine/machines/CMakeLists.txt", "machines SOURCES", " models/small_machine.cpp"),
        ("tally/engine/machines/shipped_models.hpp", "zen5_text, bonnell_text;",
         "extern const std::string_view small_text;"),
        ("tally/engine/machines/shipped_models.hpp", "inline const std::array shipped{", '    ShippedModel{"small", small_text},'),
    ],
}

# A program with marks, and a result, for what follows.
MARKED, PLAIN = os.path.join(work, "marked"), os.path.join(work, "plain")
inputs = {
    MARKED + ".c": """int main(int count, char** words) {
  (void)words;
  __asm__ volatile("mfence");
  __asm__ volatile("xchg %%cx, %%cx" : : "a"(1));
  __asm__ volatile("xchg %%cx, %%cx" : : "a"(2));
  if (count > 1) __asm__ volatile(".byte 0x0f, 0x0a");
  return 0;
}
""",
    PLAIN: "plain\n",
}

# Arguments of tally, and what it must print.
uses = [
    (["stat", "-e", "transfers", "--backend", "engine", "--", "/bin/true"], "transfers"),
    (["stat", "--metrics", "transfer-rate", "--backend", "engine", "--", "/bin/true"], "transfer-rate"),
    (["stat", "-e", "transfers,loads", "--format", "names", "--backend", "engine", "--", "/bin/true"], "transfers:u\nloads:u\n"),
    (["help", "stat"], "the events alone"),
    (["stat", "-e", "thread-switches", "--backend", "none", "--", "/bin/true"], "thread-switches"),
    (["stat", "-e", "instructions", "--backend", "steady", "--", "/bin/true"], "4,242"),
    (["stat", "-e", "page-faults", "--sealed", "--", "/bin/true"], " · engine"),
    (["stat", "-e", "pauses", "--backend", "engine", "--", MARKED], "pauses:u"),
    (["stat", "-e", "instructions", "--", MARKED], "lit: 1 entry"),
    (["stat", "-e", "instructions", "--marks", "flare", "--", MARKED, "also illegal ones"], "seen: 1 entry"),
    (["stat", "-e", "instructions", "--cpu-model", "modest", "--format", "json", "--", "/bin/true"], '"cpu_model": "modest"'),
    (["report", PLAIN, "--format", "names"], "lines\n"),
    (["greet"], "hello\n"),
    (["--help"], "greet"),
    (["stat", "-e", "cycles", "--model", "small", "--backend", "engine", "--", "/bin/true"], "small (simple core), fast"),
]


def everything():
    return [one for of_kind in added.values() for one in of_kind]


def table():
    """For each kind: its new files, and the lines in others."""
    rows = ["| one more | new files | lines elsewhere |", "|---|---|---|"]
    for kind, of_kind in added.items():
        files = ", ".join(f"`{name}`" for name, anchor, _ in of_kind if not anchor)
        edited = [name for name, anchor, _ in of_kind if anchor]
        count = {name: sum(text.count("\n") + 1 for file, anchor, text in of_kind if anchor and file == name) for name in edited}
        lines = ", ".join(f"{n} in `{name}`" for name, n in count.items())
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
    subprocess.check_call(["cmake", "--build", build, "--target", "tally", "tally-results"])
    for name, text in inputs.items():
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)
    subprocess.check_call(["cc", MARKED + ".c", "-o", MARKED])
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
