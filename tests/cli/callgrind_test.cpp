// `tally callgrind`, and the command under the name valgrind: the files, messages and exit codes of valgrind's tools.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <optional>
#include <regex>
#include <sstream>

#include "tally/core/base/text.hpp"
#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

namespace fs = std::filesystem;

/// A file of callgrind as programs read it that know only its header and its totals, such as gungraun.
struct CallgrindFile {
  std::map<std::string, std::string> header;
  std::vector<std::string> events;
  std::map<std::string, std::int64_t> totals;  // by event

  explicit CallgrindFile(const std::string& text) {
    for (const std::string& line : split(text, '\n')) {
      const std::size_t colon = line.find(':');
      if (colon == line.npos || line.starts_with('#') || line.find('=') < colon) continue;
      const std::string key = line.substr(0, colon);
      if (header.emplace(key, trimmed(line.substr(colon + 1))).second) continue;
    }
    std::istringstream names(header["events"]), values(header["totals"].empty() ? header["summary"] : header["totals"]);
    for (std::string name; names >> name;) events.push_back(name);
    std::int64_t value = 0;
    for (const std::string& name : events) totals[name] = values >> value ? value : 0;
  }
};

/// The lines "==PID== key : value" of a log.
std::map<std::string, std::string> fields_of(const std::string& log) {
  static const std::regex field(R"(^(==|--)([0-9]+)(==|--)\s*(.*?)\s*:\s*(.*)$)");
  std::map<std::string, std::string> fields;
  for (const std::string& line : split(log, '\n')) {
    std::smatch found;
    if (!std::regex_match(line, found, field)) continue;
    fields["pid"] = found[2];
    fields[found[4]] = found[5];
  }
  return fields;
}

/// What a file with uncompressed names has of functions; recursion is one function.
struct CallgrindFunctions {
  struct Call {
    std::int64_t calls = 0, inclusive = 0;
    bool operator==(const Call&) const = default;
  };
  std::map<std::string, std::int64_t> self;
  std::map<std::pair<std::string, std::string>, Call> calls;

  explicit CallgrindFunctions(const std::string& text) {
    std::string function, callee;
    std::optional<std::int64_t> count;
    const auto name_in = [](const std::string& line) {
      const std::string name = line.substr(line.find('=') + 1);
      return name.substr(0, name.find('\''));
    };
    for (const std::string& line : split(text, '\n')) {
      if (line.starts_with("fn=")) function = name_in(line);
      if (line.starts_with("cfn=")) callee = name_in(line);
      if (line.starts_with("calls=")) count = std::stoll(line.substr(6));
      if (line.empty() || line[0] < '0' || line[0] > '9') continue;
      const std::int64_t cost = std::stoll(line.substr(line.find(' ')));
      if (!count) {
        self[function] += cost;
        continue;
      }
      calls[{function, callee}].calls += *count;
      calls[{function, callee}].inclusive += cost;
      count.reset();
    }
  }
};

class Callgrind : public testing::Test {
 protected:
  Callgrind() : folder_("files") {
    fs::remove(folder_.path());
    fs::create_directories(folder_.path());
    front_ = path("bin/valgrind");
    fs::create_directories(path("bin"));
    fs::create_symlink(TALLY_CALLGRIND, front_);
  }
  ~Callgrind() override { fs::remove_all(folder_.path()); }

  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }

  /// Runs the command under the name valgrind.
  Finished valgrind(const Words& arguments) const { return Running(with({front_}, arguments)).finish(); }

  CallgrindFile file(const std::string& name) const {
    const auto text = TemporaryFile::read(path(name));
    EXPECT_TRUE(text) << name;
    return CallgrindFile(text.value_or(""));
  }

  /// The names of the files that begin with `prefix`, sorted.
  Words files(const std::string& prefix) const {
    Words names;
    for (const auto& entry : fs::directory_iterator(folder_.path()))
      if (const std::string name = entry.path().filename(); name.starts_with(prefix)) names.push_back(name);
    std::sort(names.begin(), names.end());
    return names;
  }

  static bool have(const std::string& program) {
    return Running({"/bin/sh", "-c", "command -v \"$0\" >/dev/null", program}).finish().code() == 0;
  }

  /// What a reader of valgrind prints for a file.
  static std::string read_by(const std::string& reader, const std::string& file) {
    const Finished finished = Running({"/usr/bin/env", reader, file}).finish();
    EXPECT_EQ(finished.code(), 0) << finished.err;
    return finished.out;
  }

  TemporaryFile folder_;
  std::string front_;
};

