// Tests the PEBS records of programs: their instructions, registers and addresses.
#include <gtest/gtest.h>

#include "programs/lab/pmu/pebs.hpp"
#include "programs/lab/x86_machine_testing.hpp"

namespace tally::lab {
namespace {

namespace ds = pmu::emulated::ds;
using Outcome = pmu::emulated::PebsRecord::Outcome;

constexpr std::uint64_t area = 0x20'0000, buffer = 0x21'0000, record_bytes = 0xC0;

// Writes a 64-bit word of the DS area.
std::string area_word(std::uint64_t offset, std::uint64_t value) {
  const auto half = [](std::uint64_t at, std::uint64_t bits) {
    return "  mov dword [" + std::to_string(at) + "], " + std::to_string(bits & 0xFFFF'FFFF) + "\n";
  };
  return half(area + offset, value) + half(area + offset + 4, value >> 32);
}

// Counter 0 counts an event, and writes a record at each `distance`-th one, into a buffer of ten records.
std::string setup(const std::string& event, std::uint64_t distance, std::uint64_t at = buffer) {
  const std::uint64_t reset = std::uint64_t{1} - distance;
  return area_word(ds::base, at) + area_word(ds::index, at) + area_word(ds::maximum, at + 10 * record_bytes) +
         area_word(ds::threshold, at + 10 * record_bytes) + area_word(ds::reset, reset) + "  WRITE_MSR IA32_DS_AREA, " +
         std::to_string(area) + "\n  WRITE_MSR IA32_PMC0, " + std::to_string(reset & 0xFFFF'FFFF) +
         "\n  WRITE_MSR IA32_PEBS_ENABLE, 1\n  WRITE_MSR IA32_PERFEVTSEL0, " + event + "\n";
}

std::uint64_t field(const Ran& run, int record, std::uint64_t offset) {
  return run.machine->memory(buffer + static_cast<std::uint64_t>(record) * record_bytes + offset, 8);
}

std::string remarks(Ran& run) {
  std::string text;
  for (Entry& entry : run.entries) {
    for (const pmu::Remark& one : run.machine->lint(entry)) text += one.text + "\n";
  }
  return text;
}

TEST(LabPebs, records_hold_the_registers_of_the_exact_instruction_in_blocks_and_one_by_one) {
  TALLY_NEEDS_NASM();
  const std::string program = setup("4301C4h", 30'001) +
                              "  mov ecx, 100000\nagain:\n  dec ecx\n  nop\nbranch:\n  jnz again\n"
                              "  WRITE_MSR IA32_PERFEVTSEL0, 0\n  mov eax, branch\n  mov ebx, again\n  hlt\n";
  for (const bool blocks : {true, false}) {
    Settings settings;
    settings.blocks = blocks;
    const Ran run = ran(program, settings);
    ASSERT_EQ(run.count(Entry::Kind::record), 3) << run.end.message;
    EXPECT_EQ(run.machine->switches() > 0, blocks);
    const auto registers = run.machine->registers();  // EAX and EBX first
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(field(run, i, 0xB0), registers[0].second) << "EventingIP";
      EXPECT_EQ(field(run, i, 0x08), registers[1].second) << "RIP: the branch is taken";
      EXPECT_EQ(field(run, i, 0x20), 100'000U - 30'001U * (static_cast<std::uint64_t>(i) + 1)) << "RCX";
    }
    EXPECT_EQ(run.counter(0), 100'000U - 3 * 30'001U + (1ULL << 48) - 30'000U);
    EXPECT_EQ(run.count(Entry::Kind::pmi), 0);
  }
}

TEST(LabPebs, a_record_of_an_instruction_that_the_lab_executes_holds_its_result) {
  TALLY_NEEDS_NASM();
  const Ran run = ran(setup("4300C0h", 3) + "  mov ecx, 0\n  mov eax, 77\n  rdpmc\n  hlt\n");
  ASSERT_GE(run.count(Entry::Kind::record), 1);
  EXPECT_EQ(field(run, 0, 0x10), 0U) << "EAX: the counter, which had overflowed to 0";
  EXPECT_EQ(field(run, 0, 0x08) - field(run, 0, 0xB0), 2U) << "RDPMC has two bytes";
}

TEST(LabPebs, loads_and_stores_have_the_address_of_their_access) {
  TALLY_NEEDS_NASM();
  const std::string body =
      "  mov eax, 1\n.again:\n  push dword [eax * 4 + 220000h]\n  pop edx\n  inc eax\n  cmp eax, 8\n  jb .again\n  "
      "hlt\n";
  const Ran stores = ran("  mov esp, 230000h\n" + setup("4382D0h", 2) + body);
  EXPECT_EQ(field(stores, 0, 0x98), 0x22'FFFCU);
  const Ran loads = ran("  mov esp, 230000h\n" + setup("4381D0h", 3) + body);
  EXPECT_EQ(field(loads, 0, 0x98), 0x22'0008U) << "the load of the second PUSH; the first two are of a PUSH and a POP";
}

TEST(LabPebs, the_registers_of_64_bits_are_recorded) {
  TALLY_NEEDS_NASM();
  const Ran run = ran(setup("4300C0h", 3) + "  mov r15, 0123456789ABCDEFh\n  nop\n  nop\n  hlt\n", {}, 64);
  ASSERT_GE(run.count(Entry::Kind::record), 1);
  EXPECT_EQ(field(run, 0, 0x88), 0x0123'4567'89AB'CDEFU);
}

TEST(LabPebs, a_buffer_outside_of_memory_and_one_that_is_full_get_a_remark) {
  TALLY_NEEDS_NASM();
  Ran hole = ran(setup("4300C0h", 3, 0x1000'0000) + "  times 9 nop\n  hlt\n");
  ASSERT_EQ(hole.count(Entry::Kind::record), 1) << "the counter is not reloaded";
  EXPECT_NE(remarks(hole).find("no memory is mapped there"), std::string::npos) << remarks(hole);
  Ran full = ran(setup("4300C0h", 3) + "  times 40 nop\n  hlt\n");
  EXPECT_EQ(full.count(Entry::Kind::record), 11);
  EXPECT_NE(remarks(full).find("it does not fit between the PEBS base and the absolute maximum"), std::string::npos);
  Ran nowhere =
      ran("  WRITE_MSR IA32_PMC0, 0FFFFFFFEh\n  WRITE_MSR IA32_PEBS_ENABLE, 1\n"
          "  WRITE_MSR IA32_DS_AREA, 10000000h\n  WRITE_MSR IA32_PERFEVTSEL0, 4300C0h\n  times 9 nop\n  hlt\n");
  EXPECT_NE(remarks(nowhere).find("no memory is mapped at IA32_DS_AREA"), std::string::npos);
  Ran zero =
      ran("  WRITE_MSR IA32_PMC0, 0FFFFFFFEh\n  WRITE_MSR IA32_PEBS_ENABLE, 1\n"
          "  WRITE_MSR IA32_PERFEVTSEL0, 4300C0h\n  times 9 nop\n  hlt\n");
  EXPECT_NE(remarks(zero).find("not reloaded: IA32_DS_AREA is 0"), std::string::npos) << remarks(zero);
}

TEST(LabPebs, an_event_without_an_instruction_gets_a_remark) {
  TALLY_NEEDS_NASM();
  Ran run = ran(setup("43003Ch", 3) + "  times 9 nop\n  hlt\n");
  EXPECT_EQ(run.count(Entry::Kind::record), 0);
  EXPECT_NE(remarks(run).find("event 3CH/00H does not belong to an instruction"), std::string::npos) << remarks(run);
}

}  // namespace
}  // namespace tally::lab
