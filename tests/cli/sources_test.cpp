// The list `nondeterminism` of a result: what the program read that may make runs differ, and where.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

using nlohmann::json;

json nondeterminism(const Words& program) {
  const TemporaryFile file("result.json");
  EXPECT_EQ(tally(with({"stat", "-q", "--backend", "engine", "-e", "instructions", "--format", "json", "-o",
                        file.path(), "--"},
                       program))
                .code(),
            0);
  return json::parse(file.content().value_or("no file"))["runs"][0]["nondeterminism"];
}

json entry(const json& list, const std::string& source) {
  for (const json& one : list)
    if (one["source"] == source) return one;
  return nullptr;
}

/// The number of reads of a source.
std::int64_t reads(const json& list, const std::string& source) {
  const json one = entry(list, source);
  return one.is_null() ? 0 : one["count"].get<std::int64_t>();
}

struct Read {
  const char* source;
  const char* function;  ///< of the program; it reads the source itself, or calls a library that does
  int more = 1;          ///< than a run that reads nothing
};

std::ostream& operator<<(std::ostream& stream, const Read& one) { return stream << one.function; }

class Sources : public testing::TestWithParam<Read> {};

TEST_P(Sources, are_counted_and_named_with_the_function_that_reads_them) {
  const Read& read = GetParam();
  const json without = nondeterminism({SOURCES, "none"}), list = nondeterminism({SOURCES, read.source});
  EXPECT_EQ(reads(list, read.source), reads(without, read.source) + read.more) << list;
  // The dynamic linker reads some sources first, except the time-stamp counter, which it does not use.
  if (std::string(read.source) == "rdtsc") EXPECT_EQ(reads(without, read.source), 0);
  if (reads(without, read.source) != 0) return;
  const json one = entry(list, read.source);
  const json& at = one["first"]["file"] == SOURCES ? one["first"] : one["caller"];
  ASSERT_FALSE(at.is_null()) << one;
  EXPECT_EQ(at["file"], SOURCES);
  EXPECT_EQ(at["function"], read.function);
  EXPECT_EQ(one["program"], "sources");
}

INSTANTIATE_TEST_SUITE_P(cli, Sources,
                         testing::Values(Read{"cpuid", "query_processor"}, Read{"rdtsc", "read_time_stamp"},
                                         Read{"clock", "read_clock"}, Read{"host", "read_host"},
                                         Read{"pid", "read_pid"}, Read{"getrandom", "read_random"},
                                         Read{"/dev/urandom", "open_random"}, Read{"file listing", "list_directory", 2},
                                         Read{"thread race", "wake"}, Read{"/proc", "read_own_link"},
                                         Read{"signal", "await_alarm"}),
                         [](const auto& one) { return std::string(one.param.function); });

TEST(Sources, include_files_that_describe_the_machine) {
  EXPECT_EQ(reads(nondeterminism({SOURCES, "release"}), "host"), reads(nondeterminism({SOURCES, "none"}), "host") + 1);
}

/// Standard output and the reads of system state of a call of states.c with --repeatable.
std::pair<std::string, std::int64_t> state(const std::string& call) {
  const TemporaryFile result("result.json");
  const Finished run = tally({"stat", "-q", "--backend", "engine", "--repeatable", "-e", "instructions", "--format",
                              "json", "-o", result.path(), "--", STATES, call});
  EXPECT_EQ(run.code(), 0) << call << run.err;
  return {run.out,
          reads(json::parse(result.content().value_or("no file"))["runs"][0]["nondeterminism"], "system state")};
}

TEST(SystemState, is_a_source_of_what_the_kernel_assigns_and_times) {
  for (const char* const call :
       {"sendfile", "splice", "fstat_new", "stat_new", "statx_new", "fstat_pipe", "port", "cookie", "queue", "segment",
        "free_blocks", "resident", "expirations", "no_event", "would_block"})
    EXPECT_EQ(state(call).second, 1) << call;
}

TEST(SystemState, is_no_source_of_what_each_run_finds_again) {
  for (const char* const call : {"fstat_old", "statx_old", "directory", "stdio", "poll_nothing"})
    EXPECT_EQ(state(call).second, 0) << call;
}