TEST_F(Callgrind, writes_a_file_for_the_process_and_the_lines_of_callgrind) {
  const Finished finished = tally({"callgrind", "--callgrind-out-file=" + path("out.%p"), PROFILED, "fail"});
  EXPECT_EQ(finished.code(), 3) << "the program's exit code: " << finished.err;
  auto fields = fields_of(finished.err);
  const CallgrindFile made = file("out." + fields["pid"]);
  EXPECT_EQ(made.header.at("version"), "1");
  EXPECT_EQ(made.header.at("pid"), fields["pid"]);
  EXPECT_EQ(made.header.at("part"), "1");
  EXPECT_EQ(made.header.at("cmd"), PROFILED + std::string(" fail"));
  EXPECT_EQ(made.header.at("positions"), "line");
  EXPECT_EQ(made.header.at("summary"), made.header.at("totals"));
  EXPECT_EQ(fields["Command"], PROFILED + std::string(" fail"));
  EXPECT_EQ(fields["Events"], "Ir");
  EXPECT_EQ(fields["Collected"], made.header.at("totals"));
  EXPECT_EQ(fields["I   refs"], thousands(made.totals.at("Ir")));
  EXPECT_GT(made.totals.at("Ir"), 13'000);
  if (!have("callgrind_annotate")) GTEST_SKIP() << "valgrind is not installed";
  EXPECT_NE(read_by("callgrind_annotate", path("out." + fields["pid"])).find("11,000"), std::string::npos);
}

TEST_F(Callgrind, collects_in_calls_of_functions) {
  const Finished region =
      tally({"stat", "--format", "json", "-q", "-e", "instructions", "--function", "times", "--", PROFILED});
  for (const auto& [pattern, function] : {std::pair{"times", "times"}, {"tim*", "times"}, {"elev?n", "eleven"}}) {
    const Finished finished = tally(
        {"callgrind", "--callgrind-out-file=" + path("out"), std::string("--toggle-collect=") + pattern, PROFILED});
    EXPECT_EQ(finished.code(), 0) << finished.err;
    const std::int64_t collected = file("out").totals.at("Ir");
    if (std::string(function) == "eleven")
      EXPECT_EQ(collected, 11'000);
    else
      EXPECT_NE(region.err.find(std::to_string(collected)), std::string::npos) << collected << region.err;
    EXPECT_EQ(fields_of(finished.err)["Collected"], std::to_string(collected));
  }
  EXPECT_EQ(tally({"callgrind", "--callgrind-out-file=" + path("none"), "--instr-atstart=no", PROFILED}).code(), 0);
  EXPECT_EQ(file("none").totals.at("Ir"), 0) << "nothing in the program starts instrumentation";
}

// bench() executes 2,002 instructions. It is entered by a call, by a jump (a tail call), through a pointer, by two
// jumps.
constexpr const char* tail_calls = R"(
#include <string.h>
__asm__(".text\n.globl bench, wrapper, through, chain, after\n"
        ".type bench, @function\nbench: mov $1000, %ecx\n1: dec %ecx\n jnz 1b\n ret\n.size bench, . - bench\n"
        ".type wrapper, @function\nwrapper: jmp bench\n.size wrapper, . - wrapper\n"
        ".type through, @function\nthrough: lea bench(%rip), %rax\n jmp *%rax\n.size through, . - through\n"
        ".type chain, @function\nchain: jmp wrapper\n.size chain, . - chain\n"
        ".type after, @function\nafter: mov $500, %ecx\n1: dec %ecx\n jnz 1b\n ret\n.size after, . - after\n");
void bench(void), wrapper(void), through(void), chain(void), after(void);
int main(int argc, char** argv) {
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "call") == 0) bench();
    if (strcmp(argv[i], "jump") == 0) wrapper();
    if (strcmp(argv[i], "pointer") == 0) through();
    if (strcmp(argv[i], "chain") == 0) chain();
    after();
  }
  return 0;
}
)";

TEST_F(Callgrind, collects_in_functions_that_jumps_enter) {
  const TemporaryFile source("tail_calls.c", tail_calls);
  const Finished built = Running({"/usr/bin/env", "cc", "-O1", "-g", "-o", path("prog"), source.path()}).finish();
  ASSERT_EQ(built.code(), 0) << built.err;
  const auto collected = [&](const std::string& function, const Words& what) {
    const Finished finished = tally(
        with({"callgrind", "--callgrind-out-file=" + path("out"), "--toggle-collect=" + function, path("prog")}, what));
    EXPECT_EQ(finished.code(), 0) << finished.err;
    EXPECT_EQ(finished.err.find("warning"), finished.err.npos) << finished.err;
    return file("out").totals.at("Ir");
  };
  EXPECT_EQ(collected("bench", {"call"}), 2002);
  EXPECT_EQ(collected("bench", {"jump"}), 2002);
  EXPECT_EQ(collected("bench", {"pointer"}), 2002);
  EXPECT_EQ(collected("bench", {"chain"}), 2002);
  EXPECT_EQ(collected("bench", {"jump", "call", "chain", "pointer", "jump"}), 5 * 2002);
  EXPECT_EQ(collected("be*h", {"jump"}), 2002);
  const Finished jumping = tally({"callgrind", "--callgrind-out-file=" + path("out"), "--toggle-collect=wrapper",
                                  path("prog"), "jump", "call", "chain"});
  EXPECT_EQ(file("out").totals.at("Ir"), 2 * 2003);
  EXPECT_NE(jumping.err.find("wrapper jumped to other functions"), std::string::npos) << jumping.err;
}

TEST_F(Callgrind, explains_why_nothing_is_collected) {
  const Finished finished =
      tally({"callgrind", "--callgrind-out-file=" + path("out"), "--toggle-collect=elevn", PROFILED});
  EXPECT_EQ(finished.code(), 0) << "as with valgrind";
  EXPECT_EQ(file("out").totals.at("Ir"), 0);
  EXPECT_NE(finished.err.find("--toggle-collect=elevn: no function of this name ran; did you mean eleven"),
            std::string::npos)
      << finished.err;
}

TEST_F(Callgrind, warns_once_of_functions_without_lines) {
  const Finished finished =
      tally({"callgrind", "--callgrind-out-file=" + path("out"), "--toggle-collect=deep", PROFILED, "jump"});
  const std::string text = "also ran without collection";
  const std::size_t first = finished.err.find(text);
  EXPECT_NE(first, std::string::npos) << finished.err;
  EXPECT_EQ(finished.err.find(text, first + 1), std::string::npos) << finished.err;
}

