// Many threads: nothing is lost when their blocks, counters and records are used again.
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "tests/engine/expect.hpp"

namespace tally::engine_test {
namespace {

Counted batches(int n) {
  Command command;
  command.words = {std::string(PROGRAMS) + "/many_threads", fmt::format("{:03}", n)};
  Counted counted = run_counted(command);
  EXPECT_EQ(counted.outcome.code, 0) << counted.outcome.err;
  expect_exact(counted);
  return counted;
}

TEST(Threads, fifty_thousand_count_what_a_few_count) {
  const Counts none = batches(0).counts, one = batches(1).counts;
  const Counts all = batches(250).counts;
  EXPECT_EQ(all.instructions, none.instructions + 250 * (one.instructions - none.instructions));
  EXPECT_EQ(all.conditional, none.conditional + 250 * (one.conditional - none.conditional));
  EXPECT_EQ(all.returns, none.returns + 250 * (one.returns - none.returns));
  EXPECT_EQ(all.stores, none.stores + 250 * (one.stores - none.stores));
}

// The threads of this program and their blocks have more mappings than the kernel grants.
TEST(Threads, may_use_up_all_mappings) {
  const int limit = std::stoi(read_file("/proc/sys/vm/max_map_count"));
  const int n = limit * 5 / 16;  // two mappings each natively, four under the engine
  Command command;
  command.words = {std::string(LIBC_PROGRAMS) + "/limits_static", "threads", std::to_string(n)};
  const Outcome native = run_native(command);
  if (native.code != 0) GTEST_SKIP() << "not possible here: " << native.out;
  const Counted counted = run_counted(command);
  expect_same(counted.outcome, native);
  EXPECT_NE(counted.problem.find("vm.max_map_count"), std::string::npos) << counted.problem;
}

/// A thread of programs/threads.cpp runs a loop of seven instructions, with four before it and four after it.
TEST(Threads, have_counts_of_their_own_to_the_instruction) {
  const Scratch scratch;
  Command command;
  command.words = {TALLY,
                   "stat",
                   "--backend",
                   "engine",
                   "--per-thread",
                   "--format",
                   "json",
                   "-e",
                   "instructions:u",
                   "-o",
                   scratch.file("json"),
                   "--",
                   std::string(PROGRAMS) + "/threads"};
  ASSERT_EQ(run_native(command).code, 0);
  const auto result = nlohmann::json::parse(read_file(scratch.file("json")));
  std::map<std::uint64_t, int> threads;
  std::uint64_t sum = 0;
  for (const auto& thread : result.at("threads")) {
    const auto& event = thread.at("events").at(0);
    EXPECT_EQ(event.at("trust"), "exact");
    ++threads[event.at("value").get<std::uint64_t>()];
    sum += event.at("value").get<std::uint64_t>();
  }
  for (const std::uint64_t rounds : {100, 200, 300, 400}) EXPECT_EQ(threads[8 + 7 * rounds], 5) << rounds;
  EXPECT_EQ(sum, result.at("events").at(0).at("value").get<std::uint64_t>());
}

}  // namespace
}  // namespace tally::engine_test
