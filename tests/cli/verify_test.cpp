// `tally verify` as a user runs it: programs that are listed and written, and the counters of the machine that the
// tests run on.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "tally/core/base/full_run_testing.hpp"
#include "tests/cli/host.hpp"
#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

using Json = nlohmann::json;

// The folder in which tally keeps its own files during the test.
class OwnFolder {
 public:
  explicit OwnFolder(const std::string& folder) {
    if (const char* before = std::getenv("TALLY_CACHE_DIR")) before_ = before;
    setenv("TALLY_CACHE_DIR", folder.c_str(), 1);
  }
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;
  ~OwnFolder() {
    if (before_) {
      setenv("TALLY_CACHE_DIR", before_->c_str(), 1);
    } else {
      unsetenv("TALLY_CACHE_DIR");
    }
  }

 private:
  std::optional<std::string> before_;
};

TEST(Verify, lists_its_programs_with_their_formulas) {
  const Finished listed = tally({"verify", "--list"});
  EXPECT_EQ(listed.code(), 0);
  EXPECT_EQ(listed.err, "");
  EXPECT_NE(listed.out.find("countdown"), std::string::npos);
  EXPECT_NE(listed.out.find("2n + 5"), std::string::npos);
}

TEST(Verify, writes_programs_that_run_and_what_they_do) {
  const TemporaryFile place("unused");
  const std::string folder = place.folder() + "/new/programs";
  const Finished written = tally({"verify", "--write", folder, "-n", "1000", "--program", "countdown"});
  ASSERT_EQ(written.code(), 0) << written.err;
  const std::string program = folder + "/countdown-1000";
  struct stat file {};
  ASSERT_EQ(stat(program.c_str(), &file), 0);
  EXPECT_NE(file.st_mode & S_IXUSR, 0u);
  EXPECT_EQ(Running({program}).finish().code(), 0);
  const auto readme = TemporaryFile::read(folder + "/README.md");
  ASSERT_TRUE(readme);
  EXPECT_NE(readme->find("| countdown-1000 | 2,005 | 1,001 | 1,000 | 999 | 1 | 0 | 0 |"), std::string::npos) << *readme;
  std::filesystem::remove_all(place.folder() + "/new");
}

TEST(Verify, refuses_what_it_cannot_write) {
  EXPECT_EQ(tally({"verify", "--write", "/dev/null/no"}).code(), 125);
  const Finished unknown = tally({"verify", "--write", "/tmp", "--program", "contdown"});
  EXPECT_EQ(unknown.code(), 2);
  EXPECT_NE(unknown.err.find("countdown"), std::string::npos) << unknown.err;
  EXPECT_EQ(tally({"verify", "--write", "/tmp", "--program", "countdown", "-n", "3000000000"}).code(), 2);
  EXPECT_EQ(tally({"verify", "-n", "5"}).code(), 2);
  EXPECT_EQ(tally({"verify", "-e", "context-switches"}).code(), 2);
  EXPECT_EQ(tally({"verify", "-e", "instructions:k"}).code(), 2);
  EXPECT_EQ(tally({"verify", "--backend", "abacus"}).code(), 2);
}

TEST(Verify, without_counters_the_kernels_count_of_page_faults_is_graded) {
  const Finished none = tally({"verify", "--quick", "--backend", "none", "--json"});
  if (none.code() == 125) GTEST_SKIP() << "page faults may not be counted here: " << none.err;
  const Json result = Json::parse(none.out);
  for (const Json& check : result["checks"]) {
    if (check["goal"] != "T6") {
      EXPECT_EQ(check["verdict"], "inconclusive") << check;
      continue;
    }
    if (check["verdict"] == "inconclusive") GTEST_SKIP() << check["why"];
    EXPECT_EQ(check["verdict"], "pass") << check;
    EXPECT_GT(check["runs"], 40);
  }
  EXPECT_EQ(tally({"verify", "--quick", "--backend", "none", "-e", "instructions"}).code(), 125);
}