// helper() is called by functions, in a recursion, and by a jump; it calls leaf().
constexpr const char* skipped_functions = R"(
#define N __attribute__((noinline))
volatile unsigned sum;
N void leaf(unsigned n) { for (unsigned i = 0; i < n; i++) sum += i; }
N void helper(unsigned n) { leaf(n); sum++; }
__asm__(".text\n.globl jumps\n.type jumps, @function\njumps: add $1, %edi\n jmp helper\n.size jumps, . - jumps\n");
void jumps(unsigned n);
N void middle(unsigned n) { helper(n); helper(2 * n); jumps(n); sum++; }
N void even(unsigned n);
N void odd(unsigned n) { helper(n); if (n > 0) even(n - 1); sum++; }
N void even(unsigned n) { helper(n); if (n > 0) odd(n - 1); sum++; }
int main(void) { middle(10); even(6); sum++; return 0; }
)";

TEST_F(Callgrind, adds_skipped_functions_to_their_callers) {
  const TemporaryFile source("skipped.c", skipped_functions);
  const Finished built = Running({"/usr/bin/env", "cc", "-O1", "-g", "-o", path("prog"), source.path()}).finish();
  ASSERT_EQ(built.code(), 0) << built.err;
  const auto functions = [&](const Words& command, const Words& options) {
    const Finished finished =
        Running(with(with(command, {"-q", "--tool=callgrind", "--compress-strings=no", "--compress-pos=no",
                                    "--toggle-collect=main", "--callgrind-out-file=" + path("out")}),
                     with(options, {path("prog")})))
            .finish();
    EXPECT_EQ(finished.code(), 0) << finished.err;
    // Without them, the jump to helper() is unknown.
    if (!options.empty()) EXPECT_EQ(finished.err.find("warning"), finished.err.npos) << finished.err;
    return CallgrindFunctions(TemporaryFile::read(path("out")).value_or(""));
  };
  const CallgrindFunctions all = functions({front_}, {});
  ASSERT_EQ(all.self.count("helper"), 1u);
  const auto sum_of = [](const CallgrindFunctions& of) {
    return std::accumulate(of.self.begin(), of.self.end(), std::int64_t{0},
                           [](std::int64_t sum, const auto& function) { return sum + function.second; });
  };
  const bool compares = have("valgrind");
  for (const Words& options :
       {Words{"--fn-skip=helper"}, Words{"--fn-skip=h?lp*", "--fn-skip=even"},
        Words{"--fn-skip=helper", "--fn-skip=leaf"}, Words{"--fn-skip=helper", "--fn-skip=middle"}}) {
    const CallgrindFunctions ours = functions({front_}, options);
    EXPECT_EQ(sum_of(ours), sum_of(all)) << "the total stays";
    EXPECT_EQ(ours.self.size(), all.self.size() - options.size());
    if (!compares) continue;
    const CallgrindFunctions theirs = functions({"/usr/bin/env", "valgrind"}, options);
    EXPECT_EQ(ours.self, theirs.self) << join(options, " ");
    for (const auto& [call, counts] : theirs.calls) {
      if (call.first != "middle" && call.second != "middle") continue;
      EXPECT_EQ(ours.calls.at(call), counts) << call.first << " " << call.second;
    }
  }
  const CallgrindFunctions skipped = functions({front_}, {"--fn-skip=helper"});
  EXPECT_EQ(skipped.calls.at({"middle", "leaf"}).calls, 2);
  EXPECT_EQ(skipped.calls.at({"jumps", "leaf"}).calls, 1);
  EXPECT_EQ(skipped.calls.at({"main", "middle"}), all.calls.at({"main", "middle"}));
  // All functions of the program: the file has the caller of main.
  EXPECT_EQ(functions({front_}, {"--obj-skip=" + path("prog")}).self.count("middle"), 0u);
  const Finished missing = valgrind({"-q", "--tool=callgrind", "--callgrind-out-file=" + path("out"), "--fn-skip=helpr",
                                     "--obj-skip=" + path("prg"), path("prog")});
  EXPECT_NE(missing.err.find("--fn-skip=helpr: no function of this name ran; did you mean helper"), std::string::npos)
      << missing.err;
  EXPECT_NE(missing.err.find("prg: no code of this file ran; did you mean " + path("prog")), std::string::npos)
      << missing.err;
  const Finished simulated = valgrind({"-q", "--tool=callgrind", "--callgrind-out-file=" + path("out"),
                                       "--cache-sim=yes", "--fn-skip=helper", path("prog")});
  EXPECT_NE(simulated.err.find("--fn-skip and --obj-skip are ignored"), std::string::npos) << simulated.err;
}

TEST_F(Callgrind, simulates_the_caches_of_the_options) {
  const Finished finished =
      tally({"callgrind", "--callgrind-out-file=" + path("out"), "--cache-sim=yes", "--branch-sim=yes",
             "--I1=32768,8,64", "--D1=16384,4,64", "--LL=8388608,16,64", PROFILED});
  EXPECT_EQ(finished.code(), 0) << finished.err;
  const std::string text = TemporaryFile::read(path("out")).value_or("");
  EXPECT_NE(text.find("desc: D1 cache: 16384 B, 64 B, 4-way associative\n"), std::string::npos) << text.substr(0, 800);
  const CallgrindFile made(text);
  EXPECT_EQ(join(made.events, " "), "Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw Bc Bcm Bi Bim");
  EXPECT_GE(made.totals.at("Dr"), 1000);
  EXPECT_GE(made.totals.at("I1mr"), made.totals.at("ILmr"));
  EXPECT_GE(made.totals.at("ILmr"), 1);
  EXPECT_GE(made.totals.at("D1mr"), made.totals.at("DLmr"));
  EXPECT_EQ(fields_of(finished.err)["Collected"], made.header.at("totals"));
  EXPECT_NE(finished.err.find("Mispred rate:"), std::string::npos) << finished.err;
  if (have("callgrind_annotate"))
    EXPECT_NE(read_by("callgrind_annotate", path("out")).find("D1 cache"), std::string::npos);
}

