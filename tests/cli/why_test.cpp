// `tally compare --why`: names the function where two executions part, and the source of the difference.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

/// Two results of `tally stat --path-hash`.
struct Results {
  TemporaryFile before{"before.json"}, after{"after.json"};

  /// Measures one of them.
  static void measure(const TemporaryFile& file, const Words& options, const Words& program) {
    const Finished run = tally(with(with({"stat", "-q", "--backend", "engine", "-e", "instructions", "--path-hash",
                                          "--path-interval", "20000", "-o", file.path()},
                                         options),
                                    with({"--"}, program)));
    EXPECT_EQ(run.code(), 0) << run.err;
  }
  Finished why() const { return tally({"compare", "--why", before.path(), after.path()}); }
};

struct Planted {
  const char* name;
  const char* cause;                 ///< in the line about the cause
  const char* function;              ///< that has the difference
  Words options = {"--repeatable"};  ///< so that the addresses of strings do not differ, too, by which strcmp() goes on
  const char* program = PARTING;
};
std::ostream& operator<<(std::ostream& stream, const Planted& one) { return stream << one.name; }

class PlantedDifferences : public testing::TestWithParam<Planted> {};

TEST_P(PlantedDifferences, are_named_with_their_function) {
  const Planted& planted = GetParam();
  const Results results;
  Results::measure(results.before, planted.options, {planted.program, planted.name});
  Finished why{};
  // Two threads may by chance race for a lock in the same way, and 20 runs may be in one second.
  for (int attempt = 0; attempt < 200 && (attempt == 0 || holds(why.out, " are equal\n")); attempt++) {
    Results::measure(results.after, planted.options, {planted.program, planted.name});
    why = results.why();
  }
  EXPECT_EQ(why.code(), 0) << why.err;
  const auto cause = why.out.find("cause: ");
  ASSERT_NE(cause, std::string::npos) << why.out << why.err;
  EXPECT_TRUE(holds(why.out.substr(cause), planted.cause)) << why.out;
  EXPECT_TRUE(holds(why.out, planted.function)) << why.out;
}

