// `tally profile`, as a user types it.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

using Json = nlohmann::json;
using Counts = std::vector<std::int64_t>;

struct ProfileRun {
  Finished finished;
  Json json;

  /// The counts of the functions of this name: instructions, loads, stores.
  Counts of(const std::string& name) const {
    Counts sum(json["events"].size());
    for (const Json& function : json["functions"]) {
      if (function["name"] != name) continue;
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += function["counts"][i].get<std::int64_t>();
    }
    return sum;
  }
  std::int64_t entered(const std::string& name) const {
    std::int64_t sum = 0;
    for (const Json& function : json["functions"])
      if (function["name"] == name) sum += function["entered"].get<std::int64_t>();
    return sum;
  }
};

ProfileRun profiled(Words words) {
  const TemporaryFile file("profile.json");
  words.insert(words.begin(), {"profile", "-q", "--backend", "engine", "--format", "json", "-o", file.path()});
  ProfileRun made;
  made.finished = tally(words);
  made.json = Json::parse(file.content().value_or(""), nullptr, false);
  return made;
}

/// Every count is in its function, and together they are the total.
void expect_complete(const ProfileRun& one) {
  ASSERT_TRUE(one.json.is_object()) << one.finished.err;
  for (std::size_t i = 0; i < one.json["events"].size(); ++i) {
    const Json& event = one.json["events"][i];
    std::int64_t sum = event["string_elements"].get<std::int64_t>();
    for (const Json& function : one.json["functions"]) sum += function["counts"][i].get<std::int64_t>();
    EXPECT_EQ(sum, event["value"]) << event["name"];
    EXPECT_EQ(event["not_placed"], 0) << event["name"];
    EXPECT_EQ(event["trust"], "exact") << event["reason"];
  }
}

Finished run(const std::string& command) { return Running({"/bin/sh", "-c", command}).finish(); }

class Profile : public testing::Test {
 protected:
  void SetUp() override {
#if !TALLY_HAS_ENGINE
    GTEST_SKIP() << "the engine is for x86-64";
#endif
  }
};

