// Tests the PEBS records of the emulated PMU. Source of the expected behaviour: Intel SDM vol. 3B, "Processor Event
// Based Sampling (PEBS)" and "Performance Counter Prioritization".
#include "programs/lab/pmu/pebs.hpp"

#include <map>

#include "programs/lab/pmu/intel_testing.hpp"

namespace tally::pmu::emulated {
namespace {

constexpr std::uint64_t area = 0x1000, buffer = 0x2000, memory_end = 0x10000;
constexpr std::uint64_t buffer_full = 1ULL << 62;

class Words : public LinearMemory {
 public:
  std::optional<std::uint64_t> read(std::uint64_t address) const override {
    if (address >= memory_end) return std::nullopt;
    const auto at = words_.find(address);
    return at == words_.end() ? 0 : at->second;
  }
  bool write(std::uint64_t address, std::uint64_t value) override {
    if (address >= memory_end) return false;
    words_[address] = value;
    return true;
  }

 private:
  std::map<std::uint64_t, std::uint64_t> words_;
};

// A PMU whose counter 0 writes a record at each third instruction, into a buffer of three records.
struct PebsBench : Bench {
  explicit PebsBench(std::string_view name = "haswell-v3", std::uint64_t control = instructions_always) : Bench(name) {
    size = pebs_record_bytes(profile().pebs_format());
    memory.write(area + ds::base, buffer);
    memory.write(area + ds::index, buffer);
    memory.write(area + ds::maximum, buffer + 3 * size);
    memory.write(area + ds::threshold, buffer + 2 * size);
    memory.write(area + ds::reset, std::uint64_t{} - 2);
    set_vector(0x33);
    set(0x600, area);
    set(0xC1, 0xFFFF'FFFE);
    set(0x3F1, 1);
    set(0x186, control);
    listen([this](const Happening& what) {
      if (what.kind == Happening::Kind::record) records.push_back(what.record);
    });
  }

  // Executes instructions at consecutive addresses, from 1 on.
  void execute(int instructions, const Work& work = one_instruction()) {
    for (int i = 0; i < instructions; ++i) {
      retire(work, 0);
      ++address;
      if (!has_record()) continue;
      PebsState state{.instruction = address, .next = address + 1, .flags = 2, .loaded = 0x700, .stored = 0x800};
      for (std::size_t r = 0; r < state.registers.size(); ++r) state.registers[r] = 100 + r;
      record(state, memory);
    }
  }
  std::uint64_t word(std::uint64_t offset) const { return memory.read(buffer + offset).value_or(0); }

  Words memory;
  std::vector<PebsRecord> records;
  std::uint64_t size = 0, address = 0;
};

TEST(Pebs, the_event_after_an_overflow_is_recorded_and_reloads_the_counter) {
  PebsBench pmu;
  pmu.execute(2);
  EXPECT_EQ(pmu.counter(0), 0U);
  EXPECT_EQ(pmu.get(0x38E), 1U) << "armed";
  EXPECT_TRUE(pmu.records.empty());
  pmu.execute(1);
  ASSERT_EQ(pmu.records.size(), 1U);
  EXPECT_EQ(pmu.counter(0), largest - 1) << "-2 of 48 bits, from the DS area";
  EXPECT_EQ(pmu.get(0x38E), 0U) << "the record clears the overflow";
  EXPECT_EQ(pmu.word(0x08), 4U) << "RIP: the next instruction";
  EXPECT_EQ(pmu.word(0xB0), 3U) << "EventingIP: the exact instruction";
  EXPECT_EQ(pmu.word(0x00), 2U);
  EXPECT_EQ(pmu.word(0x10), 100U);
  EXPECT_EQ(pmu.word(0x88), 115U) << "R15";
  EXPECT_EQ(pmu.word(0x90), 1U) << "IA32_PERF_GLOBAL_STATUS before it was cleared";
  EXPECT_EQ(pmu.memory.read(area + ds::index), buffer + pmu.size);
  EXPECT_FALSE(pmu.has_interrupt(true)) << "the threshold is not reached";
}

TEST(Pebs, the_threshold_interrupts_and_sets_ovfbuf_and_a_full_buffer_loses_records) {
  PebsBench pmu;
  pmu.execute(6);
  EXPECT_EQ(pmu.get(0x38E), buffer_full);
  EXPECT_TRUE(pmu.has_interrupt(true));
  EXPECT_TRUE(pmu.records.back().is_threshold);
  pmu.set(0x390, buffer_full);
  pmu.execute(3);
  EXPECT_EQ(pmu.get(0x38E), buffer_full) << "at or beyond the threshold";
  pmu.set(0x390, buffer_full);
  pmu.execute(3);
  ASSERT_EQ(pmu.records.size(), 4U);
  EXPECT_EQ(pmu.records.back().outcome, PebsRecord::Outcome::out_of_bounds);
  EXPECT_EQ(pmu.memory.read(buffer + 3 * pmu.size), 0U) << "nothing beyond the maximum";
  EXPECT_EQ(pmu.counter(0), 1U) << "not reloaded";
  EXPECT_EQ(pmu.get(0x38E), 1U);
}

TEST(Pebs, records_have_the_fields_of_their_format) {
  PebsBench nehalem("nehalem-v3"), haswell, skylake("skylake-v4");
  for (PebsBench* const pmu : {&nehalem, &haswell, &skylake}) pmu->execute(6);
  EXPECT_EQ(nehalem.size, 0xB0U);
  EXPECT_EQ(nehalem.word(0xB0), 2U) << "the flags of the second record: there is no EventingIP";
  EXPECT_EQ(haswell.size, 0xC0U);
  EXPECT_EQ(skylake.size, 0xC8U);
  EXPECT_EQ(skylake.word(0xC0), 3U) << "the time stamp";
  EXPECT_EQ(skylake.word(0x90), 1U) << "the counters that overflowed";
}

TEST(Pebs, the_address_of_data_is_that_of_the_counted_access) {
  Work access = one_instruction();
  access[Signal::loads] = access[Signal::stores] = 1;
  PebsBench loads("haswell-v3", 0x4381D0), stores("haswell-v3", 0x4382D0), branches("haswell-v3", 0x4300C4);
  loads.execute(3, access);
  stores.execute(3, access);
  access[Signal::branches] = 1;
  branches.execute(3, access);
  EXPECT_EQ(loads.word(0x98), 0x700U);
  EXPECT_EQ(stores.word(0x98), 0x800U);
  EXPECT_EQ(branches.records.size(), 1U);
  EXPECT_EQ(branches.word(0x98), 0U);
}

TEST(Pebs, unmapped_memory_loses_the_record) {
  PebsBench no_area, no_buffer;
  no_area.set(0x600, memory_end);
  no_area.execute(3);
  ASSERT_EQ(no_area.records.size(), 1U);
  EXPECT_EQ(no_area.records[0].outcome, PebsRecord::Outcome::no_area);
  no_buffer.memory.write(area + ds::maximum, 2 * memory_end);
  no_buffer.memory.write(area + ds::index, memory_end - 8);
  no_buffer.execute(3);
  EXPECT_EQ(no_buffer.records.at(0).outcome, PebsRecord::Outcome::no_buffer);
  EXPECT_EQ(no_buffer.records[0].address, memory_end);
  EXPECT_EQ(no_buffer.memory.read(memory_end - 8), 0U) << "not half of a record";
}

TEST(Pebs, cycles_write_no_records_and_the_counter_overflows_as_usual) {
  PebsBench pmu("haswell-v3", 0x43003C);
  pmu.execute(5);
  EXPECT_TRUE(pmu.records.empty());
  EXPECT_EQ(pmu.get(0x38E), 1U);
  EXPECT_EQ(pmu.counter(0), 3U);
}

TEST(Pebs, a_counter_that_is_written_or_disabled_is_no_longer_armed) {
  PebsBench written, disabled;
  written.execute(2);
  written.set(0xC1, 10);
  written.execute(3);
  EXPECT_TRUE(written.records.empty());
  disabled.execute(2);
  disabled.set(0x3F1, 0);
  disabled.execute(3);
  EXPECT_TRUE(disabled.records.empty());
}

// Blocks of instructions must not skip the record.
TEST(Pebs, an_armed_counter_retires_instructions_one_by_one) {
  PebsBench pmu;
  pmu.execute(2);
  EXPECT_EQ(pmu.room(one_instruction(), 0), 0U);
  pmu.execute(1);
  EXPECT_EQ(pmu.room(one_instruction(), 0), 1U);
}

TEST(Pebs, registers_exist_where_pebs_does) {
  for (const Profile& profile : profiles()) {
    Bench pmu(profile);
    EXPECT_EQ((pmu.get(0x1A0) >> 12 & 1) == 0, profile.pebs) << profile.name;
    EXPECT_EQ(static_cast<bool>(pmu.read(0x3F1)), profile.pebs) << profile.name;
    EXPECT_EQ(static_cast<bool>(pmu.write(0x600, 0x1000)), profile.pebs) << profile.name;
  }
  Bench pmu;
  EXPECT_TRUE(pmu.write(0x3F1, 0xF));
  EXPECT_FALSE(pmu.write(0x3F1, 0x10)) << "there are four counters";
  EXPECT_FALSE(pmu.write(0x3F1, 1ULL << 32)) << "no fixed counter before Ice Lake";
  EXPECT_FALSE(pmu.write(0x600, 1ULL << 47)) << "not canonical";
  EXPECT_TRUE(pmu.write(0x600, ~0ULL << 47));
  EXPECT_NE(Bench("icelake-v5").write(0x3F1, 1).fault.value_or("").find("PEBS is unavailable"), std::string::npos);
}

}  // namespace
}  // namespace tally::pmu::emulated
