// Programs with known answers: the formulas against the stepper if N is small, and against the engine everywhere.
#include <string_view>

#include "programs/workload/image.hpp"
#include "programs/workload/workload.hpp"
#include "tally/linux/process/scratch_folder.hpp"
#include "tests/engine/expect.hpp"

namespace tally::engine_test {
namespace {

struct WorkloadCase {
  std::string file;
  std::string_view workload;
  workload::Parameters parameters;
};

std::ostream& operator<<(std::ostream& stream, const WorkloadCase& one) { return stream << one.file; }

Counts by_formula(const WorkloadCase& one) {
  const workload::Counts known = workload::find(one.workload)->expected(one.parameters);
  return {.instructions = known.instructions,
          .conditional = known.conditional,
          .taken = known.taken,
          .direct_jumps = known.direct_jumps,
          .indirect_jumps = known.indirect_jumps,
          .direct_calls = known.direct_calls,
          .indirect_calls = known.indirect_calls,
          .returns = known.returns,
          .far = known.far,
          .loads = known.loads,
          .stores = known.stores};
}

/// All cases, or those of at most N steps: a REP takes one for each access.
std::vector<WorkloadCase> workload_cases(uint64_t most) {
  std::vector<WorkloadCase> list;
  for (const workload::Workload& one : workload::all()) {
    const std::string name(one.name);
    const bool linked = name.starts_with("loop_") || name.starts_with("rep_") || name.starts_with("fact");
    if (!linked || name.ends_with("_warm")) continue;
    const uint64_t small = name.starts_with("fact") ? 20 : 200;
    list.push_back({name + "_" + std::to_string(small), one.name, {.n = small}});
    list.push_back({name + "_1000000", one.name, {.n = 1000000}});
  }
  list.push_back({"matmul_10", "matmul", {.n = 10}});
  list.push_back({"stride_1_4096", "stride", {.bytes = 4096, .stride = 1}});
  list.push_back({"stride_64_4096", "stride", {.bytes = 4096, .stride = 64}});
  list.push_back({"stride_1_1048576", "stride", {.bytes = 1048576, .stride = 1}});
  list.push_back({"stride_1024_1048576", "stride", {.bytes = 1048576, .stride = 1024}});
  std::erase_if(list, [most](const WorkloadCase& one) {
    const Counts counts = by_formula(one);
    return most != 0 && counts.instructions + counts.loads + counts.stores > most;
  });
  return list;
}

Command command_of(const WorkloadCase& one) {
  Command command;
  command.words = {std::string(WORKLOADS) + "/" + one.file};
  return command;
}

class WorkloadTest : public testing::TestWithParam<WorkloadCase> {};

TEST_P(WorkloadTest, engine_counts_the_formula) {
  for (const int size : block_sizes()) {
    SCOPED_TRACE(testing::Message() << "block size " << size);
    const Counted counted = run_counted(command_of(GetParam()), size);
    EXPECT_EQ(counted.outcome.code, 0);
    expect_counts(counted.counts, by_formula(GetParam()));
    expect_exact(counted);
  }
}

/// The same for cases that a single-stepper can follow.
class SmallWorkloadTest : public testing::TestWithParam<WorkloadCase> {};

TEST_P(SmallWorkloadTest, stepper_counts_the_formula) {
  const Counted stepped = run_stepped(command_of(GetParam()));
  EXPECT_EQ(stepped.outcome.code, 0);
  expect_counts(stepped.counts, by_formula(GetParam()));
}

const auto workload_name = [](const auto& one) { return one.param.file; };

INSTANTIATE_TEST_SUITE_P(engine, WorkloadTest, testing::ValuesIn(workload_cases(0)), workload_name);
INSTANTIATE_TEST_SUITE_P(engine, SmallWorkloadTest, testing::ValuesIn(workload_cases(25000)), workload_name);

/// Programs as tally ships them, small enough for the single-stepper. `region` needs rdpmc, which natively faults.
std::vector<WorkloadCase> shipped_cases() {
  std::vector<WorkloadCase> list;
  for (const workload::Workload& one : workload::all()) {
    workload::Parameters few{.n = 20, .bytes = 4096, .stride = 64, .k = 7, .seed = 12345};
    if (one.name == "region") continue;
    if (one.name == "matmul" || one.name == "threads" || one.name == "forks" || one.name == "execs") few.n = 3;
    if (one.name == "chase") few.n = 32;
    list.push_back({workload::label(one, few, '_'), one.name, few});
  }
  return list;
}

class ShippedTest : public testing::TestWithParam<WorkloadCase> {};

TEST_P(ShippedTest, stepper_and_engine_count_the_formula) {
  const auto folder = linux::ScratchFolder::make();
  ASSERT_TRUE(folder);
  Command command;
  command.words = {folder->path() + "/program"};
  const workload::Workload& shipped = *workload::find(GetParam().workload);
  ASSERT_TRUE(linux::write_program(command.words.front(), workload::image(shipped, GetParam().parameters)));
  const Counted stepped = run_stepped(command);
  EXPECT_EQ(stepped.outcome.code, 0);
  expect_counts(stepped.counts, by_formula(GetParam()));
  const Counted counted = run_counted(command);
  EXPECT_EQ(counted.outcome.code, 0);
  expect_counts(counted.counts, by_formula(GetParam()));
  expect_exact(counted);
}

INSTANTIATE_TEST_SUITE_P(engine, ShippedTest, testing::ValuesIn(shipped_cases()), workload_name);

}  // namespace
}  // namespace tally::engine_test