TEST_F(Profile, counts_each_function) {
  const ProfileRun one = profiled({"--", PROFILED});
  expect_complete(one);
  EXPECT_EQ(one.of("eleven"), (Counts{11'000, 2'000, 2'000}));  // a return reads, too
  EXPECT_EQ(one.entered("eleven"), 1000);
  EXPECT_EQ(one.entered("main"), 1);
}

/// However the code is cut into traces, and however often traces are discarded: the same, function by function.
TEST_F(Profile, is_the_same_however_code_is_translated) {
  const ProfileRun usual = profiled({"--repeatable", "--", PROFILED});
  const Words ways[] = {{"--block-size", "1"},   {"--block-size", "64"}, {"--cache-limit", "1"},
                        {"--cache-limit", "20"}, {"--hot-from", "10"},   {"--cache-limit", "100", "--hot-from", "10"}};
  for (const Words& way : ways) {
    SCOPED_TRACE(way[0] + " " + way[1]);
    const ProfileRun other = profiled(with(way, {"--repeatable", "--", PROFILED}));
    expect_complete(other);
    for (const Json& function : usual.json["functions"]) {
      const std::string name = function["name"];
      EXPECT_EQ(other.of(name), usual.of(name)) << name;
    }
  }
}

TEST_F(Profile, includes_forked_children_and_threads) {
  const ProfileRun forked = profiled({"--", PROFILED, "fork"});
  expect_complete(forked);
  EXPECT_EQ(forked.of("eleven"), (Counts{13'200, 2'400, 2'400}));
  const ProfileRun threads = profiled({"--", PROFILED, "threads"});
  expect_complete(threads);
  EXPECT_EQ(threads.of("eleven"), (Counts{11'374, 2'068, 2'068}));
  const Finished table = tally({"profile", "-q", "-e", "stores", "--by", "thread", "--", PROFILED, "threads"});
  std::size_t rows = 0;
  std::istringstream lines(table.err);
  for (std::string line; std::getline(lines, line);)
    rows += line.find("profiled") != std::string::npos && line.find('%') != std::string::npos;
  EXPECT_EQ(rows, 3u) << table.err;
}

TEST_F(Profile, of_a_tree_is_whole) {
  expect_complete(
      profiled({"--", "sh", "-c", "for i in 1 2 3; do (/bin/echo $i & /bin/true; wait) | cat; done; wait"}));
  expect_complete(profiled({"--cache-limit", "50", "--", "sh", "-c", "for i in 1 2; do /bin/echo $i | cat; done"}));
}

TEST_F(Profile, of_a_killed_program_has_what_it_counted) {
  const ProfileRun one = profiled({"--", PROFILED, "kill"});
  EXPECT_EQ(one.finished.code(), 137);
  EXPECT_EQ(one.of("eleven"), (Counts{11'000, 2'000, 2'000}));
  EXPECT_EQ(one.json["events"][0]["trust"], "partial");
  EXPECT_EQ(one.json["events"][0]["not_placed"], 0);
}

/// Stacks of functions, and the self count of each.
std::map<std::string, std::int64_t> stacks(Words words) {
  const TemporaryFile file("stacks.txt");
  words.insert(words.begin(), {"profile", "-q", "-e", "instructions", "--format", "folded", "-o", file.path()});
  tally(words);
  std::map<std::string, std::int64_t> made;
  std::istringstream lines(file.content().value_or(""));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t space = line.rfind(' ');
    // The callers of main depend on the C library.
    std::string stack = line.substr(0, space);
    if (const std::size_t main = stack.find(";main"); main != std::string::npos) stack = stack.substr(main + 1);
    made[stack] += std::stoll(line.substr(space + 1));
  }
  return made;
}

std::int64_t sum(const std::map<std::string, std::int64_t>& stacks) {
  std::int64_t all = 0;
  for (const auto& [stack, count] : stacks) all += count;
  return all;
}

TEST_F(Profile, has_stacks_that_add_up) {
  const auto plain = stacks({"--repeatable", "--", PROFILED});
  EXPECT_EQ(plain.at("main;times;eleven"), 11'000);
  for (const Words& command :
       {Words{PROFILED}, Words{PROFILED, "fork"}, Words{PROFILED, "threads"}, Words{PROFILED, "jump"},
        Words{"sh", "-c", "for i in 1 2; do (/bin/echo $i & /bin/true; wait) | cat; done; wait"}}) {
    SCOPED_TRACE(command.back());
    const ProfileRun whole = profiled(with({"--calls", "--repeatable", "--"}, command));
    expect_complete(whole);
    const std::int64_t total = whole.json["events"][0]["value"];
    // Threads and processes that wait for others differ from run to run.
    EXPECT_NEAR(static_cast<double>(sum(stacks(with({"--repeatable", "--"}, command)))), static_cast<double>(total),
                command.back() == "jump" || command.size() == 1 ? 0 : 2000);
  }
  EXPECT_EQ(stacks({"--", PROFILED, "fork"}).at("main;times;eleven"), 13'200);
}

/// Code that an earlier run stored has the same stacks as code that was just translated.
TEST_F(Profile, has_the_same_stacks_with_stored_code) {
  const std::string folder = testing::TempDir() + "tally-kept-calls-" + std::to_string(getpid());
  std::filesystem::remove_all(folder);
  const TemporaryFile file("stacks.txt");
  std::map<std::string, std::string> runs[3];
  for (auto& stacks : runs) {
    const Finished finished =
        run("TALLY_CACHE_DIR=" + folder + " " + TALLY_COMMAND + " profile -q -e instructions --format folded -o " +
            file.path() + " -- " + PROFILED + " fork");
    ASSERT_EQ(finished.code(), 0) << finished.err;
    std::istringstream lines(file.content().value_or(""));
    for (std::string line; std::getline(lines, line);)
      if (const std::size_t main = line.find(";main"); main != std::string::npos)
        stacks[line.substr(main, line.rfind(' ') - main)] = line.substr(line.rfind(' '));
  }
  EXPECT_GT(runs[0].size(), 3u);
  EXPECT_EQ(runs[0], runs[1]);
  EXPECT_EQ(runs[0], runs[2]);
  EXPECT_FALSE(std::filesystem::is_empty(folder)) << "nothing was stored";
  std::filesystem::remove_all(folder);
}

/// Code that was translated again replaces what it was made from. Otherwise each run stores it again.
TEST_F(Profile, does_not_store_more_with_each_run) {
  const std::string folder = testing::TempDir() + "tally-growing-" + std::to_string(getpid());
  std::filesystem::remove_all(folder);
  std::uintmax_t blocks[5] = {};
  for (std::uintmax_t& used : blocks) {
    const Finished finished =
        run("TALLY_CACHE_DIR=" + folder + " " + TALLY_COMMAND + " profile -q --calls -e instructions -o /dev/null" +
            " -- sh -c 'i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done'");
    ASSERT_EQ(finished.code(), 0) << finished.err;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      struct stat s {};
      if (stat(entry.path().c_str(), &s) == 0) used += static_cast<std::uintmax_t>(s.st_blocks);
    }
  }
  EXPECT_LT(blocks[4], blocks[2] + 128) << "in blocks of 512 bytes";
  std::filesystem::remove_all(folder);
}

/// A call through a pointer that the program made read-only is direct, until the program can write it again.
TEST_F(Profile, follows_pointers_that_were_read_only) {
  const auto called = stacks({"--", PROFILED, "link"});
  EXPECT_EQ(called.at("main;call_linked;eleven"), 30 * 12) << "with the jump in the table";
  EXPECT_EQ(called.at("main;call_linked;three"), 7 * 4);
}

/// A frame that longjmp left is not a caller any more.
TEST_F(Profile, follows_longjmp) {
  const auto jumped = stacks({"--", PROFILED, "jump"});
  EXPECT_EQ(jumped.at("main;times;eleven"), 11'550);
  EXPECT_EQ(jumped.at("main;deep;times;eleven"), 55 * 11);
}

/// The calls themselves: their number, and their inclusive counts.
TEST_F(Profile, has_calls_in_callgrinds_form) {
  const TemporaryFile file("callgrind.out");
  ASSERT_EQ(tally({"profile", "-q", "--calls", "-e", "instructions", "--format", "callgrind", "-o", file.path(), "--",
                   PROFILED})
                .code(),
            0);
  const std::string text = file.content().value_or("");
  const std::size_t calls = text.find("calls=1000 ");
  ASSERT_NE(calls, std::string::npos);
  const std::string counts = text.substr(text.find('\n', calls) + 1);
  EXPECT_EQ(counts.substr(0, counts.find('\n')).substr(counts.substr(0, counts.find('\n')).rfind(' ')), " 11000");
  const Finished table = tally({"profile", "-q", "--calls", "--", PROFILED});
  EXPECT_NE(table.err.find("with callees"), std::string::npos);
  // The outermost caller comes first.
  const Finished sorted = tally({"profile", "-q", "--calls", "--sort", "callees", "--", PROFILED});
  EXPECT_NE(sorted.err.find(" main "), std::string::npos) << sorted.err;
  EXPECT_LT(sorted.err.find(" main "), sorted.err.find(" eleven ")) << sorted.err;
}

/// A linked function has its own name, not that of the linkage table entry.
TEST_F(Profile, follows_calls_of_linked_functions) {
  const ProfileRun one = profiled({"--calls", "--", PROFILED, "fork"});
  ASSERT_TRUE(one.json.is_object()) << one.finished.err;
  std::int64_t comparisons = 0;
  for (const Json& call : one.json["calls"]) {
    if (call["caller"].is_null() || one.json["functions"][call["caller"].get<std::size_t>()]["name"] != "main")
      continue;
    const std::string callee = one.json["functions"][call["callee"].get<std::size_t>()]["name"];
    if (callee.find("strcmp") != std::string::npos) comparisons += call["calls"].get<std::int64_t>();
  }
  EXPECT_GE(comparisons, 3) << "all but the first one, which goes through the dynamic linker";
}

TEST_F(Profile, reports_how_the_program_ended) {
  const Finished table = tally({"profile", "-q", "--", PROFILED, "kill"});
  EXPECT_NE(table.err.find("was killed by SIGKILL"), std::string::npos) << table.err;
}

TEST_F(Profile, takes_its_form_from_the_name_of_its_output) {
  for (const auto& [name, begins] : {std::pair{"by.json", "{"}, {"by.html", "<!doctype"}, {"by.pb.gz", "\x1f\x8b"}}) {
    const TemporaryFile file(name);
    ASSERT_EQ(tally({"profile", "-q", "-o", file.path(), "--", PROFILED}).code(), 0);
    EXPECT_TRUE(file.content().value_or("").starts_with(begins)) << name;
  }
}

TEST_F(Profile, keeps_the_exit_code) { EXPECT_EQ(profiled({"--", PROFILED, "fail"}).finished.code(), 3); }

/// Code that the program generated, by the map file that compilers write for perf.
TEST_F(Profile, names_generated_code) {
  const ProfileRun one = profiled({"--by", "process", "--", PROFILED, "make"});
  expect_complete(one);
  EXPECT_EQ(one.of("made here"), (Counts{220, 40, 40}));
  std::filesystem::remove("/tmp/perf-" + one.json["threads"][0]["pid"].dump() + ".map");
  const TemporaryFile file("table");
  tally({"profile", "-q", "-o", file.path(), "--", PROFILED, "make"});
  EXPECT_EQ(file.content().value_or("has no function names").find("has no function names"), std::string::npos);
}

TEST_F(Profile, names_a_file_that_was_deleted) {
  const TemporaryFile copy("gone");
  std::filesystem::copy_file(PROFILED, copy.path(), std::filesystem::copy_options::overwrite_existing);
  std::filesystem::permissions(copy.path(), std::filesystem::perms::owner_all);
  const Finished table = tally({"profile", "-q", "--", copy.path(), "remove"});
  EXPECT_EQ(table.code(), 0);
  EXPECT_NE(table.err.find("main "), std::string::npos) << table.err;
  EXPECT_EQ(table.err.find("has no function names"), std::string::npos) << table.err;
}

/// Functions without symbols are identified by their start addresses, if they can be unwound.
TEST_F(Profile, splits_code_without_symbols) {
  const TemporaryFile stripped("stripped");
  if (run("strip -s -o " + stripped.path() + " " INLINED).code() != 0) GTEST_SKIP() << "strip is not installed";
  const ProfileRun whole = profiled({"--", INLINED}), bare = profiled({"--", stripped.path()});
  expect_complete(bare);
  const std::string file = stripped.path().substr(stripped.path().rfind('/') + 1);
  for (const Json& function : whole.json["functions"]) {
    const std::string name = function["name"];
    if (name != "both" && name != "other" && name != "main") continue;
    std::ostringstream where;
    where << file << "+0x" << std::hex << function["address"].get<std::uint64_t>();
    EXPECT_EQ(bare.of(where.str()), whole.of(name)) << name << " is " << where.str();
    EXPECT_EQ(bare.entered(where.str()), whole.entered(name));
  }
  EXPECT_EQ(bare.of("both"), (Counts{0, 0, 0}));
}

/// The kernel's code in the process.
TEST_F(Profile, names_functions_of_the_vdso) {
  const ProfileRun one = profiled({"--", PROFILED, "time"});
  expect_complete(one);
  EXPECT_EQ(one.entered("__vdso_clock_gettime"), 100);
}

TEST_F(Profile, shows_lines_of_source) {
  const Finished finished = tally({"profile", "-q", "-e", "instructions", "--annotate", "times", "--", PROFILED});
  if (finished.err.find("no line information") != std::string::npos) GTEST_SKIP() << "built without libdw";
  // The call, once for each of a thousand turns.
  EXPECT_NE(finished.err.find("while (n-- > 0) eleven();"), std::string::npos) << finished.err;
  const Finished lines = tally({"profile", "-q", "--lines", "--top", "0", "--", PROFILED});
  EXPECT_NE(lines.err.find("profiled.c:"), std::string::npos) << lines.err;
}

/// clang writes no address table of its units.
TEST_F(Profile, shows_lines_of_programs_of_clang) {
  const TemporaryFile program("compiled");
  if (run("clang-16 -O1 -g -o " + program.path() + " " INLINED_SOURCE).code() != 0)
    GTEST_SKIP() << "clang-16 is not installed";
  const Finished finished = tally({"profile", "-q", "--annotate", "both", "--", program.path()});
  if (finished.err.find("no line information") != std::string::npos &&
      tally({"profile", "-q", "--annotate", "both", "--", INLINED}).code() != 0)
    GTEST_SKIP() << "built without libdw";
  EXPECT_NE(finished.err.find("INLINED three(void)"), std::string::npos) << finished.err;
}

TEST_F(Profile, annotates_one_of_several_functions_of_a_name) {
  const auto annotated = [](const char* name) {
    return tally({"profile", "-q", "-e", "instructions", "--annotate", name, "--", OVERLOADED}).err;
  };
  const std::string both = annotated("f");
  if (both.find("no line information") != std::string::npos) GTEST_SKIP() << "built without libdw";
  EXPECT_TRUE(holds(both, "sums of 2 functions, instructions:u: f(int) ")) << both;
  EXPECT_TRUE(holds(both, ", f(bool) ")) << both;
  EXPECT_TRUE(holds(both, "s = s ^ static_cast<int>(b);")) << both;
  const std::string one = annotated("f(int)");
  EXPECT_TRUE(holds(one, "s = s + i;")) << one;
  EXPECT_FALSE(holds(one, "sums of")) << one;
  EXPECT_TRUE(holds(annotated("convert"), "sums of 2 functions")) << annotated("convert");
  EXPECT_FALSE(holds(annotated("convert<double>"), "sums of")) << annotated("convert<double>");
}

// The second of three runs executes the loop 2,000 times, the others 1,000 and 3,000 times.
TEST_F(Profile, repeats_and_marks_functions_that_differ) {
  const TemporaryFile folder("folder");
  const std::string program = folder.folder() + "/grows", counter = folder.folder() + "/counter";
  std::ofstream(program + ".c") << "#include <stdio.h>\n"
                                   "__attribute__((noinline)) void grows(int n) {\n"
                                   "  for (int i = 0; i < n; i++) __asm__ volatile(\"nop\");\n}\n"
                                   "__attribute__((noinline)) void stays(void) { __asm__ volatile(\"nop\"); }\n"
                                   "int main(int argc, char** argv) {\n  char text[8] = \"\";\n"
                                   "  FILE* f = fopen(argv[argc - 1], \"a+\");\n  fputc('1', f);\n  rewind(f);\n"
                                   "  grows(1000 * (int)fread(text, 1, 8, f));\n  stays();\n  return fclose(f);\n}\n";
  if (run("gcc -O1 -o " + program + " " + program + ".c").code() != 0) GTEST_SKIP() << "gcc is not installed";
  const Finished finished = tally({"profile", "-q", "--repeatable", "-r", "3", "-e", "instructions", "--format", "json",
                                   "-o", folder.folder() + "/r.json", "--", program, counter});
  ASSERT_EQ(finished.code(), 0) << finished.err;
  const Json json = Json::parse(TemporaryFile::read(folder.folder() + "/r.json").value_or(""));
  EXPECT_EQ(json.at("runs"), 3);
  for (const Json& function : json.at("functions")) {
    if (function.at("name") == "stays") EXPECT_FALSE(function.contains("least")) << function;
    if (function.at("name") != "grows") continue;
    const std::int64_t least = function.at("least")[0], most = function.at("most")[0], count = function.at("counts")[0];
    EXPECT_EQ(count - least, most - count) << "the median run";
    EXPECT_GE(count - least, 3000) << function;
  }
  const Finished table = tally({"report", folder.folder() + "/r.json"});
  EXPECT_TRUE(holds(table.out, "3 runs: counts are those of the run with the median of instructions:u; ")) << table.out;
  EXPECT_TRUE(holds(table.out, " spread ")) << table.out;
  const Finished same = tally({"profile", "-q", "--repeatable", "-r", "2", "-e", "instructions", "--", PROFILED});
  EXPECT_TRUE(holds(same.err, "2 runs: ")) << same.err;
  EXPECT_TRUE(holds(same.err, "no function differs between runs")) << same.err;
  EXPECT_EQ(tally({"profile", "-r", "2", "-e", "cpu-clock", "--", "true"}).code(), 2);
  EXPECT_EQ(tally({"profile", "-q", "--repeatable", "-r", "2", "-e", "instructions", "--", "sh", "-c",
                   "test -e " + counter + "2 || { touch " + counter + "2; exit 3; }"})
                .code(),
            125)
      << "the second run ends in another way";
}

TEST_F(Profile, shows_instructions) {
  if (run("command -v objdump").code() != 0) GTEST_SKIP() << "objdump is not installed (package binutils)";
  const Finished finished = tally({"profile", "-q", "--annotate", "eleven", "--asm", "--", PROFILED});
  EXPECT_EQ(finished.code(), 0) << finished.err;
  const std::size_t begin = finished.err.find("eleven (");
  ASSERT_NE(begin, std::string::npos) << finished.err;
  std::istringstream lines(finished.err.substr(begin));
  std::size_t of_a_thousand = 0, returns = 0;
  for (std::string line; std::getline(lines, line);) {
    of_a_thousand += line.find("1,000") != std::string::npos;
    returns += line.find("ret") != std::string::npos;
  }
  EXPECT_EQ(of_a_thousand, 11u) << finished.err;
  EXPECT_EQ(returns, 1u) << finished.err;
}

/// Valgrind's own tools read the files, and show the same counts.
TEST_F(Profile, is_read_by_the_tools_of_valgrind) {
  if (run("command -v callgrind_annotate && command -v cg_annotate && command -v cg_diff").code() != 0)
    GTEST_SKIP() << "valgrind is not installed";
  const TemporaryFile callgrind("callgrind.out"), cachegrind("cachegrind.out");
  ASSERT_EQ(tally({"profile", "-q", "--format", "callgrind", "-o", callgrind.path(), "--", PROFILED}).code(), 0);
  ASSERT_EQ(tally({"profile", "-q", "--format", "cachegrind", "-o", cachegrind.path(), "--", PROFILED}).code(), 0);
  const Finished by_callgrind = run("callgrind_annotate --threshold=100 " + callgrind.path());
  EXPECT_EQ(by_callgrind.code(), 0) << by_callgrind.err;
  EXPECT_NE(by_callgrind.out.find("11,000"), std::string::npos) << by_callgrind.out;
  const Finished by_cachegrind = run("cg_annotate " + cachegrind.path());
  EXPECT_EQ(by_cachegrind.code(), 0) << by_cachegrind.err;
  EXPECT_NE(by_cachegrind.out.find("11,000"), std::string::npos) << by_cachegrind.out;
  EXPECT_EQ(run("cg_diff " + cachegrind.path() + " " + cachegrind.path()).code(), 0);
}

/// Function by function and line by line the counts of callgrind, for a program whose code does not depend on the
/// processor.
TEST_F(Profile, counts_what_callgrind_counts) {
  const TemporaryFile theirs("callgrind.out");
  const Finished valgrind =
      run("valgrind -q --tool=callgrind --skip-plt=no --callgrind-out-file=" + theirs.path() + " " PROFILED);
  if (valgrind.code() != 0) GTEST_SKIP() << "valgrind does not run here";
  const TemporaryFile ours("ours.out");
  ASSERT_EQ(
      tally({"profile", "-q", "-e", "instructions", "--format", "callgrind", "-o", ours.path(), "--", PROFILED}).code(),
      0);
  const auto own_functions = [](const std::string& file) {
    std::map<std::string, std::string> counts;
    std::istringstream lines(run("callgrind_annotate --threshold=100 --show-percs=no " + file).out);
    for (std::string line; std::getline(lines, line);) {
      if (line.find("[" PROFILED "]") == std::string::npos) continue;
      std::istringstream words(line);
      std::string count, place;
      words >> count >> place;
      const std::string name = place.substr(place.rfind(':') + 1);
      if (name == "main" || name == "times" || name == "eleven") counts[name] = count;
    }
    return counts;
  };
  EXPECT_EQ(own_functions(ours.path()), own_functions(theirs.path()));
  EXPECT_EQ(own_functions(ours.path()).size(), 3u);
}

/// Sources from Windows, and generated ones: no carriage returns, and no line of megabytes.
TEST_F(Profile, annotates_any_source) {
  const TemporaryFile source("any.c", "int main(void) {\r\n  volatile int s = 0; /* " + std::string(100'000, 'x') +
                                          " */\r\n  for (int i = 0; i < 10; i++) s += i;\r\n  return 0;\r\n}\r\n"),
      program("any");
  if (run("gcc -g -o " + program.path() + " " + source.path()).code() != 0) GTEST_SKIP() << "gcc builds nothing here";
  const Finished annotated =
      tally({"profile", "-q", "--backend", "engine", "--top", "1", "--annotate", "any.c", "--", program.path()});
  EXPECT_EQ(annotated.code(), 0) << annotated.err;
  EXPECT_NE(annotated.err.find("s += i;\n"), std::string::npos) << annotated.err.substr(0, 5000);
  EXPECT_NE(annotated.err.find("xxx…"), std::string::npos);
  EXPECT_LT(annotated.err.size(), 10'000u);
}

/// The name of the output selects its form; an image is not one.
TEST_F(Profile, takes_the_form_from_the_name_of_the_output) {
  for (const auto& [name, begins] : {std::pair{"x.folded", "profiled "},
                                     {"x.speedscope.json", "{\"$schema\":\"https://www.speedscope.app"},
                                     {"callgrind.out.17", "# callgrind format\n"},
                                     {"cachegrind.out.17", "desc: tally profile\n"},
                                     {"x.html", "<!"},
                                     {"x.json", "{\n"},
                                     {"default.pgo", "\x1f\x8b"},
                                     {"x.txt", "/"}}) {
    const TemporaryFile file(name);
    const Finished finished =
        tally({"profile", "-q", "--backend", "engine", "-e", "instructions", "-o", file.path(), "--", PROFILED});
    EXPECT_EQ(finished.code(), 0) << finished.err;
    EXPECT_EQ(file.content().value_or("").substr(0, std::string(begins).size()), begins) << name;
  }
  const Finished picture = tally({"profile", "-q", "-o", "x.svg", "--", PROFILED});
  EXPECT_EQ(picture.code(), 2);
  EXPECT_NE(picture.err.find("cannot write a profile as a picture"), std::string::npos) << picture.err;
}

TEST_F(Profile, refuses_what_it_cannot_do) {
  const std::pair<Words, std::string> wrong[] = {
      {{"profile"}, "missing PROGRAM"},
      {{"profile", "--by", "colour", "--", "true"}, "--by colour"},
      {{"profile", "--format", "xml", "--", "true"}, "unknown format"},
      {{"profile", "--top", "-1", "--", "true"}, "--top"},
      {{"profile", "--backend", "engine", "-e", "page-faults", "--", "true"}, "page-faults cannot be profiled"},
      {{"profile", "--calls", "--parts", "--format", "callgrind", "-e", "cycles", "--", "true"},
       "--parts with --calls cannot record events of a model"},
      {{"profile", "--calls", "-e", "cycles,loads,stores,calls,returns", "--", "true"}, "more than 3 counted events"},
      {{"profile", "--model", "no-such-machine", "-e", "cycles", "--", "true"}, "no-such-machine"},
      {{"profile", "--backend", "engine", "--calls", "-e", "instructions,loads,stores,calls,returns", "--", "true"},
       "more than 4 events"},
      {{"profile", "--asm", "--", "true"}, "--asm needs --annotate"},
      {{"profile", "--sort", "name", "--", "true"}, "--sort name: unknown order"},
      {{"profile", "--sort", "callees", "--", "true"}, "--sort callees needs --calls"},
      {{"profile", "--calls", "--by", "thread", "--", "true"}, "--calls needs one row per function"},
      {{"profile", "--format", "folded", "-e", "loads,stores", "--", "true"}, "can hold only one event"},
      {{"profile", "--annotate", "main", "--format", "json", "--", "true"}, "--annotate needs the table format"},
  };
  for (const auto& [words, message] : wrong) {
    const Finished finished = tally(words);
    EXPECT_EQ(finished.code(), 2) << message;
    EXPECT_NE(finished.err.find(message), std::string::npos) << finished.err;
  }
  const Finished unknown = tally({"profile", "-q", "--annotate", "no_such_function", "--", PROFILED});
  EXPECT_EQ(unknown.code(), 2);
  EXPECT_NE(unknown.err.find("is called no_such_function"), std::string::npos) << unknown.err;
}

}  // namespace
}  // namespace tally::test
