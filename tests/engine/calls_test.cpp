// System calls: a verdict for each, and those that take control of the program's calls (libc/calls.cpp).
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "tests/engine/expect.hpp"

namespace tally::engine_test {
namespace {

struct Row {
  int number;
  std::string name, why;
};

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
#define PASSES(number, name, descriptors, why) {number, #name, why},
#define LOOKED_AT(number, name, descriptors, handler, why) {number, #name, why},
#define NATIVELY(number, name, descriptors, handler, why) {number, #name, why},
#define REFUSED(number, name, descriptors, error, why) {number, #name, why},
#include "tally/engine/guest/syscall_table.inc"
#undef PASSES
#undef LOOKED_AT
#undef NATIVELY
#undef REFUSED
  };
  return all;
}

/// System call numbers of x86-64 up to Linux 6.18: between the two ranges are those of other architectures.
std::set<int> numbers_up_to_6_18() {
  std::set<int> all;
  for (int i = 0; i <= 336; ++i) all.insert(i);
  for (int i = 424; i <= 469; ++i) all.insert(i);
  return all;
}

TEST(SystemCalls, each_has_one_verdict_and_its_reason) {
  std::set<int> numbers;
  std::set<std::string> names;
  for (const Row& row : rows()) {
    EXPECT_TRUE(numbers.insert(row.number).second) << row.number << " is listed twice";
    EXPECT_TRUE(names.insert(row.name).second) << row.name << " is listed twice";
    EXPECT_FALSE(row.why.empty()) << row.name;
  }
  for (const int number : numbers_up_to_6_18()) EXPECT_TRUE(numbers.count(number)) << number << " has no verdict";
  EXPECT_EQ(numbers, numbers_up_to_6_18());
}

TEST(SystemCalls, have_the_kernels_names) {
  std::ifstream header("/usr/include/x86_64-linux-gnu/asm/unistd_64.h");
  if (!header) GTEST_SKIP() << "no headers of the kernel (package linux-libc-dev)";
  std::map<int, std::string> names;
  for (const Row& row : rows()) names[row.number] = row.name;
  int found = 0;
  for (std::string line; std::getline(header, line);) {
    std::istringstream words(line);
    std::string define, name;
    int number = 0;
    if (!(words >> define >> name >> number) || !name.starts_with("__NR_") || number > 469) continue;
    EXPECT_EQ(names[number], name.substr(5)) << number;
    ++found;
  }
  EXPECT_GT(found, 300);
}

struct Call {
  const char* name;
  const char* partial = "";  ///< words of the reason; empty if the counts are exact
  int code = 0;
};

std::ostream& operator<<(std::ostream& stream, const Call& call) { return stream << call.name; }

class CallTest : public testing::TestWithParam<Call> {};

TEST_P(CallTest, works_as_natively) {
  Command command;
  command.words = {std::string(LIBC_PROGRAMS) + "/calls_dynamic", GetParam().name};
  command.options = {"--per-process"};
  const Outcome native = run_native(command);
  if (native.code == 77) GTEST_SKIP() << "this kernel has no such call";
  ASSERT_EQ(native.code, GetParam().code) << native.out << native.err;
  const Counted counted = run_counted(command);
  expect_same(counted.outcome, native);
  const std::string words = GetParam().partial;
  if (words.empty())
    expect_exact(counted);
  else
    EXPECT_NE(counted.problem.find(words), std::string::npos) << counted.problem;
  EXPECT_EQ(counted.native_from_ns != 0, words.find("natively") != std::string::npos);
  if (words.find("natively") != std::string::npos) {
    EXPECT_NE(counted.problem.find("of its processor time on; "), std::string::npos) << counted.problem;
    EXPECT_NE(counted.problem.find("of processor time ran natively"), std::string::npos) << counted.problem;
  }
}

constexpr const char* confined = "it restricted its system calls (seccomp): it continued natively";
constexpr const char* used =
    "it mapped, unmapped, changed or probed addresses that the engine uses: it continued natively";
INSTANTIATE_TEST_SUITE_P(
    engine, CallTest,
    testing::Values(Call{"seccomp_probes"}, Call{"refused_filters"}, Call{"filters", confined},
                    Call{"filters_all_threads", confined}, Call{"filters_by_prctl", confined}, Call{"strict", confined},
                    Call{"dispatches",
                         "it intercepts its own system calls (syscall user dispatch): it continued natively"},
                    Call{"refused_dispatch"}, Call{"numbers"}, Call{"gs_base"}, Call{"reading_executes"},
                    Call{"memory_by_directory"}, Call{"emptied_file", "", 7}, Call{"descriptors_of_others"},
                    Call{"old_calls", "it made 32-bit system calls, which the engine does not track"},
                    Call{"old_calls_not_made"},
                    Call{"ends_by_old_call", "it made 32-bit system calls, which the engine does not track", 5},
                    Call{"forks_by_old_call",
                         "it started programs or handled signals by 32-bit system calls: it continued natively"},
                    Call{"engine_addresses", used}, Call{"moved_engine", used}, Call{"moved_to_engine", used},
                    Call{"advised_engine", used}, Call{"advised_list"}, Call{"probed_engine", used},
                    Call{"locked_engine", used}, Call{"engine_with_threads", "the call failed if several threads ran"}),
    [](const auto& one) { return std::string(one.param.name); });

TEST(Parents, of_orphans_are_those_of_a_native_run) {
  Command command;
  command.words = {std::string(PROGRAMS) + "/orphan"};
  const Outcome native = run_native(command);
  ASSERT_EQ(native.code, 0) << native.err;
  for (const int size : block_sizes()) {
    const Counted counted = run_counted(command, size);
    expect_same(counted.outcome, native);
    expect_exact(counted);
  }
}

}  // namespace
}  // namespace tally::engine_test
