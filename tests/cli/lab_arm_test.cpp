// `tally lab` with an Arm core, as a user types it. The names of the tests begin with the number of the rule that they
// check: A of PMUv3, AP of Apple's, M of the M1 framework's document.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/cli/lab.hpp"

#if TALLY_HAS_LAB
namespace tally::test {
namespace {

using Json = nlohmann::json;

Json run_of(Words words) {
  words.insert(words.begin(), {"lab", "--json"});
  const Finished finished = tally(words);
  EXPECT_EQ(finished.code(), 0) << finished.err;
  return Json::parse(finished.out, nullptr, false);
}

Json example(const std::string& name, Words words = {}) {
  if (name.starts_with("m1-")) words.insert(words.end(), {"--model", "apple-m1"});
  words.push_back(std::string(TALLY_LAB_EXAMPLES) + "/" + name + ".s");
  return run_of(words);
}

Json program(const std::string& text, Words words = {}) {
  const TemporaryFile file("program.s", ".arch armv8-a\n.include \"lab.inc\"\n.globl _start\n_start:\n" + text);
  words.push_back(file.path());
  return run_of(words);
}

/// The values read from the counters, in order.
std::vector<std::uint64_t> reads_of(const Json& run) {
  std::vector<std::uint64_t> all;
  for (const Json& entry : run["entries"]) {
    if (entry["kind"] == "rdpmc" && entry.contains("count")) all.push_back(entry["count"]);
  }
  return all;
}

std::vector<Json> all_of(const Json& run, const std::string& kind) {
  std::vector<Json> all;
  for (const Json& entry : run["entries"]) {
    if (entry["kind"] == kind) all.push_back(entry);
  }
  return all;
}

using Counts = std::vector<std::uint64_t>;

TEST(LabArm, A1_A9_a_loop_of_n_rounds_is_two_and_2_n_instructions) {
  TALLY_NEEDS_ARM_ASSEMBLER();
  const Json run = example("pmuv3-count");
  EXPECT_EQ(run["model"], "armv8-pmuv3");
  EXPECT_EQ(run["counters"]["PMEVCNTR0_EL0"], 2 + 2 * 1000);
  EXPECT_EQ(run["counters"]["PMEVCNTR1_EL0"], 1000);
  EXPECT_EQ(run["counters"]["PMCCNTR_EL0"], 2 + 2 * 1000);
  EXPECT_TRUE(holds(output_of(run), "counter 0 = 0x00000000000007D2"));
}

TEST(LabArm, A3_A7_an_overflow_is_handled_at_its_exact_instruction) {
  TALLY_NEEDS_ARM_ASSEMBLER();
  const Json run = example("pmuv3-overflow");
  EXPECT_EQ(output_of(run), "samples: 5\n");
  const auto overflows = all_of(run, "overflow");
  const auto entered = all_of(run, "enter");
  ASSERT_EQ(overflows.size(), 5U);
  ASSERT_EQ(entered.size(), 5U);
  // The ISB is the first instruction that counts; each round adds two: number 1000 is a B.NE, and the loop head
  // follows.
  EXPECT_EQ(overflows[0]["place"], "line 26");
  EXPECT_EQ(entered[0]["place"], "line 25");
  EXPECT_EQ(entered[0]["vector"], 1);
}

TEST(LabArm, A7_a_flag_that_is_not_cleared_interrupts_again_and_is_reported) {
  TALLY_NEEDS_ARM_ASSEMBLER();
  const Json run = program(
      "  adr x0, handler\n  bl set_interrupt_handler\n  mov x20, #0\n  WRITE_REGISTER pmovsclr_el0, 0xffffffff\n"
      "  WRITE_REGISTER pmintenclr_el1, 0xffffffff\n  WRITE_REGISTER pmintenset_el1, 1\n  msr daifclr, #2\n"
      "  WRITE_REGISTER pmcr_el0, 1\n  WRITE_REGISTER pmovsset_el0, 1\n  nop\n  EXIT 0\n"
      "handler:\n  add x20, x20, #1\n  cmp x20, #3\n  b.lo 1f\n  CLEAR_OVERFLOWS\n1: eret\n");
  EXPECT_EQ(all_of(run, "enter").size(), 3U);
  const auto left = all_of(run, "leave");
  ASSERT_EQ(left.size(), 3U);
  EXPECT_TRUE(holds(left[0]["remarks"].dump(), "the interrupt comes again at once"));
  EXPECT_FALSE(left[2].contains("remarks"));
}

TEST(LabArm, A6_a_chained_counter_takes_the_overflows_below_it) {
  TALLY_NEEDS_ARM_ASSEMBLER();
  // ISB, 20 NOP and the write that disables: 22, from 2^32 - 16.
  EXPECT_EQ(reads_of(example("pmuv3-chain")), (Counts{22 - 16, 0}));
  EXPECT_EQ(all_of(example("pmuv3-chain"), "overflow").size(), 2U);
}

TEST(LabArm, A10_loads_and_stores_are_memory_accesses) {
  TALLY_NEEDS_ARM_ASSEMBLER();
  const Json run = program(
      "  WRITE_REGISTER pmcntenclr_el0, 0xffffffff\n  WRITE_REGISTER pmevtyper0_el0, 0x13\n"
      "  WRITE_REGISTER pmcr_el0, 3\n  WRITE_REGISTER pmcntenset_el0, 1\n  isb\n  mov x1, #0x200000\n"
      "  .rept 20\n  ldr x0, [x1]\n  str x0, [x1, #8]\n  .endr\n  msr pmcr_el0, xzr\n  mrs x0, pmevcntr0_el0\n  EXIT "
      "0\n");
  EXPECT_EQ(reads_of(run), (Counts{40}));
}

TEST(LabArm, A11_levels_are_excluded_and_el0_reads_what_it_may) {
  TALLY_NEEDS_ARM_ASSEMBLER();
  // EL0: ten NOP. EL1: ISB, two NOP, and the four of ENTER_USER.
  EXPECT_EQ(reads_of(example("pmuv3-el0")), (Counts{10, 7}));
  const Finished refused = tally({"lab", "-e", "msr pmuserenr_el0, 0; user; mrs pmccntr_el0"});
  EXPECT_EQ(refused.code(), 1);
  EXPECT_TRUE(holds(refused.out, "MRS at EL0 that PMUSERENR_EL0 does not allow")) << refused.out;
}

TEST(LabArm, what_reset_leaves_unknown_is_reported) {
  TALLY_NEEDS_ARM_ASSEMBLER();
  const Finished finished = tally({"lab", "-e", "msr pmcntenset_el0, 0x80000001; msr pmintenset_el1, 1"});
  EXPECT_EQ(finished.code(), 0) << finished.err;
  EXPECT_TRUE(holds(finished.out, "counter 0 is enabled before its event was chosen")) << finished.out;
  EXPECT_TRUE(holds(finished.out, "PMCCFILTR_EL0 is unknown after reset")) << finished.out;
  EXPECT_TRUE(holds(finished.out, "overflow flags are unknown after reset")) << finished.out;
}

TEST(LabArm, M_1_AP1_AP3_the_frameworks_setup_counts_at_the_levels_it_names) {
  TALLY_NEEDS_ARM_ASSEMBLER();
  const Json run = example("m1-setup");
  // At EL1, PMC1 counts ISB and two NOP, and PMC2 nothing; at EL0, PMC2 and PMC9 count; then PMC9 is disabled again.
  const Counts reads = reads_of(run);
  ASSERT_EQ(reads.size(), 5U);
  EXPECT_EQ((Counts{reads[0], reads[1]}), (Counts{3, 0}));
  EXPECT_EQ((Counts{reads[2], reads[3]}), (Counts{10, 11}));
  EXPECT_EQ(reads[4], 17U);  // two MRS, and the five of the write
}

TEST(LabArm, M_3_AP2_an_event_that_only_pmc7_counts_needs_pmesr1) {
  TALLY_NEEDS_ARM_ASSEMBLER();
  const Json run = example("m1-events");
  EXPECT_EQ(output_of(run), "97H on PMC7: 0\n97H on PMC7: 100\n");
  EXPECT_TRUE(holds(run.dump(), "not by PMC 5: it stays 0 there"));
}

TEST(LabArm, M_2_AP4_AP5_a_counter_loaded_below_2_to_47_samples) {
  TALLY_NEEDS_ARM_ASSEMBLER();
  const Json run = example("m1-sampling");
  EXPECT_EQ(output_of(run), "samples: 5\n");
  const auto overflows = all_of(run, "overflow");
  ASSERT_EQ(overflows.size(), 5U);
  EXPECT_EQ(overflows[0]["counter"], "PMC1");
  // From the write that enables it to the overflow: exactly the period in instructions.
  std::uint64_t enabled = 0;
  for (const Json& write : all_of(run, "write")) {
    if (write["register"] == "PMCR0_EL1" && enabled == 0) enabled = write["instruction"];
  }
  EXPECT_EQ(overflows[0]["instruction"].get<std::uint64_t>() - enabled, 1000U);
}

TEST(LabArm, AP4_an_interrupt_stops_the_counters_and_blocks_the_next) {
  TALLY_NEEDS_ARM_ASSEMBLER();
  const Json run = example("m1-stop", {"--reads"});
  const std::uint64_t top = 1ULL << 47;
  EXPECT_EQ(reads_of(run), (Counts{top, 5, 2}));
  bool is_active = false, is_set = false;
  for (const Json& read : all_of(run, "read")) {
    is_active = is_active || (read["register"] == "PMCR0_EL1" && read["value"] == "0x102c03");
    is_set = is_set || (read["register"] == "PMSR_EL1" && read["value"] == "0x2");
  }
  EXPECT_TRUE(is_active);
  EXPECT_TRUE(is_set);
  EXPECT_EQ(all_of(run, "pmi").size(), 1U);
}

TEST(LabArm, AP6_el0_traps_until_bit_30_is_set) {
  TALLY_NEEDS_ARM_ASSEMBLER();
  const Json run = example("m1-el0");
  EXPECT_EQ(run["end"]["code"], 0);
  EXPECT_EQ(all_of(run, "enter").size(), 1U);
  EXPECT_EQ(reads_of(run).size(), 2U);
}

TEST(LabArm, AP7_a_write_waits_for_its_barrier_where_that_is_asked_for) {
  TALLY_NEEDS_ARM_ASSEMBLER();
  const Json strict = example("m1-barrier", {"--barriers"});
  EXPECT_EQ(output_of(strict), "0xDEAD0B5EDEAD0B5E\n0x0000000000000003\n");
  EXPECT_EQ(reads_of(strict)[0], 0U);
  EXPECT_NE(reads_of(example("m1-barrier"))[0], 0U);
}

TEST(LabArm, AP8_pmc8_follows_the_gap) {
  TALLY_NEEDS_ARM_ASSEMBLER();
  const Json run = example("m1-encodings");
  EXPECT_EQ(reads_of(run), (Counts{8, 9}));
  ASSERT_EQ(all_of(run, "enter").size(), 1U);
  EXPECT_EQ(all_of(run, "enter")[0]["place"], "line 17");
}

TEST(LabArm, registers_survive_an_interrupt_at_el0) {
  TALLY_NEEDS_ARM_ASSEMBLER();
  const Json run = program(
      "  adr x0, handler\n  bl set_interrupt_handler\n  WRITE_REGISTER pmcntenclr_el0, 0xffffffff\n"
      "  WRITE_REGISTER pmintenclr_el1, 0xffffffff\n  WRITE_REGISTER pmovsclr_el0, 0xffffffff\n"
      "  WRITE_REGISTER pmevtyper0_el0, 0x80000008\n  WRITE_REGISTER pmevcntr0_el0, 0xffffffff\n"
      "  WRITE_REGISTER pmintenset_el1, 1\n  WRITE_REGISTER pmcntenset_el0, 1\n  WRITE_REGISTER pmcr_el0, 1\n"
      "  ENTER_USER user\nuser:\n  mov x5, #55\n  mov x29, #29\n  mov x30, #30\n  fmov d3, #1.5\n  sub sp, sp, #32\n"
      "  cmp x5, #55\n  nop\n  b.ne bad\n  cmp x29, #29\n  b.ne bad\n  cmp x30, #30\n  b.ne bad\n"
      "  fmov d4, #1.5\n  fcmp d3, d4\n  b.ne bad\n  mov x6, sp\n  movz x7, #0x5, lsl #16\n  movk x7, #0xffe0\n"
      "  cmp x6, x7\n  b.ne bad\n  EXIT 0\nbad:\n  EXIT 1\n"
      "handler:\n  STORE_CONTEXT\n  WRITE_REGISTER pmevcntr0_el0, 0xffffffff\n  CLEAR_OVERFLOWS\n  RESTORE_CONTEXT\n  "
      "eret\n");
  EXPECT_EQ(run["end"]["code"], 0);
  EXPECT_GT(all_of(run, "enter").size(), 10U);
}

TEST(LabArm, atomic_instructions_run) {
  TALLY_NEEDS_ARM_ASSEMBLER();
  for (const char* const model : {"armv8-pmuv3", "apple-m1"}) {
    const Json run = program(
        "  .arch armv8.1-a\n  mov x1, #0x200000\n  mov x0, #5\n  ldadd x0, x2, [x1]\n  ldadd x0, x2, [x1]\n"
        "  mov x3, #10\n  mov x4, #7\n  cas x3, x4, [x1]\n  swp x0, x5, [x1]\n  cmp x5, #7\n  b.ne 1f\n"
        "  cmp x2, #5\n  b.ne 1f\n  EXIT 0\n1:\n  EXIT 1\n",
        {"--model", model});
    EXPECT_EQ(run["end"]["reason"], "exited") << run["end"];
  }
}

// Counts at EL1 with these events on PMC2 to PMC9, from an ISB to the write that stops them, both included.
Json events_of(const std::string& body, const std::string& select_2_to_5, const std::string& select_6_to_9,
               const std::string& control = "0x3000000ff") {
  return program(
      "  .arch armv8.1-a\n  mov x10, #0x200000\n  WRITE_REGISTER PMCR1_EL1, 0x3030000ffff00\n"
      "  WRITE_REGISTER PMESR0_EL1, " +
          select_2_to_5 + "\n  WRITE_REGISTER PMESR1_EL1, " + select_6_to_9 +
          "\n  WRITE_REGISTER PMC1, 0x7fffffffffff\n  WRITE_REGISTER PMCR0_EL1, " + control + "\n  isb\n" + body +
          "  msr PMCR0_EL1, xzr\n  isb\n  EXIT 0\n",
      {"--model", "apple-m1"})["counters"];
}

TEST(LabArm, micro_ops_of_the_m1_are_those_of_the_unit_of_each_instruction) {
  TALLY_NEEDS_ARM_ASSEMBLER();
  const Json counts = events_of(
      "  add x1, x1, #1\n  add x1, x1, #1\n  add x1, x1, #1\n  ldr x2, [x10]\n  str x2, [x10]\n  fadd d0, d0, d0\n"
      "  b 1f\n1:\n  nop\n  dmb sy\n",
      "0x55545352", "0x7e7d7c6c");
  EXPECT_EQ(counts["PMC2"], 7) << "issued";
  EXPECT_EQ(counts["PMC3"], 4) << "integer unit, with the branch";
  EXPECT_EQ(counts["PMC4"], 1);
  EXPECT_EQ(counts["PMC5"], 2);
  EXPECT_EQ(counts["PMC6"], 0) << "no interrupt is pending";
  EXPECT_EQ(counts["PMC7"], 4);
  EXPECT_EQ(counts["PMC8"], 2);
  EXPECT_EQ(counts["PMC9"], 1);
}

TEST(LabArm, cycles_with_a_pending_interrupt_are_counted_while_it_is_masked) {
  TALLY_NEEDS_ARM_ASSEMBLER();
  // The ISB overflows PMC1, which interrupts; PSTATE.F masks it. Ten NOP and the write follow.
  const Json counts = events_of("  .rept 10\n  nop\n  .endr\n", "0", "0x6c", "0x3000024ff");
  EXPECT_EQ(counts["PMC6"], 11);
}

TEST(LabArm, atomic_accesses_and_mispredicted_targets_of_the_m1_are_counted) {
  TALLY_NEEDS_ARM_ASSEMBLER();
  const Json counts = events_of(
      "  ldadd x0, x2, [x10]\n  cas x3, x4, [x10]\n  ldxr x5, [x10]\n  stxr w6, x5, [x10]\n"
      "  clrex\n  stxr w6, x5, [x10]\n  adr x7, 2f\n  mov x8, #4\n1: blr x7\n  subs x8, x8, #1\n  b.ne 1b\n"
      "  adr x7, 3f\n  br x7\n2: ret\n3:\n",
      "0xc600b4b3", "0xcbca");
  EXPECT_EQ(counts["PMC2"], 3) << "LDADD, CAS and the first STXR";
  EXPECT_EQ(counts["PMC3"], 1) << "the STXR after CLREX";
  EXPECT_EQ(counts["PMC5"], 2) << "the first BLR, and BR";
  EXPECT_EQ(counts["PMC6"], 1) << "BLR";
  EXPECT_EQ(counts["PMC7"], 5) << "and three of the conditional branch";
}

TEST(LabArm, an_event_that_the_core_cannot_have_is_reported_with_the_reason) {
  TALLY_NEEDS_ARM_ASSEMBLER();
  const Finished finished = tally({"lab", "--model", "apple-m1", "-e", "msr PMESR0_EL1, 0x56c1d370; nop"});
  for (const char* const word : {"pipeline", "cache", "translate", "Nobody"}) {
    EXPECT_TRUE(holds(finished.out, word)) << word << "\n" << finished.out;
  }
}

TEST(LabArm, interrupt_modes_that_reach_nothing_get_a_remark) {
  TALLY_NEEDS_ARM_ASSEMBLER();
  for (const auto& [value, remark] :
       {std::pair{"0x100", "mode PMI interrupts by"}, {"0x200", "mode AIC interrupts by"}}) {
    const Finished finished = tally({"lab", "--model", "apple-m1", "-e", std::string("msr S3_1_C15_C0_0, ") + value});
    EXPECT_TRUE(holds(finished.out, remark)) << finished.out << finished.err;
  }
  const Finished fast = tally({"lab", "--model", "apple-m1", "-e", "msr S3_1_C15_C0_0, 0x400"});
  EXPECT_FALSE(holds(fast.out, "interrupts by")) << fast.out;
}

TEST(LabArm, mistakes_are_reported_with_a_suggestion) {
  TALLY_NEEDS_ARM_ASSEMBLER();
  const auto error_of = [](const std::string& text) {
    const TemporaryFile file("bad.s", ".arch armv8-a\n" + text);
    const Finished finished = tally({"lab", file.path()});
    EXPECT_NE(finished.code(), 0) << finished.out;
    return finished.err;
  };
  EXPECT_TRUE(holds(error_of("  mvo x0, x1\n"), "did you mean mov?")) << error_of("  mvo x0, x1\n");
  EXPECT_TRUE(holds(error_of("  msr pmcr_el9, x1\n"), "did you mean pmcr_el0?")) << error_of("  msr pmcr_el9, x1\n");
  EXPECT_TRUE(holds(error_of("  wrmsr\n"), "this is an x86 instruction: use MSR and MRS"));
  EXPECT_TRUE(holds(error_of("  b nowhere\n"), "there is no label")) << error_of("  b nowhere\n");
  const std::string loop = error_of("1: b 1b\n");
  EXPECT_TRUE(holds(loop, "instructions; the last ones at line 2")) << loop;
  EXPECT_TRUE(
      holds(error_of("  mov x0, #0x2000000\n  str x0, [x0]\n"), "line 3 writes to 2000000H, which is not mapped"));
  EXPECT_TRUE(
      holds(error_of("  mov x0, #0x2000000\n  mov sp, x0\n  str x0, [sp]\n"), "the stack is outside of memory"));
  EXPECT_TRUE(holds(error_of("  svc #3\n"), "VBAR_EL1 is 0: no handler")) << error_of("  svc #3\n");
  EXPECT_TRUE(holds(error_of("  mrs x0, S3_1_C15_C0_0\n"), "the emulated core has no such register"));
}

TEST(LabArm, a_program_for_the_other_processor_is_refused) {
  TALLY_NEEDS_ARM_ASSEMBLER();
  const TemporaryFile file("program.s", ".arch armv8-a\n  ret\n");
  const TemporaryFile image("program.elf", "");
  const std::string command = "aarch64-linux-gnu-as -o " + image.path() + ".o " + file.path() +
                              " && aarch64-linux-gnu-ld -Ttext=0x100000 -o " + image.path() + " " + image.path() +
                              ".o 2>/dev/null; rm -f " + image.path() + ".o";
  ASSERT_EQ(Running({"/bin/sh", "-c", command}).finish().code(), 0);
  const Finished here = tally({"lab", image.path()});
  EXPECT_EQ(here.code(), 0) << here.err;
  EXPECT_TRUE(holds(here.out, "armv8-pmuv3")) << here.out;
  const Finished option = tally({"lab", "--skid", "3", image.path()});
  EXPECT_EQ(option.code(), 2);
  EXPECT_TRUE(holds(option.err, "--skid is for x86, and armv8-pmuv3 is an Arm core")) << option.err;
  const Finished there = tally({"lab", "--model", "haswell-v3", image.path()});
  EXPECT_EQ(there.code(), 2);
  EXPECT_TRUE(holds(there.err, "is a program for AArch64")) << there.err;
}

}  // namespace
}  // namespace tally::test
#endif