TEST(Verify, a_complete_result_is_stored) {
  const TemporaryFile place("unused");
  const std::string kept = place.folder() + "/verify-none.json";
  const OwnFolder own(place.folder());
  const int quick_verify = tally({"verify", "--quick", "--backend", "none"}).code();
  EXPECT_FALSE(std::filesystem::exists(kept)) << "a quick result is not stored";
  const int whole = tally({"verify", "--backend", "none"}).code();
  if (quick_verify == 125) GTEST_SKIP() << "page faults may not be counted here";
  EXPECT_EQ(whole, quick_verify);
  const auto text = TemporaryFile::read(kept);
  ASSERT_TRUE(text);
  EXPECT_EQ(Json::parse(*text)["schema"], "tally-verify/2");
  std::filesystem::remove(kept);
}

#if TALLY_HAS_ENGINE
Json quick_verify(const Words& more = {}) {
  Words words{"verify", "--quick", "--backend", "engine", "--json"};
  words.insert(words.end(), more.begin(), more.end());
  const Finished finished = tally(words);
  EXPECT_EQ(finished.code(), 0) << finished.out << finished.err;
  return Json::parse(finished.out);
}

TEST(Verify, the_engine_is_exact) {
  if (!kernel_describes_caches()) GTEST_SKIP() << "the kernel describes no caches: there is no model of this machine";
  const Json result = quick_verify();
  EXPECT_EQ(result["schema"], "tally-verify/2");
  EXPECT_EQ(result["verdict"], "pass");
  int exact = 0;
  for (const Json& event : result["events"]) {
    EXPECT_TRUE(event["grade"] == "exact" || event["grade"] == "speculative") << event;
    if (event["grade"] == "exact") {
      ++exact;
      EXPECT_EQ(event["furthest"], 0) << event;
      EXPECT_GT(event["runs"], 50) << event;
    }
  }
  EXPECT_EQ(exact, 16);
  for (const Json& check : result["checks"]) {
    if (check["verdict"] == "inconclusive") {
      EXPECT_TRUE(check["goal"] == "G8" || check["goal"] == "G16" || check["goal"] == "G19" || check["goal"] == "G22" ||
                  check["goal"] == "T3")
          << check;
      EXPECT_NE(check["why"], nullptr);
    }
  }
}

TEST(Verify, grades_the_events_that_are_named) {
  const Json result = quick_verify({"-e", "conditional-branches,loads"});
  ASSERT_EQ(result["events"].size(), 2u);
  EXPECT_EQ(result["events"][0]["event"], "conditional-branches:u");
  for (const Json& check : result["checks"]) {
    const auto event = check["event"];
    EXPECT_TRUE(event.is_null() || event == "conditional-branches:u" || event == "loads:u") << check;
  }
}

TEST(Verify, noise_is_listed_repeats_and_is_corrected) {
  const Words words{"-e", "instructions,conditional-branches", "--noise", "seed=5,irq=3"};
  Json first = quick_verify(words);
  Json second = quick_verify(words);
  EXPECT_EQ(first["noise"], "seed=5,irq=3,fault=1");
  EXPECT_EQ(first["events"][0]["grade"], "correctable");
  EXPECT_EQ(first["events"][0]["each"], 1);
  EXPECT_EQ(first["events"][1]["grade"], "exact");
  EXPECT_EQ(first["events"], second["events"]);
  EXPECT_EQ(tally({"verify", "--noise", "weather=bad"}).code(), 2);
}

TEST(Verify, a_result_in_a_file_leaves_the_answer_on_the_terminal) {
  const TemporaryFile file("result.json");
  const Finished finished =
      tally({"verify", "--quick", "--backend", "engine", "-e", "instructions", "--json", "-o", file.path()});
  EXPECT_EQ(finished.code(), 0);
  EXPECT_EQ(finished.out, "");
  EXPECT_NE(finished.err.find("can be trusted"), std::string::npos) << finished.err;
  EXPECT_EQ(Json::parse(*file.content())["verdict"], "pass");
}

// Like a stored verification of the machine, if it had a PMU that counts wrong.
TEST(Verify, a_stored_result_is_mentioned_by_stat_if_it_matters) {
  Json kept = quick_verify({"-e", "instructions,loads"});
  kept["events"][0]["grade"] = "unusable";
  kept["events"][0]["why"] = "it is made up";
  const TemporaryFile file("verify-engine.json", kept.dump());
  const OwnFolder own(file.folder());
  const Finished both = tally({"stat", "--backend", "engine", "-e", "instructions,loads", "--", "/bin/true"});
  const Finished other = tally({"stat", "--backend", "engine", "-e", "loads", "--", "/bin/true"});
  kept["environment"]["microcode"] = "another one";
  std::ofstream(file.path()) << kept.dump();
  const Finished elsewhere = tally({"stat", "--backend", "engine", "-e", "instructions", "--", "/bin/true"});
  EXPECT_NE(both.err.find("found instructions:u unusable on this machine: it is made up"), std::string::npos)
      << both.err;
  EXPECT_EQ(other.err.find("unusable"), std::string::npos) << other.err;
  EXPECT_EQ(elsewhere.err.find("unusable"), std::string::npos) << elsewhere.err;
}

