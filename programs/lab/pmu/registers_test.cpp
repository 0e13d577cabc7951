// Tests register accesses. Test names begin with the number of the rule they check: W for values and widths, R for
// protection.
#include <map>

#include "programs/lab/pmu/intel_testing.hpp"

namespace tally::pmu::emulated {
namespace {

TEST(EmulatedRegisters, W1_a_legacy_write_takes_eax_sign_extended) {
  Bench pmu;
  const std::pair<std::uint64_t, std::uint64_t> cases[] = {{0x7FFF'FFFF, 0x7FFF'FFFF},
                                                           {0x8000'0000, 0xFFFF'8000'0000},
                                                           {0xFFFF'FFFF, largest},
                                                           {0xFFFF'0000'0001, 1},
                                                           {~0ULL, largest}};
  for (const auto& [written, read] : cases) {
    pmu.set(0xC1, written);
    EXPECT_EQ(pmu.get(0xC1), read) << std::hex << written;
  }
}

TEST(EmulatedRegisters, W2_full_width_writes_take_all_48_bits_and_no_more) {
  Bench pmu;
  pmu.set(0x4C1, 0x1234'5678'9ABC);
  EXPECT_EQ(pmu.get(0xC1), 0x1234'5678'9ABCU);
  EXPECT_EQ(pmu.get(0x4C1), 0x1234'5678'9ABCU);
  EXPECT_FALSE(pmu.write(0x4C1, 1ULL << 48));
  EXPECT_EQ(pmu.get(0xC1), 0x1234'5678'9ABCU);
}

TEST(EmulatedRegisters, W3_without_the_capability_there_are_no_full_width_writes) {
  Bench pmu("nehalem-v3");
  EXPECT_FALSE(pmu.read(0x4C1));
  EXPECT_FALSE(pmu.write(0x4C1, 0));
}

TEST(EmulatedRegisters, W4_fixed_counters_are_written_in_full_width) {
  Bench silicon;
  silicon.set(0x309, 0xFFFF'FFFF'3CB0);
  EXPECT_EQ(silicon.get(0x309), (1ULL << 48) - 50'000);
  EXPECT_FALSE(silicon.write(0x309, 1ULL << 48));
  Bench kvm("kvm-v2");
  kvm.set(0x309, 1ULL << 48 | 5);
  EXPECT_EQ(kvm.get(0x309), 5U);
}

TEST(EmulatedRegisters, W5_rdmsr_and_rdpmc_agree_while_stopped) {
  Bench pmu;
  pmu.set(0x4C2, 0xFEDC'BA98'7654);
  pmu.set(0x30A, 0xFEDC'BA98'7654);
  EXPECT_EQ(pmu.rdmsr(0xC2).value, 0xFEDC'BA98'7654U);
  EXPECT_EQ(pmu.rdpmc(1).value, 0xFEDC'BA98'7654U);
  EXPECT_EQ(pmu.rdpmc(0x4000'0001).value, 0xFEDC'BA98'7654U);
}

TEST(EmulatedRegisters, R1_rdpmc_in_user_mode_takes_cr4_pce) {
  Bench pmu;
  EXPECT_FALSE(pmu.rdpmc(0, 3, false));
  EXPECT_TRUE(pmu.rdpmc(0, 3, true));
  EXPECT_TRUE(pmu.rdpmc(0, 0, false));
}

TEST(EmulatedRegisters, R2_rdpmc_of_a_counter_that_does_not_exist_faults) {
  for (const Profile& profile : profiles()) {
    Bench pmu(profile);
    for (std::uint32_t n = 0; n <= 64; ++n) {
      EXPECT_EQ(static_cast<bool>(pmu.rdpmc(n)), n < static_cast<std::uint32_t>(profile.counters)) << n;
      EXPECT_EQ(static_cast<bool>(pmu.rdpmc(0x4000'0000 | n)), n < 32 && profile.has_fixed(static_cast<int>(n))) << n;
    }
    for (const std::uint32_t ecx : {0x8000'0000U, 0xC000'0000U, 0x1000'0000U, 0x6000'0000U, 0x0001'0000U}) {
      EXPECT_FALSE(pmu.rdpmc(ecx)) << std::hex << ecx;
    }
  }
}

TEST(EmulatedRegisters, R3_metrics_are_read_where_the_capability_says_so) {
  Profile with = profile_named("icelake-v5");
  *with.capabilities |= 1U << 15;
  EXPECT_TRUE(Bench(with).rdpmc(0x2000'0000));
  EXPECT_FALSE(Bench("icelake-v5").rdpmc(0x2000'0000));
}

TEST(EmulatedRegisters, R4_two_reads_differ_by_the_instructions_in_between_and_one) {
  for (const std::uint64_t between : {5, 7, 101}) {
    Bench pmu;
    pmu.set(0x186, instructions_always);
    const auto first = pmu.rdpmc(0).value;
    pmu.run(between);
    EXPECT_EQ(pmu.rdpmc(0).value - first, between + 1);
  }
}

TEST(EmulatedRegisters, R5_only_the_kernel_reads_and_writes_msrs_and_unknown_ones_fault) {
  Bench pmu;
  pmu.set(0x186, instructions_always);
  EXPECT_FALSE(pmu.rdmsr(0x186, 3));
  EXPECT_FALSE(pmu.wrmsr(0x186, 0, 3));
  EXPECT_EQ(pmu.get(0x186), instructions_always);
  for (const std::uint32_t index : {0xC5, 0xC8, 0x18A, 0x18D, 0x30C, 0x30F, 0x329, 0x393}) {
    EXPECT_FALSE(pmu.rdmsr(index)) << std::hex << index;
    EXPECT_FALSE(pmu.wrmsr(index, 0)) << std::hex << index;
  }
  EXPECT_EQ(pmu.get(0xC1), 0U) << "a faulting instruction does not retire";
}

// The bits according to the SDM and KVM, written by hand and independent of the tables that the emulator uses.
struct Walk {
  std::uint32_t index;
  std::uint64_t stored;    // reads back as written
  std::uint64_t accepted;  // no fault; reads 0
};

void walk(Bench& pmu, const Walk& expected, std::string_view profile) {
  const std::uint64_t before = pmu.get(expected.index);
  for (int bit = 0; bit < 64; ++bit) {
    const std::uint64_t one = 1ULL << bit;
    const Answer answer = pmu.write(expected.index, one);
    const bool faults = ((expected.stored | expected.accepted) & one) == 0;
    EXPECT_EQ(!answer, faults) << profile << " " << std::hex << expected.index << std::dec << " bit " << bit;
    if (faults) {
      EXPECT_EQ(pmu.get(expected.index), before) << "the old value must stay";
    } else {
      EXPECT_EQ(pmu.get(expected.index), expected.stored & one) << std::hex << expected.index << " bit " << bit;
      pmu.set(expected.index, before & expected.stored);
    }
  }
}

TEST(EmulatedRegisters, R6_every_bit_of_every_register_is_stored_or_ignored_or_faults) {
  constexpr std::uint64_t gp4 = 0xF, gp8 = 0xFF;
  constexpr std::uint64_t fixed3 = 7ULL << 32, fixed4 = 15ULL << 32;
  constexpr std::uint64_t top = 3ULL << 62;
  constexpr std::uint64_t v3_top = 7ULL << 61;
  constexpr std::uint64_t v4_top = v3_top | 1ULL << 60 | 1ULL << 59 | 1ULL << 58 | 1ULL << 55;
  constexpr std::uint64_t debug = 0x3FC7;
  const std::map<std::string_view, std::vector<Walk>> expected = {
      {"haswell-v3",
       {{0x186, 0xFFFF'FFFF, 0},
        {0x189, 0xFFFF'FFFF, 0},
        {0x38D, 0xFFF, 0},
        {0x38F, gp4 | fixed3, 0},
        {0x390, 0, gp4 | fixed3 | v3_top},
        {0x309, low_ones(48), 0},
        {0x4C1, low_ones(48), 0},
        {0x1D9, debug, 0}}},
      {"nehalem-v3", {{0x186, 0xFFFF'FFFF, 0}, {0x38D, 0xFFF, 0}, {0x38F, gp4 | fixed3, 0}, {0x1D9, debug, 0}}},
      {"skylake-v4",
       {{0x186, 0xFFFF'FFFF, 0}, {0x38D, 0xFFF, 0}, {0x38F, gp4 | fixed3, 0}, {0x390, 0, gp4 | fixed3 | v4_top}}},
      {"icelake-v5",
       {{0x186, 0xFFDF'FFFF, 0},
        {0x18D, 0xFFDF'FFFF, 0},
        {0x38D, 0xBBBB, 0},
        {0x38F, gp8 | fixed4, 0},
        {0x390, 0, gp8 | fixed4 | v4_top}}},
      {"kvm-v2",
       {{0x186, 0xFFDF'FFFF, 0},
        {0x38D, 0xBBB, 0},
        {0x38F, gp4 | fixed3, 0},
        {0x390, 0, gp4 | fixed3 | top},
        {0x309, low_ones(48), ~0ULL}}},
  };
  for (const auto& [profile, walks] : expected) {
    for (const Walk& one : walks) {
      Bench pmu(profile);
      // F6: freezing in SMM is a capability.
      Walk here = one;
      if (here.index == 0x1D9 && pmu.profile().has_capability(12)) here.stored |= 1U << 14;
      walk(pmu, here, profile);
    }
  }
}

TEST(EmulatedRegisters, R6_a_fault_reports_the_bit_and_the_reason) {
  Bench pmu("icelake-v5");
  const Answer answer = pmu.write(0x186, 1U << 21);
  ASSERT_FALSE(answer);
  EXPECT_EQ(*answer.fault, "bit 21 of IA32_PERFEVTSEL0 is reserved (ANY is missing on icelake-v5)");
}

TEST(EmulatedRegisters, R7_the_status_is_set_and_use_is_shown_since_version_4) {
  for (const char* name : {"haswell-v3", "nehalem-v3", "kvm-v2"}) {
    Bench pmu(name);
    EXPECT_FALSE(pmu.write(0x391, 0)) << name;
    EXPECT_FALSE(pmu.read(0x392)) << name;
  }
  Bench pmu("skylake-v4");
  pmu.set(0x391, 1);
  pmu.set(0x391, 2);
  pmu.set(0x391, 0);
  EXPECT_EQ(pmu.get(0x38E), 3U) << "ones are added, zeros leave alone";
  EXPECT_EQ(pmu.get(0x391), 0U);
  EXPECT_FALSE(pmu.write(0x391, 1ULL << 63));
  EXPECT_EQ(pmu.get(0x392), 0U);
  pmu.set(0x187, 0xC0);
  pmu.set(0x38D, 0x20);
  EXPECT_EQ(pmu.get(0x392), 1ULL << 33 | 2);
  pmu.set(0x38D, 0xA0);
  EXPECT_EQ(pmu.get(0x392), 1ULL << 63 | 1ULL << 33 | 2);
  pmu.set(0x187, 0);
  pmu.set(0x38D, 0);
  EXPECT_EQ(pmu.get(0x392), 0U);
  EXPECT_FALSE(pmu.write(0x392, 0));
}

TEST(EmulatedRegisters, R8_the_capabilities_are_read_only_and_need_pdcm) {
  Bench pmu;
  EXPECT_EQ(pmu.get(0x345), *pmu.profile().capabilities);
  EXPECT_FALSE(pmu.write(0x345, pmu.get(0x345)));
  Profile old = profile_named("haswell-v3");
  old.capabilities.reset();
  EXPECT_FALSE(Bench(old).read(0x345));
}

TEST(EmulatedRegisters, condition_changed_and_buffer_overflow_can_be_cleared) {
  Bench pmu("skylake-v4");
  pmu.set(0x391, 1ULL << 62);
  EXPECT_EQ(pmu.get(0x38E), 1ULL << 62);
  pmu.set(0x390, 3ULL << 62);
  EXPECT_EQ(pmu.get(0x38E), 0U);
}

}  // namespace
}  // namespace tally::pmu::emulated