TEST_F(Callgrind, is_cachegrind_with_that_tool) {
  const Finished finished = tally({"callgrind", "--tool=cachegrind", "--cachegrind-out-file=" + path("out"), PROFILED});
  EXPECT_EQ(finished.code(), 0) << finished.err;
  const CallgrindFile made = file("out");
  EXPECT_EQ(join(made.events, " "), "Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw");
  EXPECT_EQ(fields_of(finished.err)["I   refs"], thousands(made.totals.at("Ir")));
  EXPECT_EQ(fields_of(finished.err).count("Collected"), 0u);
  ASSERT_EQ(
      tally({"callgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=" + path("plain"), PROFILED})
          .code(),
      0);
  EXPECT_EQ(join(file("plain").events, " "), "Ir");
  if (!have("cg_annotate")) GTEST_SKIP() << "valgrind is not installed";
  EXPECT_NE(read_by("cg_annotate", path("out")).find("11,000"), std::string::npos);
}

TEST_F(Callgrind, writes_a_file_for_each_process) {
  const std::string out = "--callgrind-out-file=" + path("out.%p");
  ASSERT_EQ(tally({"callgrind", out, PROFILED, "fork"}).code(), 0);
  const Words forked = files("out.");
  ASSERT_EQ(forked.size(), 2u);
  std::vector<std::int64_t> counts;
  for (const std::string& name : forked) {
    counts.push_back(file(name).totals.at("Ir"));
    fs::remove(path(name));
  }
  std::sort(counts.begin(), counts.end());
  EXPECT_LT(counts[0], 11'000) << "a forked process has only its own counts";
  EXPECT_GE(counts[0], 200 * 11);
  // Programs that the program executes are profiled only on demand.
  const Words shell{"/bin/sh", "-c", "\"$0\"; exit 5", PROFILED};
  EXPECT_EQ(tally(with({"callgrind", out}, shell)).code(), 5);
  EXPECT_EQ(files("out.").size(), 1u);
  fs::remove(path(files("out.")[0]));
  EXPECT_EQ(tally(with({"callgrind", out, "--trace-children=yes"}, shell)).code(), 5);
  EXPECT_EQ(files("out.").size(), 2u);
  for (const std::string& name : files("out.")) fs::remove(path(name));
  EXPECT_EQ(tally(with({"callgrind", out, "--trace-children=yes", "--trace-children-skip=*profiled"}, shell)).code(),
            5);
  EXPECT_EQ(files("out.").size(), 1u);
}

TEST_F(Callgrind, writes_a_file_for_each_thread) {
  ASSERT_EQ(
      tally({"callgrind", "--separate-threads=yes", "--callgrind-out-file=" + path("out"), PROFILED, "threads"}).code(),
      0);
  EXPECT_EQ(files("out"), (Words{"out", "out-01", "out-02", "out-03"}));
  EXPECT_EQ(file("out-02").header.at("thread"), "2");
  EXPECT_GT(file("out-01").totals.at("Ir"), 13'000);
  EXPECT_GE(file("out-02").totals.at("Ir"), 30 * 11);
  EXPECT_LT(file("out-03").totals.at("Ir"), 30 * 11 + 1000);
}

TEST_F(Callgrind, writes_the_positions_and_names_that_were_asked_for) {
  const auto text = [&](const Words& options) {
    EXPECT_EQ(tally(with(with({"callgrind", "-q", "--callgrind-out-file=" + path("out")}, options), {PROFILED})).code(),
              0);
    return TemporaryFile::read(path("out")).value_or("");
  };
  EXPECT_NE(text({"--dump-instr=yes"}).find("\npositions: instr line\n"), std::string::npos);
  EXPECT_NE(text({"--dump-instr=yes", "--dump-line=no"}).find("\npositions: instr\n"), std::string::npos);
  EXPECT_NE(text({"--dump-line=no"}).find("\npositions: line\n"), std::string::npos);
  EXPECT_NE(text({"--compress-strings=no"}).find("\nfn=eleven\n"), std::string::npos);
  EXPECT_EQ(text({"--compress-strings=yes"}).find("\nfn=eleven\n"), std::string::npos);
}

TEST_F(Callgrind, names_options_that_it_ignores_and_refuses_those_that_change_counts) {
  const std::string out = "--callgrind-out-file=" + path("out");
  const Finished ignored = tally({"callgrind", "-q", out, "--collect-jumps=yes", "--brand-new=1", "--vgdb=no", "true"});
  EXPECT_EQ(ignored.code(), 0);
  EXPECT_NE(ignored.err.find("-- warning: --collect-jumps=yes is ignored: the file has no jumps"), std::string::npos)
      << ignored.err;
  EXPECT_NE(ignored.err.find("--brand-new=1 is unknown, and ignored"), std::string::npos) << ignored.err;
  EXPECT_EQ(ignored.err.find("vgdb"), std::string::npos) << ignored.err;
  const Finished refused = tally({"callgrind", out, "--dump-before=main", "true"});
  EXPECT_EQ(refused.code(), 2);
  EXPECT_NE(refused.err.find("--dump-before=main"), std::string::npos) << refused.err;
  EXPECT_EQ(tally({"callgrind", "--callgrind-out-file=%x", "true"}).code(), 2);
}

TEST_F(Callgrind, ends_as_valgrind_does) {
  const std::string out = "--callgrind-out-file=" + path("out");
  EXPECT_EQ(valgrind({"--tool=callgrind", out, "true"}).code(), 0);
  EXPECT_EQ(valgrind({"--tool=callgrind", out, PROFILED, "fail"}).code(), 3);
  EXPECT_EQ(valgrind({"--tool=callgrind", out, PROFILED, "kill"}).code(), -9) << "killed by the program's signal";
  EXPECT_EQ(valgrind({"--tool=callgrind", out, "/nowhere/program"}).code(), 127);
  EXPECT_EQ(valgrind({"--tool=callgrind", out, folder_.path()}).code(), 126);
  EXPECT_EQ(valgrind({"--tool=callgrind", "--cache-sim=maybe", "true"}).code(), 1);
  EXPECT_EQ(valgrind({"--tool=callgrind"}).code(), 1);
  EXPECT_EQ(valgrind({"true"}).code(), 1) << "memcheck is the default tool";
  EXPECT_EQ(valgrind({"--version"}).out.find("valgrind-3."), 0u);
  EXPECT_NE(valgrind({"--help"}).out.find("--toggle-collect"), std::string::npos);
}

// The arguments of gungraun's runner, and its rules: the log begins with a process ID, then fields up to an empty line;
// "totals:" of a file counts, else "summary:".
TEST_F(Callgrind, serves_the_runner_of_gungraun) {
  const Words common{"--error-exitcode=0", "--trace-children=yes", "--fair-sched=try",   "--vgdb=no",
                     "--I1=32768,8,64",    "--D1=32768,8,64",      "--LL=8388608,16,64", "--cache-sim=yes"};
  const Words callgrind{"--compress-strings=no",
                        "--compress-pos=no",
                        "--dump-line=yes",
                        "--dump-instr=no",
                        "--combine-dumps=no",
                        "--separate-threads=yes",
                        "--toggle-collect=*eleven*",
                        "--callgrind-out-file=" + path("callgrind.bench.out.#%p"),
                        "--log-file=" + path("callgrind.bench.log.#%p")};
  const Finished finished = valgrind(with(with(with({"--tool=callgrind"}, common), callgrind), {PROFILED, "threads"}));
  EXPECT_EQ(finished.code(), 0);
  EXPECT_EQ(finished.err, "") << "messages are in the log";
  const Words logs = files("callgrind.bench.log.#");
  ASSERT_EQ(logs.size(), 1u);
  const std::string log = TemporaryFile::read(path(logs[0])).value_or("");
  EXPECT_TRUE(std::regex_search(split(log, '\n')[0], std::regex("^==[0-9]+== ")));
  auto fields = fields_of(log);
  EXPECT_EQ(fields["Command"], PROFILED + std::string(" threads"));
  EXPECT_TRUE(std::regex_match(fields["Parent PID"], std::regex("[0-9]+")));
  EXPECT_TRUE(std::regex_search(log, std::regex("\n==[0-9]+== ?\n")));
  const std::string name = "callgrind.bench.out.#" + fields["pid"];
  EXPECT_EQ(files("callgrind.bench.out.#"), (Words{name, name + "-01", name + "-02", name + "-03"}));
  EXPECT_EQ(file(name + "-01").totals.at("Ir"), 11'000);
  EXPECT_EQ(file(name + "-02").totals.at("Ir"), 330);
  EXPECT_EQ(file(name + "-03").totals.at("Ir"), 44);
  EXPECT_EQ(file(name + "-01").totals.at("Dr"), 2 * 1000) << "eleven() loads once, and returns";
  EXPECT_EQ(fields["Events"], "Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw");
  EXPECT_EQ(log.find("no misses"), std::string::npos) << log;

  ASSERT_EQ(
      valgrind(with(with({"--tool=cachegrind"}, common), {"--cachegrind-out-file=" + path("cachegrind.bench.out.#%p"),
                                                          "--log-file=" + path("cachegrind.bench.log.#%p"), PROFILED}))
          .code(),
      0);
  EXPECT_EQ(files("cachegrind.bench.log.#").size(), 1u);
  const CallgrindFile made = file(files("cachegrind.bench.out.#").at(0));
  EXPECT_EQ(made.header.at("cmd"), PROFILED);
  EXPECT_GT(made.totals.at("Ir"), 13'000);
}

// The arguments of CodSpeed's runner, and its script, which the shell executes.
TEST_F(Callgrind, serves_the_runner_of_codspeed) {
  const TemporaryFile script("script.sh", "#!/bin/sh\nsh -c \"$1\"\nstatus=$?\nprintf %s \"$status\" > \"$2\"\n", 0755);
  const Finished finished = Running({"/usr/bin/env",
                                     "setarch",
                                     "x86_64",
                                     "-R",
                                     front_,
                                     "-q",
                                     "--tool=callgrind",
                                     "--trace-children=yes",
                                     "--cache-sim=yes",
                                     "--I1=32768,8,64",
                                     "--D1=32768,8,64",
                                     "--LL=8388608,16,64",
                                     "--instr-atstart=no",
                                     "--collect-systime=nsec",
                                     "--compress-strings=no",
                                     "--combine-dumps=yes",
                                     "--dump-line=no",
                                     "--read-inline-info=yes",
                                     "--trace-children-skip=*esbuild",
                                     "--obj-skip=/usr/bin/python3",
                                     "--callgrind-out-file=" + path("%p.out"),
                                     "--log-file=" + path("valgrind.log"),
                                     script.path(),
                                     std::string(PROFILED) + " fail",
                                     path("status")})
                                .finish();
  EXPECT_EQ(finished.code(), 0) << finished.err;
  EXPECT_EQ(TemporaryFile::read(path("status")), "3");
  std::size_t profiles = 0;
  for (const auto& entry : fs::directory_iterator(folder_.path())) {
    const std::string name = entry.path().filename();
    if (!name.ends_with(".out")) continue;
    ++profiles;
    const CallgrindFile made = file(name);
    EXPECT_EQ(made.header.at("pid") + ".out", name);
    EXPECT_EQ(join(made.events, " "), "Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw");
    for (const auto& [event, total] : made.totals) EXPECT_EQ(total, 0) << "no mark starts instrumentation: " << event;
  }
  EXPECT_GE(profiles, 2u);
  const std::string log = TemporaryFile::read(path("valgrind.log")).value_or("");
  EXPECT_EQ(log.find("Collected"), std::string::npos) << "-q";
  EXPECT_NE(log.find("--collect-systime=nsec is ignored"), std::string::npos) << log;
}

// tests/marks/requests.c, in which a section of n counts 2 n + 2 instructions.
TEST_F(Callgrind, divides_the_profile_at_client_requests) {
  const Words options{"-q", "--tool=callgrind", "--instr-atstart=no"};
  const Words program{REQUESTS, "instrumentation"};
  ASSERT_EQ(valgrind(with(with(options, {"--callgrind-out-file=" + path("apart")}), program)).code(), 0);
  EXPECT_EQ(files("apart"), (Words{"apart", "apart.1", "apart.2", "apart.3"}));
  std::vector<std::int64_t> counts;
  for (const std::string& name : files("apart")) counts.push_back(file(name).totals.at("Ir"));
  EXPECT_EQ(counts, (std::vector<std::int64_t>{22, 2002, 2004, 62}));
  EXPECT_EQ(file("apart.2").header.at("part"), "2");
  // The same in one file, whose head is not repeated.
  ASSERT_EQ(valgrind(with(with(options, {"--combine-dumps=yes", "--callgrind-out-file=" + path("together")}), program))
                .code(),
            0);
  EXPECT_EQ(files("together"), Words{"together"});
  const std::string text = TemporaryFile::read(path("together")).value_or("");
  EXPECT_EQ(text.find("version: 1"), text.rfind("version: 1"));
  EXPECT_NE(text.find("part: 4"), std::string::npos) << text;
  // "Collected" is the sum.
  const Finished loud =
      valgrind(with({"--tool=callgrind", "--instr-atstart=no", "--callgrind-out-file=/dev/null"}, program));
  EXPECT_EQ(fields_of(loud.err)["Collected"],
            std::to_string(std::accumulate(counts.begin(), counts.end(), std::int64_t{0})));
}

TEST_F(Callgrind, counts_a_call_in_the_part_that_made_it) {
  const Words options{"-q", "--tool=callgrind", "--instr-atstart=no", "--compress-strings=no",
                      "--callgrind-out-file=" + path("out")};
  ASSERT_EQ(valgrind(with(options, {REQUESTS, "instrumentation"})).code(), 0);
  for (const std::string& name : files("out")) {
    const CallgrindFunctions made(TemporaryFile::read(path(name)).value_or(""));
    for (const auto& [call, counts] : made.calls) {
      if (call.second != "main") continue;
      EXPECT_EQ(counts.calls, 0) << name << ": main was called before instrumentation began";
      EXPECT_GT(counts.inclusive, 0) << name;
    }
  }
}

// tests/marks/requests.c, in which each line that is read for the first time is a miss.
TEST_F(Callgrind, divides_misses_at_client_requests) {
  for (const Words& more : {Words{}, Words{"--branch-sim=yes"}}) {
    const Finished finished =
        valgrind(with(with({"--tool=callgrind", "--instr-atstart=no", "--cache-sim=yes", "--I1=32768,8,64",
                            "--D1=32768,8,64", "--LL=8388608,16,64", "--callgrind-out-file=" + path("out")},
                           more),
                      {REQUESTS, "misses"}));
    ASSERT_EQ(finished.code(), 0) << finished.err;
    ASSERT_EQ(files("out"), (Words{"out", "out.1", "out.2", "out.3"}));
    const auto counts = [&](const std::string& event) {
      std::vector<std::int64_t> all;
      for (const std::string& name : files("out")) all.push_back(file(name).totals.at(event));
      return all;
    };
    using Counts = std::vector<std::int64_t>;
    EXPECT_EQ(counts("Dr"), (Counts{150, 100, 50, 64}));
    EXPECT_EQ(counts("Dw"), (Counts{0, 0, 0, 64})) << "of a string instruction";
    EXPECT_EQ(counts("D1mr"), (Counts{0, 100, 50, 0}));
    EXPECT_EQ(counts("DLmr"), (Counts{0, 100, 50, 0}));
    EXPECT_EQ(counts("D1mw"), (Counts{0, 0, 0, 0}));
    EXPECT_EQ(counts("Ir"), (Counts{4 * 150 + 1, 4 * 100 + 1, 4 * 50 + 2, 5}));
    EXPECT_NE(finished.err.find("warning: the file has no calls"), std::string::npos) << finished.err;
    EXPECT_EQ(finished.err.find("no misses"), std::string::npos) << finished.err;
    const std::string collected = fields_of(finished.err)["Collected"];
    EXPECT_TRUE(collected.starts_with("1209 364 64 ")) << collected;
    if (!more.empty()) EXPECT_EQ(counts("Bc"), (Counts{150, 100, 50, 0}));
    if (have("callgrind_annotate"))
      EXPECT_NE(read_by("callgrind_annotate", path("out.1")).find("PROGRAM TOTALS"), std::string::npos);
    for (const std::string& name : files("out")) fs::remove(path(name));
  }
}

// read_lines(n) reads n lines for the first time: each is a miss.
constexpr const char* misses_in_functions = R"(
#include <pthread.h>
#include <setjmp.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#define N __attribute__((noinline))
static volatile char lines[64 * 2048] __attribute__((aligned(64)));
static __thread unsigned next;
volatile unsigned sum;
static jmp_buf back;
N void read_lines(unsigned n) { for (unsigned i = 0; i < n; i++) sum += (unsigned)lines[64 * next++]; }
N void inner(void) { read_lines(20); }
N void outer(unsigned n) { read_lines(7); inner(); if (n > 0) outer(n - 1); read_lines(1); }
N void leave(void) { read_lines(11); longjmp(back, 1); }
static void* thread(void* part) { next = 200u * (unsigned)(long)part; read_lines(3); inner(); read_lines(4); return part; }
int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "calls") == 0) outer(3), inner(), read_lines(100);
  if (strcmp(what, "jump") == 0) {
    if (setjmp(back) == 0) leave();
    read_lines(50);
  }
  if (strcmp(what, "threads") == 0) {
    pthread_t threads[2];
    for (long i = 0; i < 2; i++) pthread_create(&threads[i], 0, thread, (void*)(i + 1));
    for (long i = 0; i < 2; i++) pthread_join(threads[i], 0);
    inner();
  }
  return 0;
}
)";

