// Programs with known answers: the formulas against the stepper where N is small, and against the engine everywhere.
#include <string_view>

#include "tally/workload/workload.hpp"
#include "tests/engine/expect.hpp"

namespace tally::engine_test {
namespace {

struct Case {
  std::string file;
  std::string_view workload;
  workload::Parameters parameters;
};

std::ostream& operator<<(std::ostream& stream, const Case& one) { return stream << one.file; }

Counts by_formula(const Case& one) {
  const workload::Counts known = workload::find(one.workload)->expected(one.parameters);
  return {.instructions = known.instructions,
          .conditional = known.conditional,
          .taken = known.taken,
          .direct_jumps = known.direct_jumps,
          .far = known.far,
          .loads = known.loads,
          .stores = known.stores};
}

/// All cases, or those of at most so many steps: a REP takes one for each access.
std::vector<Case> cases(uint64_t most) {
  std::vector<Case> list;
  for (const workload::Workload& one : workload::all()) {
    const std::string name(one.name);
    if (one.parameters != "n" || name == "matmul") continue;
    const uint64_t small = name.starts_with("fact") ? 20 : 200;
    list.push_back({name + "_" + std::to_string(small), one.name, {.n = small}});
    list.push_back({name + "_1000000", one.name, {.n = 1000000}});
  }
  list.push_back({"matmul_10", "matmul", {.n = 10}});
  list.push_back({"stride_1_4096", "stride", {.bytes = 4096, .stride = 1}});
  list.push_back({"stride_64_4096", "stride", {.bytes = 4096, .stride = 64}});
  list.push_back({"stride_1_1048576", "stride", {.bytes = 1048576, .stride = 1}});
  list.push_back({"stride_1024_1048576", "stride", {.bytes = 1048576, .stride = 1024}});
  std::erase_if(list, [most](const Case& one) {
    const Counts counts = by_formula(one);
    return most != 0 && counts.instructions + counts.loads + counts.stores > most;
  });
  return list;
}

Command command_of(const Case& one) {
  Command command;
  command.words = {std::string(WORKLOADS) + "/" + one.file};
  return command;
}

class WorkloadTest : public testing::TestWithParam<Case> {};

TEST_P(WorkloadTest, engine_counts_the_formula) {
  for (const int size : block_sizes) {
    SCOPED_TRACE(testing::Message() << "block size " << size);
    const Counted counted = run_counted(command_of(GetParam()), size);
    EXPECT_EQ(counted.outcome.code, 0);
    expect_counts(counted.counts, by_formula(GetParam()));
    expect_exact(counted);
  }
}

/// The same where a single-stepper can follow.
class SmallWorkloadTest : public testing::TestWithParam<Case> {};

TEST_P(SmallWorkloadTest, stepper_counts_the_formula) {
  const Counted stepped = run_stepped(command_of(GetParam()));
  EXPECT_EQ(stepped.outcome.code, 0);
  expect_counts(stepped.counts, by_formula(GetParam()));
}

const auto name_of = [](const auto& one) { return one.param.file; };

INSTANTIATE_TEST_SUITE_P(engine, WorkloadTest, testing::ValuesIn(cases(0)), name_of);
INSTANTIATE_TEST_SUITE_P(engine, SmallWorkloadTest, testing::ValuesIn(cases(25000)), name_of);

}  // namespace
}  // namespace tally::engine_test
