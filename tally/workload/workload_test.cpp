#include "tally/workload/workload.hpp"

#include <gtest/gtest.h>

namespace tally::workload {
namespace {

// The published values, written out: HPCTool's table at N = 1,000,000 and the article's loops.

struct Row {
  const char* name;
  uint64_t instructions, branches, conditional, taken, loads, stores;
};

constexpr uint64_t million = 1000000;
constexpr Row rows[] = {
    {"loop_lodsb", 2000007, 1000001, million, 999999, million, 0},
    {"loop_stosw", 2000007, 1000001, million, 999999, 0, million},
    {"loop_scasb", 2000007, 1000001, million, 999999, million, 0},
    {"loop_movsw", 2000008, 1000001, million, 999999, million, million},
    {"loop_cmpsb", 2000008, 1000001, million, 999999, 2 * million, 0},
    {"rep_lodsw", 8, 1, 0, 0, million, 0},
    {"rep_stosb", 8, 1, 0, 0, 0, million},
    {"rep_scasw", 8, 1, 0, 0, million, 0},
    {"rep_movsb", 9, 1, 0, 0, million, million},
    {"rep_cmpsw", 9, 1, 0, 0, 2 * million, 0},
    {"fact5", 5000002, 2000000, million, 1, 0, 0},
    {"fact4", 4000001, 1000000, 999999, 999998, 0, 0},
    {"fact3", 3000005, 1000001, million, 999999, 0, 0},
    {"fact5_3nops", 7999999, 2000000, million, 1, 0, 0},
    {"fact5_9nops", 13999993, 2000000, million, 1, 0, 0},
};

TEST(workload, formulas_give_the_published_values) {
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const Workload* found = find(row.name);
    ASSERT_NE(found, nullptr);
    const Counts counts = found->expected({.n = million});
    EXPECT_EQ(counts.instructions, row.instructions);
    EXPECT_EQ(counts.branches(), row.branches);
    EXPECT_EQ(counts.conditional, row.conditional);
    EXPECT_EQ(counts.taken, row.taken);
    EXPECT_EQ(counts.loads, row.loads);
    EXPECT_EQ(counts.stores, row.stores);
    EXPECT_EQ(counts.far, 1u);
  }
}

TEST(workload, matmul_of_10) {
  const Counts counts = find("matmul")->expected({.n = 10});
  EXPECT_EQ(counts,
            (Counts{.instructions = 8559, .conditional = 1210, .taken = 1098, .far = 1, .loads = 2000, .stores = 300}));
}

TEST(workload, stride_walk_of_a_mebibyte) {
  EXPECT_EQ(find("stride")->expected({.bytes = 1 << 20, .stride = 1}).instructions, 4194312u);
  EXPECT_EQ(find("stride")->expected({.bytes = 1 << 20, .stride = 1024}).instructions, 4198404u);
  EXPECT_EQ(find("stride")->expected({.bytes = 1 << 20, .stride = 1024}).loads, 1u << 20);
}

// By hand: the loop's own instructions, those before and behind it, and the system call that ends it.
TEST(workload, programs_of_every_architecture) {
  EXPECT_EQ(find("countdown")->expected({.n = 1}).instructions, 2u + 2 + 3);
  EXPECT_EQ(find("countdown")->expected({.n = 1000000}).branches(), 1000001u);
  EXPECT_EQ(find("system_calls")->expected({.n = 1000}).instructions, 1u + 4 * 1000 + 3);
  EXPECT_EQ(find("touch")->expected({.n = 1000}).instructions, 2u + 5 * 1000 + 3);
}

TEST(workload, an_unknown_name_is_absent) { EXPECT_EQ(find("rep_insb"), nullptr); }

}  // namespace
}  // namespace tally::workload