TEST_F(Callgrind, collects_misses_in_calls_of_functions) {
  const TemporaryFile source("misses.c", misses_in_functions);
  const Finished built =
      Running({"/usr/bin/env", "cc", "-O1", "-pthread", "-Wl,-z,now", "-o", path("prog"), source.path()}).finish();
  ASSERT_EQ(built.code(), 0) << built.err;
  const auto collected = [&](const Words& command, const Words& functions, const std::string& what) {
    Words words = with(command, {"-q", "--tool=callgrind", "--cache-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64",
                                 "--LL=8388608,16,64", "--callgrind-out-file=" + path("out")});
    for (const std::string& function : functions) words.push_back("--toggle-collect=" + function);
    const Finished finished = Running(with(words, {path("prog"), what})).finish();
    EXPECT_EQ(finished.code(), 0) << finished.err;
    EXPECT_EQ(finished.err.find("no misses"), finished.err.npos) << finished.err;
    return file("out").totals;
  };
  const bool compares = have("valgrind");
  struct Case {
    Words functions;
    const char* what;
    std::int64_t misses;
  };
  for (const Case& one : {Case{{"inner"}, "calls", 5 * 20}, Case{{"outer"}, "calls", 4 * 28},
                          Case{{"outer", "inner"}, "calls", 4 * 8 + 20}, Case{{"in?er"}, "threads", 3 * 20},
                          Case{{"leave"}, "jump", 11}, Case{{"none"}, "calls", 0}}) {
    const auto ours = collected({front_}, one.functions, one.what);
    const std::string of = join(one.functions, " ") + " in " + one.what;
    // In addition to the lines: the stack, and what longjmp reads.
    EXPECT_GE(ours.at("D1mr"), one.misses) << of;
    EXPECT_LE(ours.at("D1mr"), one.misses + 4) << of;
    if (!compares || one.misses == 0) continue;
    const auto theirs = collected({"/usr/bin/env", "valgrind"}, one.functions, one.what);
    for (const char* event : {"Ir", "Dr", "Dw", "DLmr", "DLmw"})
      EXPECT_EQ(ours.at(event), theirs.at(event)) << event << " of " << of;
    // Each thread has first-level caches of its own.
    if (one.what != std::string("threads")) EXPECT_EQ(ours.at("D1mr"), theirs.at("D1mr")) << of;
    // A function may begin within a line that the processor has already fetched.
    for (const char* event : {"I1mr", "ILmr"}) EXPECT_LE(std::abs(ours.at(event) - theirs.at(event)), 2) << of;
  }
}