// Without a PMU the single-stepper replaces it.
TEST(Verify, a_program_is_counted_in_two_ways) {
  const TemporaryFile place("unused");
  const std::string folder = place.folder() + "/programs";
  ASSERT_EQ(tally({"verify", "--write", folder, "-n", "200", "--program", "loop_movsb"}).code(), 0);
  const Finished finished = tally({"verify", "--json", "--", folder + "/loop_movsb-200"});
  ASSERT_EQ(finished.code(), 0) << finished.out << finished.err;
  const Json result = Json::parse(finished.out);
  EXPECT_EQ(result["verdict"], "pass");
  ASSERT_EQ(result["compared"].size(), 16u);
  EXPECT_EQ(result["compared"][0]["exact"], 408);
  EXPECT_EQ(tally({"verify", "--"}).code(), 2);
  EXPECT_EQ(tally({"verify", "--", "/nonexistent"}).code(), 127);
  std::filesystem::remove_all(folder);
}

/// A program that behaves the same in each run, and the command that builds it.
struct SourceProgram {
  const char* name;
  const char* file;
  const char* text;
  const char* build;  ///< of `source` in the working directory: the program `prog`
};

std::ostream& operator<<(std::ostream& stream, const SourceProgram& one) { return stream << one.name; }

constexpr const char* c_source =
    "#include <stdio.h>\n#include <stdlib.h>\n#include <time.h>\n#include <unistd.h>\n"
    "int main(void) { char* p = malloc(5000); for (int i = 0; i < 5000; i++) p[i] = (char)(i * 7);\n"
    "  unsigned s = 0; for (int i = 0; i < 5000; i++) s = s * 31 + (unsigned char)p[i];\n"
    "  printf(\"%u %d %ld\\n\", s, time(0) > 0, sysconf(_SC_NPROCESSORS_ONLN)); free(p); return 3; }\n";
constexpr const char* cpp_source =
    "#include <iostream>\n#include <map>\n#include <string>\n"
    "int main() { std::map<std::string, int> all; for (int i = 0; i < 20; ++i) all[std::to_string(i)] += i;\n"
    "  std::cout << all.size() << std::endl; }\n";
constexpr const char* rust_source =
    "fn main() { let mut all: Vec<String> = (0..20).map(|i| i.to_string()).collect(); all.sort();\n"
    "  println!(\"{}\", all.join(\" \")); }\n";

class VerifyProgram : public testing::TestWithParam<SourceProgram> {};

// Both methods run a program under the same conditions: it has a C library, whose code depends on them.
TEST_P(VerifyProgram, with_a_library_agrees) {
  if (Json::parse(tally({"doctor", "--json"}).out)["hardware"].get<bool>()) GTEST_SKIP() << "there is a PMU";
  // Its start alone is a million instructions.
  if (GetParam().name == std::string("cpp") && !is_full_run()) GTEST_SKIP() << "only in ./dev test --all";
  const TemporaryFile source(GetParam().file, GetParam().text);
  const Finished built = shell("cd " + source.folder() + " && " + GetParam().build + " " + GetParam().file);
  if (built.code() != 0) GTEST_SKIP() << "it cannot be built here: " << built.err;
  const std::string program = source.folder() + "/prog";
  const Finished finished =
      tally({"verify", "--budget", "600", "--json", "-o", source.folder() + "/result.json", "--", program});
  EXPECT_EQ(finished.code(), 0) << finished.err << TemporaryFile::read(source.folder() + "/result.json").value_or("");
  std::filesystem::remove(source.folder() + "/result.json");
  std::filesystem::remove(program);
}