INSTANTIATE_TEST_SUITE_P(cli, PlantedDifferences,
                         testing::Values(Planted{"pid", "pid, read in", "seed_by_pid"},
                                         Planted{"clock", "clock, read in", "hash_with_clock"},
                                         Planted{"second", "clock, read in", "seed_by_second"},
                                         Planted{"random", "getrandom, read in", "seed_by_random", {}, STATIC_PARTING},
                                         Planted{"addresses", "addresses: ", "order_by_address", {}, STATIC_PARTING},
                                         Planted{"lock", "thread", "share_lock"}),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(Why, names_the_instruction_that_asks_for_the_processor) {
  const Results results;
  Results::measure(results.before, {"--cpu-model", "x86-64-v2", "--repeatable"}, {STATIC_PARTING, "processor"});
  Results::measure(results.after, {"--cpu-model", "x86-64-v3", "--repeatable"}, {STATIC_PARTING, "processor"});
  const std::string text = results.why().out;
  EXPECT_TRUE(holds(text, "cause: cpuid, read in ")) << text;
  EXPECT_TRUE(holds(text, "CPU model: x86-64-v2 and x86-64-v3")) << text;
}

TEST(Why, names_the_variable_of_the_environment) {
  const Results results;
  Results::measure(results.before, {"--repeatable"}, {PARTING, "variable"});
  ::setenv("TALLY_TEST_CHOICE", "1", 1);
  Results::measure(results.after, {"--repeatable"}, {PARTING, "variable"});
  const std::string text = results.why().out;
  ::unsetenv("TALLY_TEST_CHOICE");
  EXPECT_TRUE(holds(text, "cause: the environment variable TALLY_TEST_CHOICE")) << text;
}

/// A result of the program that does the work of the number in TALLY_TEST_CHOICE, under env(1).
void measure_choice(const TemporaryFile& file, const Words& variables, const Words& options) {
  const Words stat =
      tally_words(with({"stat", "-q", "--backend", "engine", "-e", "instructions", "--path-hash", "-o", file.path()},
                       with(options, {"--", PARTING, "choice"})));
  const Finished run = Running(with(with({"/usr/bin/env"}, variables), stat)).finish();
  EXPECT_EQ(run.code(), 0) << run.err;
}

TEST(Why, counts_what_each_of_several_differences_adds) {
  const Results results;
  measure_choice(results.before, {"TALLY_TEST_CHOICE=1"}, {});
  measure_choice(results.after, {"TALLY_TEST_CHOICE=5", "TALLY_TEST_OTHER=2"}, {});
  const std::string text = tally({"compare", "--why", "--env", "TALLY_TEST_CHOICE=1", "--env", "TALLY_TEST_CHOICE=5",
                                  "--env", "TALLY_TEST_OTHER=2", results.before.path(), results.after.path()})
                               .out;
  EXPECT_TRUE(holds(text, "cause of this first parting: the environment variable TALLY_TEST_OTHER")) << text;
  EXPECT_TRUE(holds(text, "  environment: TALLY_TEST_CHOICE (another value of 1 byte): +")) << text;
  EXPECT_TRUE(holds(text, "  environment: TALLY_TEST_OTHER (only in the second, 1 byte): +")) << text;
  // The sum of both, as of the whole.
  const auto number_after = [&](const std::string& words) {
    std::string digits;
    for (std::size_t at = text.find(words) + words.size(); at < text.size() && text[at] != '\n' && text[at] != ';';
         ++at)
      if (text[at] != ',') digits += text[at];
    return std::atoll(digits.c_str());
  };
  const auto choice = number_after("TALLY_TEST_CHOICE (another value of 1 byte): +");
  EXPECT_GT(choice, 4 * 1000 * 3);
  EXPECT_EQ(choice + number_after("TALLY_TEST_OTHER (only in the second, 1 byte): +"), number_after("together: +"));
  // The stored runs had random addresses.
  EXPECT_NEAR(static_cast<double>(number_after("together: +")),
              static_cast<double>(number_after("in the stored runs: +")), 500);
  const std::string without = results.why().out;
  EXPECT_TRUE(holds(without, "TALLY_TEST_CHOICE (another value of 1 byte): not separated: ")) << without;
  EXPECT_TRUE(holds(without, "; without what the difference of unknown value adds;")) << without;
  EXPECT_FALSE(holds(text, "of unknown value")) << text;
}

TEST(Why, names_an_option_and_not_the_variables_that_it_sets) {
  const Results results;
  measure_choice(results.before, {"TALLY_TEST_CHOICE=1"}, {"--repeatable"});
  measure_choice(results.after, {"TALLY_TEST_CHOICE=1"}, {});
  const std::string text = results.why().out;
  EXPECT_TRUE(holds(text, "  option --repeatable: only in the first\n")) << text;
  EXPECT_TRUE(holds(text, "cause: option --repeatable: only in the first\n")) << text;
  EXPECT_FALSE(holds(text, "GLIBC_TUNABLES")) << text;
}

TEST(Why, every_run_reads_the_same_from_a_pipe) {
  const Results results;
  for (const auto& [file, input] : {std::pair{&results.before, "abc"}, std::pair{&results.after, "abcdefgh"}}) {
    const Finished run = Running({"/bin/sh", "-c", "i=$1; shift; printf $i | exec \"$@\"", "sh", input, TALLY_COMMAND,
                                  "stat", "-q", "--backend", "engine", "-e", "instructions", "--path-hash",
                                  "--repeatable", "-o", file->path(), "--", PARTING, "input"})
                             .finish();
    EXPECT_EQ(run.code(), 0) << run.err;
  }
  const Finished why = Running({"/bin/sh", "-c", "printf abc | exec \"$@\"", "sh", TALLY_COMMAND, "compare", "--why",
                                results.before.path(), results.after.path()})
                           .finish();
  EXPECT_TRUE(holds(why.out, "both commands took the same path")) << why.out;
  EXPECT_TRUE(holds(why.out, "standard input was a pipe")) << why.out;
}

TEST(Why, names_the_reader_of_a_directory_in_another_order) {
  const Results results;
  const TemporaryFile one("b"), two("z");
  for (const auto& [file, name] : {std::pair{&one, "a"}, std::pair{&two, "q"}}) {
    std::ofstream(file->path()) << "";
    std::ofstream(file->folder() + "/" + name) << "";
  }
  Results::measure(results.before, {"--repeatable"}, {PARTING, "listing", one.folder()});
  Results::measure(results.after, {"--repeatable"}, {PARTING, "listing", two.folder()});
  const std::string text = results.why().out;
  EXPECT_TRUE(holds(text, "cause: file listing, read in ")) << text;
  EXPECT_TRUE(holds(text, "hash_in_order")) << text;
  std::filesystem::remove(one.folder() + "/a");
  std::filesystem::remove(two.folder() + "/q");
}

TEST(Why, reports_equal_paths) {
  const Results results;
  Results::measure(results.before, {"--repeatable"}, {PARTING, "none"});
  Results::measure(results.after, {"--repeatable"}, {PARTING, "none"});
  EXPECT_EQ(results.why().out, "the paths of 1 thread are equal\n");
}

TEST(Why, without_hashes_compares_what_was_read) {
  const Results results;
  for (const auto& [file, name] : {std::pair{&results.before, "none"}, std::pair{&results.after, "pid"}})
    tally({"stat", "-q", "--backend", "engine", "-e", "instructions", "-o", file->path(), "--", PARTING, name});
  const Finished why = results.why();
  EXPECT_EQ(why.code(), 0);
  EXPECT_TRUE(holds(why.out, "  pid: not read and 1, first in ")) << why.out;
  EXPECT_TRUE(holds(why.out, "seed_by_pid")) << why.out;
  EXPECT_TRUE(holds(why.out, "--path-hash")) << why.out;
}

TEST(Why, refuses_a_program_that_has_changed) {
  const Results results;
  const TemporaryFile copy("prog");
  std::filesystem::copy_file(PARTING, copy.path());
  Results::measure(results.before, {}, {copy.path(), "pid"});
  Results::measure(results.after, {}, {copy.path(), "pid"});
  std::filesystem::last_write_time(copy.path(), std::filesystem::file_time_type::clock::now());
  const Finished why = results.why();
  EXPECT_EQ(why.code(), 125);
  EXPECT_TRUE(holds(why.err, "has changed since")) << why.err;
  EXPECT_TRUE(holds(why.out, "the paths of thread 1 of prog part between ")) << why.out;
}

TEST(Why, says_that_a_difference_cannot_be_reproduced) {
  const Results results;
  const TemporaryFile folder("b");
  std::ofstream(folder.path()) << "";
  Results::measure(results.before, {"--repeatable"}, {PARTING, "listing", folder.folder()});
  std::ofstream(folder.folder() + "/q") << "";
  Results::measure(results.after, {"--repeatable"}, {PARTING, "listing", folder.folder()});
  const Finished why = results.why();
  EXPECT_TRUE(holds(why.out, "the runs could not be reproduced: ")) << why.out;
  EXPECT_TRUE(holds(why.out, "part between ")) << why.out;
  std::filesystem::remove(folder.folder() + "/q");
}

TEST(Repetitions, with_different_exact_counts_name_what_was_read) {
  const Words stat{"stat", "-q", "--backend", "engine", "-e", "instructions", "-r", "3"};
  const Words fixed = with({"/usr/bin/env", "setarch", "-R"}, tally_words(with(stat, {"--", PARTING, "random"})));
  const Finished differ = Running(fixed).finish();
  EXPECT_TRUE(holds(differ.err, "the runs differ, and the program read: ")) << differ.err;
  EXPECT_TRUE(holds(differ.err, "called by seed_by_random (parting)")) << differ.err;
  const Finished equal = tally(with(stat, {"--repeatable", "--", PARTING, "random"}));
  EXPECT_FALSE(holds(equal.err, "the runs differ")) << equal.err;
}

TEST(Repetitions, with_different_exact_counts_name_randomised_addresses_first) {
  if (TemporaryFile::read("/proc/sys/kernel/randomize_va_space") == "0\n") GTEST_SKIP() << "the kernel fixes addresses";
  const Finished differ =
      tally({"stat", "-q", "--backend", "engine", "-e", "instructions", "-r", "3", "--", PARTING, "random"});
  EXPECT_TRUE(holds(differ.err,
                    "the runs differ, and each run has other addresses (address randomisation, which "
                    "`--repeatable` turns off), and the program read: "))
      << differ.err;
}

TEST(Why, is_refused_with_gates_and_for_other_files) {
  const Results results;
  EXPECT_EQ(tally({"compare", "--why", "--fail-above", "instructions=1%", "a.json", "b.json"}).code(), 2);
  std::ofstream(results.before.path()) << "{}";
  std::ofstream(results.after.path()) << "{}";
  EXPECT_EQ(results.why().code(), 2);
}

// A hostile file could otherwise show one command and run another.
TEST(Why, runs_only_the_command_that_the_result_names) {
  const Results results;
  Results::measure(results.before, {"--repeatable"}, {PARTING, "pid"});
  Results::measure(results.after, {"--repeatable"}, {PARTING, "clock"});
  const std::string stored = results.before.content().value_or("");
  for (const char* const command : {R"(["true"])", "[]"}) {
    auto document = nlohmann::ordered_json::parse(stored);
    document["command"] = nlohmann::ordered_json::parse(command);
    const TemporaryFile other("other.json", document.dump());
    const Finished finished = tally({"compare", "--why", other.path(), results.after.path()});
    EXPECT_EQ(finished.code(), 2) << finished.out << finished.err;
  }
}

}  // namespace
}  // namespace tally::test