TEST_F(Callgrind, divides_misses_of_threads_and_processes) {
  const auto counts = [&](const std::string& prefix, const std::string& event) {
    std::vector<std::int64_t> all;
    for (const std::string& name : files(prefix)) all.push_back(file(name).totals.at(event));
    std::sort(all.begin(), all.end());
    return all;
  };
  const Words options{"--tool=callgrind", "--collect-atstart=no", "--cache-sim=yes",
                      "--I1=32768,8,64",  "--D1=32768,8,64",      "--LL=8388608,16,64"};
  const Words program{REQUESTS, "misses of threads"};
  const Finished finished = valgrind(with(with(options, {"--callgrind-out-file=" + path("out.%p")}), program));
  ASSERT_EQ(finished.code(), 0) << finished.err;
  for (const char* event : {"Dr", "D1mr", "DLmr"})
    EXPECT_EQ(counts("out.", event), (std::vector<std::int64_t>{7, 11, 200})) << event;
  // A toggle leaves the caches as they are in callgrind, too.
  if (!have("valgrind")) GTEST_SKIP() << "valgrind is not installed";
  const Words original =
      with(with({"/usr/bin/env", "valgrind", "-q"}, options), {"--callgrind-out-file=" + path("its.%p")});
  ASSERT_EQ(Running(with(original, program)).finish().code(), 0);
  for (const char* event : {"Dr", "Dw", "D1mr", "D1mw", "DLmr"})
    EXPECT_EQ(counts("its.", event), counts("out.", event)) << event;
  // A section begins within a block, whose lines callgrind fetches before it.
  const auto its = counts("its.", "I1mr"), ours = counts("out.", "I1mr");
  ASSERT_EQ(its.size(), ours.size());
  for (std::size_t i = 0; i < its.size(); i++) EXPECT_LE(std::abs(its[i] - ours[i]), 1);
}

