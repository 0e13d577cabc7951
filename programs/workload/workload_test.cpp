#include "programs/workload/workload.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "programs/workload/image.hpp"

namespace tally::workload {
namespace {

#if defined(__x86_64__)
// The published values: HPCTool's table at N = 1,000,000 and the article's loops.

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

#endif

// By hand: the instructions of the loop, before it and after it, and the final system call.
TEST(workload, programs_of_every_architecture) {
  EXPECT_EQ(find("countdown")->expected({.n = 1}).instructions, 2u + 2 + 3);
  EXPECT_EQ(find("countdown")->expected({.n = 1000000}).branches(), 1000001u);
  // Depends on the architecture: loading a number may take two instructions.
#if defined(__x86_64__)
  EXPECT_EQ(find("system_calls")->expected({.n = 1000}).instructions, 1u + 4 * 1000 + 3);
  EXPECT_EQ(find("touch")->expected({.n = 1000}).instructions, 2u + 5 * 1000 + 3);
#elif defined(__aarch64__)
  EXPECT_EQ(find("system_calls")->expected({.n = 1000}).instructions, 2u + 4 * 1000 + 3);
  EXPECT_EQ(find("touch")->expected({.n = 1000}).instructions, 4u + 5 * 1000 + 3);
  EXPECT_EQ(find("loop_copyb")->expected({.n = 10}).instructions, 6u + 4 * 10 + 3);
#endif
}

#if defined(__x86_64__)
// Line by line from the listings, for numbers small enough to follow by hand.
TEST(workload, programs_that_branch_and_call) {
  EXPECT_EQ(find("nothing")->expected({}).instructions, 3u);
  EXPECT_EQ(find("calls")->expected({.n = 1}).instructions, 6u + 12 + 3);
  EXPECT_EQ(find("calls")->expected({.n = 10}).branches(), 10u + 20 + 10 + 40 + 30 + 1);
  EXPECT_EQ(find("branches_always")->expected({.n = 3}).taken, 3u + 2);
  EXPECT_EQ(find("branches_never")->expected({.n = 3}).instructions, 2u + 3 * 5 + 3);
  // not taken, taken, not taken: two nops.
  EXPECT_EQ(find("branches_alternating")->expected({.n = 3}).instructions, 2u + 3 * 4 + 2 + 3);
  EXPECT_EQ(find("loops")->expected({.n = 2, .k = 3}).instructions, 1u + 2 * (1 + 6 + 2) + 3);
  EXPECT_EQ(find("loops")->expected({.n = 2, .k = 3}).taken, 2u * 2 + 1);
}

#endif

// Marsaglia's generator from 1: 0x42021 (bit 16 clear, taken), 0x4080601 (clear), 0x9dcca8c5 (clear), 0x1255994f (set).
TEST(workload, a_random_branch_is_taken_where_bit_16_is_clear) {
  EXPECT_EQ(find("branches_random")->expected({.n = 1, .seed = 1}).taken, 1u);
  EXPECT_EQ(find("branches_random")->expected({.n = 3, .seed = 1}).taken, 3u + 2);
  EXPECT_EQ(find("branches_random")->expected({.n = 4, .seed = 1}).taken, 3u + 3);
}

#if defined(__x86_64__)
TEST(workload, page_faults_of_the_published_table) {
  EXPECT_EQ(find("rep_stosb")->page_faults({.n = million}), 246u);
  EXPECT_EQ(find("loop_lodsw")->page_faults({.n = million}), 490u);
  EXPECT_EQ(find("rep_movsb")->page_faults({.n = million}), 491u);
  EXPECT_EQ(find("rep_movsw")->page_faults({.n = million}), 979u);
  EXPECT_EQ(find("rep_cmpsw")->page_faults({.n = million}), 978u);
  EXPECT_EQ(find("rep_movsb_warm")->page_faults({.n = million}), 1u);
}

// The immediate of `movq $n, %rcx` in the bytes of the file.
TEST(image, contains_the_requested_parameters) {
  const std::string program = image(*find("loop_lodsb"), {.n = 0x12345});
  ASSERT_EQ(program.substr(0, 4),
            "\x7f"
            "ELF");
  const char set[] = "\x48\xc7\xc1\x45\x23\x01\x00";
  EXPECT_NE(program.find(std::string(set, 7)), std::string::npos);
}

#endif

TEST(image, every_program_can_be_created_with_its_default_parameters) {
  for (const Workload& one : all()) {
    EXPECT_EQ(why_not(one, one.usual), "") << one.name;
    EXPECT_FALSE(image(one, one.usual).empty()) << one.name;
  }
}

TEST(image, programs_that_would_not_end_or_fit_are_refused) {
#if defined(__x86_64__)
  EXPECT_NE(why_not(*find("loop_lodsb"), {.n = 0}), "");
  EXPECT_EQ(why_not(*find("rep_lodsb"), {.n = 0}), "");
  EXPECT_NE(why_not(*find("rep_movsw"), {.n = 500'000'000}), "");
#endif
  EXPECT_NE(why_not(*find("touch"), {.n = 500'000}), "");
  EXPECT_NE(why_not(*find("fact4"), {.n = 1}), "");
  EXPECT_NE(why_not(*find("countdown"), {.n = 0x80000000}), "");
  EXPECT_NE(why_not(*find("stride"), {.bytes = 3000, .stride = 64}), "");
  EXPECT_NE(why_not(*find("chase"), {.n = 100, .k = 1}), "");
  EXPECT_TRUE(image(*find("countdown"), {.n = 0}).empty());
}

TEST(workload, a_label_contains_the_parameters_of_the_program) {
  EXPECT_EQ(label(*find("loops"), {.n = 5, .k = 8}), "loops 5 8");
  EXPECT_EQ(label(*find("stride"), {.n = 9, .bytes = 4096, .stride = 64}, '-'), "stride-4096-64");
  EXPECT_EQ(label(*find("nothing"), {.n = 9}), "nothing");
}

TEST(workload, an_unknown_name_is_absent) { EXPECT_EQ(find("rep_insb"), nullptr); }

}  // namespace
}  // namespace tally::workload