TEST(RepeatableRuns, have_random_bytes_of_the_same_seed_by_each_call_that_reads) {
  for (const char* const call : {"pread", "readv", "preadv", "preadv2"}) {
    const auto first = state(call);
    EXPECT_EQ(first.second, 0) << call;
    EXPECT_NE(first.first, "0 0\n") << call;
    EXPECT_EQ(state(call), first) << call;
  }
}

TEST(RepeatableRuns, have_the_same_uuids) {
  EXPECT_EQ(reads(nondeterminism({SOURCES, "uuid"}), "/dev/urandom"), 1);
  const auto uuid = [] {
    return tally({"stat", "-q", "--backend", "engine", "--repeatable", "--", "cat", "/proc/sys/kernel/random/uuid"})
        .out;
  };
  const std::string first = uuid();
  EXPECT_EQ(first.size(), 37u) << first;
  EXPECT_EQ(uuid(), first);
}

TEST(RepeatableRuns, have_the_same_host_and_kernel_on_every_machine) {
  const Finished run = tally({"stat", "-q", "--backend", "engine", "--repeatable", "--", SOURCES, "names"});
  EXPECT_EQ(run.out,
            "Linux localhost 5.10.0 #1 SMP x86_64 (none)\nlocalhost\n5.10.0\n"
            "Linux version 5.10.0 (root@localhost) #1 SMP\n");
  const Finished real = tally({"stat", "-q", "--backend", "engine", "--", SOURCES, "names"});
  EXPECT_EQ(real.out, tally({"stat", "-q", "--backend", "none", "--", SOURCES, "names"}).out);
}

TEST(RepeatableRuns, get_the_same_auxiliary_vector_from_every_kernel) {
  const auto entries = [](const std::vector<std::string>& options) {
    std::vector<std::string> words = {"stat", "-q", "--backend", "engine"};
    words.insert(words.end(), options.begin(), options.end());
    for (const char* word : {"--", SOURCES, "entries"}) words.emplace_back(word);
    return tally(words).out;
  };
  const std::string fixed = "16 6 17 3 4 5 7 8 9 11 12 13 14 23 25 26 31 15 \n";
  // AT_MINSIGSTKSZ, 51, of the presented processor; else the kernel's, since Linux 5.14.
  EXPECT_EQ(entries({"--repeatable", "--cpu-model", "x86-64-v2"}), "51 " + fixed);
  const std::string repeatable = entries({"--repeatable"});
  EXPECT_TRUE(repeatable == "51 " + fixed || repeatable == fixed) << repeatable;
  EXPECT_EQ(entries({}), tally({"stat", "-q", "--backend", "none", "--", SOURCES, "entries"}).out);
}

TEST(RepeatableRuns, get_new_memory_below_all_older_memory) {
  const Finished run = tally({"stat", "-q", "--backend", "engine", "--repeatable", "--", SOURCES, "placement"});
  EXPECT_EQ(run.out, "8192 4096 12288 a -4096 1\n");
  const Finished real = tally({"stat", "-q", "--backend", "engine", "--", SOURCES, "placement"});
  EXPECT_NE(real.out, run.out);
}

TEST(RepeatableRuns, see_the_same_size_of_blocks_on_every_file_system) {
  const Finished run = tally({"stat", "-q", "--backend", "engine", "--repeatable", "--", SOURCES, "block size"});
  EXPECT_EQ(run.out, "4096 4096 4096 4096\n");
  const Finished real = tally({"stat", "-q", "--backend", "engine", "--", SOURCES, "block size"});
  EXPECT_EQ(real.out, "1024 1024 1024 1024\n");
}

TEST(Sources, of_a_killed_process_are_counted) {
  const std::string script = "kill -9 $$";
  const TemporaryFile file("result.json");
  tally({"stat", "-q", "--backend", "engine", "-e", "instructions", "--format", "json", "-o", file.path(), "--", "sh",
         "-c", script});
  EXPECT_GE(reads(json::parse(file.content().value_or("no file"))["runs"][0]["nondeterminism"], "pid"), 1);
}

TEST(Sources, include_the_size_of_the_environment) {
  const auto bytes = [](const std::string& value) {
    ::setenv("TALLY_TEST_SIZE", value.c_str(), 1);
    const auto size = reads(nondeterminism({"/bin/true"}), "environment");
    ::unsetenv("TALLY_TEST_SIZE");
    return size;
  };
  EXPECT_EQ(bytes("12345678"), bytes("1") + 7);
}