TEST_F(Callgrind, profile_divides_misses_and_refuses_cycles) {
  const Words options{"profile", "-q",      "--parts", "--format",  "callgrind",
                      "--model", "haswell", "-o",      path("out"), "-e"};
  const Words program{"--", REQUESTS, "misses"};
  ASSERT_EQ(tally(with(with(options, {"instructions,L1-dcache-load-misses"}), program)).code(), 0);
  EXPECT_EQ(file("out.1").totals.at("D1mr"), 100);
  EXPECT_EQ(file("out.2").totals.at("D1mr"), 50);
  EXPECT_EQ(file("out").totals.at("D1mr"), 0);
  const Finished cycles = tally(with(with(options, {"cycles"}), program));
  EXPECT_EQ(cycles.code(), 2);
  EXPECT_NE(cycles.err.find("cycles of a model cannot be divided into parts"), std::string::npos) << cycles.err;
}

TEST_F(Callgrind, ends_with_the_code_of_the_program_whatever_it_is) {
  const Words options{"-q", "--tool=callgrind", "--callgrind-out-file=/dev/null"};
  EXPECT_EQ(valgrind(with(options, {"/bin/sh", "-c", "exit 2"})).code(), 2);
  EXPECT_EQ(valgrind(with(options, {"--D1=none", "/bin/true"})).code(), 1) << "valgrind's code for wrong usage";
}