INSTANTIATE_TEST_SUITE_P(Built, VerifyProgram,
                         testing::Values(SourceProgram{"c", "p.c", c_source, "cc -O1 -o prog"},
                                         SourceProgram{"c_static", "p.c", c_source, "cc -O1 -static -o prog"},
                                         SourceProgram{"cpp", "p.cpp", cpp_source, "c++ -O1 -o prog"},
                                         SourceProgram{"cpp_static", "p.cpp", cpp_source, "c++ -O1 -static -o prog"},
                                         SourceProgram{"rust", "p.rs", rust_source, "rustc -O -o prog"}),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(Verify, a_program_of_the_distribution_agrees) {
  if (Json::parse(tally({"doctor", "--json"}).out)["hardware"].get<bool>()) GTEST_SKIP() << "there is a PMU";
  for (const Words& program : {Words{"/bin/true"}, Words{"/bin/sh", "-c", "/bin/echo a; exit 0"}}) {
    const Finished finished = tally(with({"verify", "--budget", "600", "--"}, program));
    EXPECT_EQ(finished.code(), 0) << program.front() << finished.out << finished.err;
  }
}

// A program that waits takes longer than its steps.
TEST(Verify, stepping_ends_with_its_budget) {
  if (Json::parse(tally({"doctor", "--json"}).out)["hardware"].get<bool>()) GTEST_SKIP() << "there is a PMU";
  const TemporaryFile source(
      "p.c",
      "static long call(long number, void* one) { long r; asm volatile(\"syscall\" : \"=a\"(r) : "
      "\"a\"(number), \"D\"(one), \"S\"(0) : \"rcx\", \"r11\", \"memory\"); return r; }\n"
      "void _start(void) { long time[2] = {1, 500000000}; call(35, time); call(60, 0); }\n");
  const std::string program = source.folder() + "/prog";
  const Finished built = shell("cc -O1 -static -nostdlib -o " + program + " " + source.path());
  if (built.code() != 0) GTEST_SKIP() << "it cannot be built here: " << built.err;
  const Finished finished = tally({"verify", "--budget", "1", "--", program});
  EXPECT_EQ(finished.code(), 125) << finished.out;
  EXPECT_NE(finished.out.find("   - instructions:u, branches:u, far-branches:u, "), std::string::npos) << finished.out;
  EXPECT_NE(finished.out.find("not counted: single-stepping did"), std::string::npos) << finished.out;
  EXPECT_NE((finished.out + finished.err).find("--budget 3 gives"), std::string::npos) << finished.out << finished.err;
  std::filesystem::remove(program);
}

TEST(Verify, a_long_program_is_stepped_through_only_on_request) {
  if (Json::parse(tally({"doctor", "--json"}).out)["hardware"].get<bool>()) GTEST_SKIP() << "there is a PMU";
  const TemporaryFile place("unused");
  const std::string folder = place.folder() + "/programs";
  ASSERT_EQ(tally({"verify", "--write", folder, "--program", "countdown", "-n", "3000000"}).code(), 0);
  const Finished refused = tally({"verify", "--", folder + "/countdown-3000000"});
  EXPECT_EQ(refused.code(), 125);
  EXPECT_NE(refused.err.find("--budget"), std::string::npos) << refused.err;
  ASSERT_EQ(tally({"verify", "--write", folder, "-n", "20000000", "--program", "rep_movsb"}).code(), 0);
  const Finished repeats = tally({"verify", "--", folder + "/rep_movsb-20000000"});
  EXPECT_NE(repeats.err.find("20,000,009 instructions and iterations of REP"), std::string::npos) << repeats.err;
  std::filesystem::remove_all(folder);
}

TEST(Verify, an_unwritable_output_is_reported_first) {
  const Finished refused = tally({"verify", "--backend", "engine", "-o", "/nonexistent/result"});
  EXPECT_EQ(refused.code(), 125);
  EXPECT_EQ(refused.out, "");
}

TEST(Verify, a_page_is_made_of_its_result) {
  const TemporaryFile file("result.json");
  ASSERT_EQ(tally({"verify", "--quick", "--backend", "engine", "-e", "loads", "--json", "-o", file.path()}).code(), 0);
  const Finished page = tally({"report", file.path()});
  EXPECT_EQ(page.code(), 0) << page.err;
  EXPECT_NE(page.out.find("Counters verified"), std::string::npos);
  EXPECT_NE(page.out.find("loads:u"), std::string::npos);
}
#endif

}  // namespace
}  // namespace tally::test