/// The output and the instructions of a run with --repeatable, with more bytes of environment.
std::pair<std::string, std::int64_t> repeated(std::size_t bytes, const std::string& program) {
  const TemporaryFile file("result.json");
  ::setenv("TALLY_TEST_SIZE", std::string(bytes, 'x').c_str(), 1);
  const Finished run = tally({"stat", "-q", "--backend", "engine", "--repeatable", "-e", "instructions", "--format",
                              "json", "-o", file.path(), "--", program, "numbers"});
  ::unsetenv("TALLY_TEST_SIZE");
  EXPECT_EQ(run.code(), 0) << run.err;
  return {run.out, json::parse(file.content().value_or("no file"))["events"][0]["value"].get<std::int64_t>()};
}

TEST(RepeatableRuns, have_equal_random_numbers_addresses_and_counts_whatever_their_environment) {
  const auto first = repeated(1, SOURCES);
  EXPECT_NE(first.first, "");
  for (const std::size_t bytes : {100, 5000, 50000}) EXPECT_EQ(repeated(bytes, SOURCES), first) << bytes;
}

TEST(RepeatableRuns, have_equal_addresses_whatever_the_length_of_their_path) {
  const std::string name = std::filesystem::temp_directory_path() / ("tally-test-" + std::string(100, 'n'));
  std::filesystem::remove(name);
  std::filesystem::create_symlink(SOURCES, name);
  EXPECT_EQ(repeated(1, name).first, repeated(1, SOURCES).first);
  std::filesystem::remove(name);
}

TEST(Sources, of_a_profile_are_listed) {
  const TemporaryFile file("profile.json");
  const Finished run = tally({"profile", "-q", "--backend", "engine", "-e", "instructions", "--cpu-model", "x86-64-v2",
                              "-o", file.path(), "--", SOURCES, "pid"});
  ASSERT_EQ(run.code(), 0) << run.err;
  const json profile = json::parse(file.content().value_or("null"));
  EXPECT_EQ(entry(profile["nondeterminism"], "pid")["caller"]["function"], "read_pid") << profile["nondeterminism"];
  EXPECT_EQ(profile["cpu_model"], "x86-64-v2");
}

TEST(Sources, of_windows_are_in_the_description) {
  const TemporaryFile rows("windows.csv"), description("windows.json");
  const Finished run =
      tally({"sample", "-q", "--backend", "engine", "--every", "100k", "--clock", "counted", "--environment", "fixed",
             "-o", rows.path(), "--meta", description.path(), "--", SOURCES, "pid"});
  ASSERT_EQ(run.code(), 0) << run.err;
  const json head = json::parse(description.content().value_or("null"));
  EXPECT_EQ(entry(head["nondeterminism"], "pid")["caller"]["function"], "read_pid") << head;
  EXPECT_EQ(head["clock"], "counted");
  EXPECT_EQ(head["program_environment"], "fixed");
}

TEST(Sources, name_what_programs_got_instead) {
  const auto answers = [](const Words& options) {
    const TemporaryFile file("result.json");
    Words words{"stat", "-q", "--backend", "engine", "-e", "instructions", "--format", "json", "-o", file.path()};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", "/bin/sh", "-c", std::string(SOURCES) + " clock; " + SOURCES + " getrandom"});
    EXPECT_EQ(tally(words).code(), 0);
    const json result = json::parse(file.content().value_or("no file"));
    const json list = result["runs"][0]["nondeterminism"];
    return std::array{entry(list, "clock")["answer"], entry(list, "getrandom")["answer"],
                      result.contains("clock") ? result["clock"] : json(nullptr)};
  };
  EXPECT_EQ(answers({}), (std::array<json, 3>{nullptr, nullptr, nullptr}));
  EXPECT_EQ(answers({"--repeatable"}), (std::array<json, 3>{nullptr, "fixed seed", nullptr}));
  EXPECT_EQ(answers({"--clock", "counted"}), (std::array<json, 3>{"instruction count", nullptr, "counted"}));
}

TEST(Sources, are_only_listed_by_the_engine) {
  const TemporaryFile file("result.json");
  tally({"stat", "-q", "--backend", "none", "--format", "json", "-o", file.path(), "--", "/bin/true"});
  EXPECT_FALSE(json::parse(file.content().value_or("no file"))["runs"][0].contains("nondeterminism"));
}

}  // namespace
}  // namespace tally::test