TEST_F(Callgrind, refuses_a_cache_whose_size_is_no_number) {
  const Finished finished =
      valgrind({"--tool=callgrind", "--cache-sim=yes", "--D1=1,4294967296,4294967296", "/bin/true"});
  EXPECT_EQ(finished.code(), 1) << finished.err;
}

// The name of the second program begins with that of the first.
TEST_F(Callgrind, has_the_counts_of_the_program_that_was_executed_last) {
  const Words options{"-q", "--tool=callgrind", "--callgrind-out-file=" + path("file")};
  ASSERT_EQ(valgrind(with(options, {"/usr/bin/sha256sum", "/dev/null"})).code(), 0);
  const std::int64_t alone = file("file").totals.at("Ir");
  ASSERT_EQ(
      valgrind(with(options, {"--trace-children=yes", "/bin/sh", "-c", "exec /usr/bin/sha256sum /dev/null"})).code(),
      0);
  EXPECT_NEAR(static_cast<double>(file("file").totals.at("Ir")), static_cast<double>(alone),
              0.1 * static_cast<double>(alone));
}

TEST_F(Callgrind, escapes_what_it_prints) {
  const Finished finished =
      valgrind({"--tool=callgrind", "--callgrind-out-file=/dev/null", "/bin/true", "\033[31m\n==1== x"});
  EXPECT_EQ(finished.err.find('\033'), std::string::npos);
  EXPECT_EQ(finished.err.find("\n==1=="), std::string::npos) << finished.err;
}

TEST_F(Callgrind, answers_client_requests) {
  const Finished finished = valgrind({"-q", "--tool=callgrind", "--callgrind-out-file=/dev/null", REQUESTS, "answers"});
  EXPECT_EQ(finished.out, "1 1\n") << finished.err;
}

// Of a program whose code does not depend on the processor, the functions of the program have the same counts.
TEST_F(Callgrind, counts_what_valgrind_counts) {
  if (!have("valgrind")) GTEST_SKIP() << "valgrind is not installed";
  const Words options{"-q", "--tool=callgrind", "--compress-strings=no", "--toggle-collect=times"};
  ASSERT_EQ(
      Running(with({"/usr/bin/env", "valgrind"}, with(options, {"--callgrind-out-file=" + path("theirs"), PROFILED})))
          .finish()
          .code(),
      0);
  ASSERT_EQ(valgrind(with(options, {"--callgrind-out-file=" + path("ours"), PROFILED})).code(), 0);
  EXPECT_EQ(file("ours").header.at("totals"), file("theirs").header.at("totals"));
  EXPECT_EQ(file("ours").header.at("positions"), file("theirs").header.at("positions"));
}

TEST_F(Callgrind, a_script_that_executes_a_program_needs_trace_children) {
  const Finished finished = tally({"callgrind", "/bin/sh", "-c", "exec true"});
  EXPECT_EQ(finished.code(), 0);
  EXPECT_TRUE(holds(finished.err, "--trace-children=yes profiles that")) << finished.err;
}

}  // namespace
}  // namespace tally::test
