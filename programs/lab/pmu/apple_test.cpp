// Tests the emulated PMU of Apple's cores. Test names begin with the number of the rule they check: AP, or M for
// statements of the M1 framework's document.
#include "programs/lab/pmu/apple_pmu.hpp"

#include <gtest/gtest.h>

namespace tally::pmu::emulated {
namespace {

// Independent of the tables, because AP8 tests them.
constexpr std::uint64_t pmcr0 = system_register(3, 1, 15, 0, 0);
constexpr std::uint64_t pmcr1 = system_register(3, 1, 15, 1, 0);
constexpr std::uint64_t pmesr0 = system_register(3, 1, 15, 5, 0);
constexpr std::uint64_t pmesr1 = system_register(3, 1, 15, 6, 0);
constexpr std::uint64_t pmsr = system_register(3, 1, 15, 13, 0);
constexpr std::uint64_t pmc(unsigned i) { return system_register(3, 2, 15, i < 8 ? i : i + 1, 0); }

constexpr std::uint64_t enable_all = 0x3'0000'00FF;
constexpr std::uint64_t everywhere = 0x3'0300'00FF'FF00;
constexpr std::uint64_t fiq = 4ULL << 8;

struct AppleBench : ApplePmu {
  explicit AppleBench(AppleBehaviour behaviour = {}) : ApplePmu(behaviour) {}
  void set(std::uint64_t number, std::uint64_t value) {
    const Answer answer = write(number, value);
    EXPECT_TRUE(answer) << answer.fault.value_or("");
  }
  std::uint64_t get(std::uint64_t number) const { return read(number).value; }
  void run(int times, AppleWork work = {}, int level = 1) {
    for (int i = 0; i < times; ++i) retire(work, level);
  }
};

TEST(EmulatedApple, AP1_a_counter_counts_if_it_and_the_level_are_enabled) {
  for (unsigned counter = 0; counter < 10; ++counter) {
    for (const bool enabled : {false, true}) {
      for (int levels = 0; levels < 4; ++levels) {
        for (const int level : {0, 1}) {
          AppleBench pmu;
          const unsigned low = counter < 8 ? counter : 32 + counter - 8;
          const unsigned el0 = counter < 8 ? 8 + counter : 40 + counter - 8;
          const unsigned el1 = counter < 8 ? 16 + counter : 48 + counter - 8;
          pmu.set(pmesr0, 0x8D8D8D8D);
          pmu.set(pmesr1, 0x8D8D8D8D);
          AppleWork work;
          work.events[0x8D] = 1;
          pmu.set(pmcr0, enabled ? 1ULL << low : 0);
          pmu.set(pmcr1, (levels & 1 ? 1ULL << el0 : 0) | (levels & 2 ? 1ULL << el1 : 0));
          pmu.run(7, work, level);
          // Only PMC5 to 7 count branches, 8DH.
          const bool able = counter < 2 || (counter >= 5 && counter <= 7);
          const bool counts = able && enabled && (levels >> level & 1) != 0;
          EXPECT_EQ(pmu.get(pmc(counter)), counts ? 7U : 0U) << counter << " " << levels << " EL" << level;
        }
      }
    }
  }
}

TEST(EmulatedApple, AP2_an_event_on_a_counter_that_cannot_count_it_stays_0_and_is_noted) {
  AppleWork stores;
  stores.events[0x96] = 1;
  for (const bool observed : {false, true}) {
    AppleBehaviour behaviour;
    behaviour.observed_affinity = observed;
    AppleBench pmu(behaviour);
    pmu.set(pmcr0, enable_all);
    pmu.set(pmcr1, everywhere);
    pmu.set(pmesr0, 0x96969696);
    pmu.set(pmesr1, 0x96969696);
    pmu.run(3, stores);
    for (unsigned i = 2; i < 10; ++i) {
      const bool counts = observed ? i >= 5 && i <= 7 : i == 7;
      EXPECT_EQ(pmu.get(pmc(i)), counts ? 3U : 0U) << i;
    }
    EXPECT_FALSE(pmu.violations().empty());
    EXPECT_EQ(pmu.violations().front(), "event 96H is not counted by PMC2");
  }
}

TEST(EmulatedApple, AP3_the_first_two_counters_are_fixed) {
  AppleBench pmu;
  pmu.set(pmcr0, 3);
  pmu.set(pmcr1, everywhere);
  pmu.set(pmesr0, 0xFFFFFFFF);
  pmu.set(pmesr1, 0xFFFFFFFF);
  AppleWork work;
  work.cycles = 3;
  pmu.run(5, work);
  EXPECT_EQ(pmu.get(pmc(0)), 15U);
  EXPECT_EQ(pmu.get(pmc(1)), 5U);
}

TEST(EmulatedApple, AP4_the_status_follows_bit_47_and_an_active_interrupt_blocks_the_next) {
  AppleBench pmu;
  pmu.set(pmcr0, enable_all | fiq | 3ULL << 12);
  pmu.set(pmcr1, everywhere);
  pmu.set(pmc(0), (1ULL << 47) - 2);
  pmu.set(pmc(1), (1ULL << 47) - 4);
  pmu.run(1);
  EXPECT_EQ(pmu.get(pmsr), 0U);
  EXPECT_FALSE(pmu.has_interrupt());
  pmu.run(1);
  EXPECT_EQ(pmu.get(pmsr), 1U);
  EXPECT_TRUE(pmu.has_interrupt());
  EXPECT_NE(pmu.get(pmcr0) & 1U << 11, 0U);
  const std::uint64_t overflowed = pmu.get(pmc(0));
  pmu.set(pmc(0), 0);
  pmu.run(1);
  EXPECT_TRUE(pmu.has_interrupt()) << "active until software says otherwise, whatever the counters are";
  pmu.set(pmc(0), overflowed);
  pmu.run(1);
  EXPECT_EQ(pmu.get(pmsr), 3U) << "the second overflow shows, though its interrupt waits";
  pmu.set(pmc(0), 0);
  pmu.set(pmcr0, pmu.get(pmcr0) & ~(1ULL << 11));
  EXPECT_FALSE(pmu.has_interrupt());
  pmu.run(1);
  EXPECT_TRUE(pmu.has_interrupt());
}

TEST(EmulatedApple, AP4_interrupts_require_fiq_mode_and_an_enabled_counter) {
  for (std::uint64_t mode = 0; mode < 5; ++mode) {
    for (const bool asks : {false, true}) {
      AppleBench pmu;
      pmu.set(pmcr0, enable_all | mode << 8 | (asks ? 1ULL << 12 : 0));
      pmu.set(pmcr1, everywhere);
      pmu.set(pmc(0), (1ULL << 47) - 1);
      pmu.run(1);
      EXPECT_EQ(pmu.has_interrupt(), mode == 4 && asks) << mode;
    }
  }
}

TEST(EmulatedApple, AP4_bit_20_stops_all_counters_at_an_interrupt) {
  for (const bool stops : {false, true}) {
    AppleBench pmu;
    pmu.set(pmcr0, enable_all | fiq | 1ULL << 12 | (stops ? 1ULL << 20 : 0));
    pmu.set(pmcr1, everywhere);
    pmu.set(pmc(0), (1ULL << 47) - 1);
    pmu.run(1);
    pmu.run(10);
    EXPECT_EQ(pmu.get(pmc(1)), stops ? 1U : 11U);
  }
}

TEST(EmulatedApple, AP4_on_the_m2_the_overflow_is_bit_63) {
  AppleBehaviour m2;
  m2.overflow_bit = 63;
  AppleBench pmu(m2);
  pmu.set(pmcr0, 1);
  pmu.set(pmcr1, everywhere);
  pmu.set(pmc(0), (1ULL << 47) - 1);
  pmu.run(1);
  EXPECT_EQ(pmu.get(pmsr), 0U);
  pmu.set(pmc(0), (1ULL << 63) - 1);
  pmu.run(1);
  EXPECT_EQ(pmu.get(pmsr), 1U);
}

// M-2: the document claims that sampling is impossible because the overflow is always bit 47.
TEST(EmulatedApple, AP5_M_2_a_counter_that_is_set_below_bit_47_interrupts_after_a_period) {
  for (const int period : {1, 10, 1009}) {
    AppleBench pmu;
    pmu.set(pmcr0, enable_all | fiq | 2ULL << 12);
    pmu.set(pmcr1, everywhere);
    for (int sample = 0; sample < 3; ++sample) {
      pmu.set(pmc(1), (1ULL << 47) - static_cast<std::uint64_t>(period));
      pmu.set(pmcr0, pmu.get(pmcr0) & ~(1ULL << 11));
      int waited = 0;
      while (!pmu.has_interrupt() && waited < 2000) {
        pmu.run(1);
        ++waited;
      }
      EXPECT_EQ(waited, period);
    }
  }
}

TEST(EmulatedApple, AP6_user_mode_reads_counters_if_bit_30_is_set) {
  AppleBench pmu;
  EXPECT_FALSE(pmu.read(pmc(0), 0));
  EXPECT_FALSE(pmu.write(pmc(0), 1, 0));
  pmu.set(pmcr0, 1ULL << 30);
  EXPECT_TRUE(pmu.read(pmc(0), 0));
}

TEST(EmulatedApple, AP7_a_control_write_waits_for_its_barrier) {
  AppleBehaviour strict;
  strict.strict_barriers = true;
  AppleBench pmu(strict);
  pmu.set(pmcr1, everywhere);
  pmu.set(pmcr0, enable_all);
  pmu.run(5);
  EXPECT_EQ(pmu.get(pmc(1)), 0U);
  EXPECT_EQ(pmu.get(pmcr0), ApplePmu::poison);
  pmu.synchronize();
  EXPECT_EQ(pmu.get(pmcr0), enable_all);
  pmu.run(5);
  EXPECT_EQ(pmu.get(pmc(1)), 5U);
}

TEST(EmulatedApple, AP8_the_last_two_counters_skip_an_encoding) {
  AppleBench pmu;
  EXPECT_FALSE(pmu.read(system_register(3, 2, 15, 8, 0)));
  EXPECT_TRUE(pmu.read(system_register(3, 2, 15, 9, 0)));
  EXPECT_TRUE(pmu.read(system_register(3, 2, 15, 10, 0)));
  EXPECT_FALSE(pmu.read(system_register(3, 2, 15, 11, 0)));
}

TEST(EmulatedApple, M_1_the_published_constants) {
  AppleBench pmu;
  pmu.set(pmcr1, 0x3'0000'03FF00);
  pmu.set(pmcr0, 0x3'0034'00FF'4FF);
  EXPECT_EQ(pmu.get(pmcr0) >> 8 & 7, 4U);
  EXPECT_TRUE(pmu.read(pmc(9), 0));
  AppleWork work;
  work.events[0x52] = 2;
  pmu.set(pmesr0, 0x52525252);
  pmu.set(pmesr1, 0x52525252);
  pmu.run(10, work, 0);
  pmu.run(10, work, 1);
  EXPECT_EQ(pmu.get(pmc(0)), 20U) << "PMC0 and 1 count in both levels";
  EXPECT_EQ(pmu.get(pmc(1)), 20U);
  for (unsigned i = 2; i < 10; ++i) EXPECT_EQ(pmu.get(pmc(i)), 20U) << i;
}

// The framework's setter writes PMESR0 twice, so the value of PMESR1 is lost and PMC7 never counts events.
TEST(EmulatedApple, M_3_with_the_second_selector_written_to_the_first_pmc7_is_never_programmed) {
  AppleWork work;
  work.events[0x97] = 1;  // integer operations: PMC7 only
  for (const bool fixed : {false, true}) {
    AppleBench pmu;
    pmu.set(pmcr0, enable_all);
    pmu.set(pmcr1, everywhere);
    pmu.set(pmesr0, 0x97979797);
    pmu.set(fixed ? pmesr1 : pmesr0, 0x97979797);
    pmu.run(10, work);
    std::uint64_t seen = 0;
    for (unsigned i = 2; i < 10; ++i) seen += pmu.get(pmc(i));
    EXPECT_EQ(seen, fixed ? 10U : 0U);
  }
}

}  // namespace
}  // namespace tally::pmu::emulated
