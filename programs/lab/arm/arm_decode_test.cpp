// Checks the decoding of encodings from the GNU assembler.
#include "programs/lab/arm/arm_decode.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tally::lab::arm {
namespace {

// Returns the properties of an instruction as letters: Load, Store, Vector, Integer, Branch, Conditional, cAll, Return,
// indirecT, barriEr.
std::string letters(std::uint32_t word) {
  const Instruction one = decode(word, 0x1000);
  std::string text;
  const std::pair<bool, char> all[] = {{one.is_load, 'L'},    {one.is_store, 'S'},  {one.is_vector, 'V'},
                                       {one.is_integer, 'I'}, {one.is_branch, 'B'}, {one.is_conditional, 'C'},
                                       {one.is_call, 'A'},    {one.is_return, 'R'}, {one.is_indirect, 'T'},
                                       {one.is_barrier, 'E'}};
  for (const auto& [is_so, letter] : all) {
    if (is_so) text += letter;
  }
  return text;
}

TEST(ArmDecode, loads_and_stores_are_distinguished) {
  EXPECT_EQ(letters(0xF9400020), "L") << "ldr x0, [x1]";
  EXPECT_EQ(letters(0xF9000020), "S") << "str x0, [x1]";
  EXPECT_EQ(letters(0xA8C107E0), "L") << "ldp x0, x1, [sp], #16";
  EXPECT_EQ(letters(0xA9BF07E0), "S") << "stp x0, x1, [sp, #-16]!";
  EXPECT_EQ(letters(0x38401401), "L") << "ldrb w1, [x0], #1";
  EXPECT_EQ(letters(0xF8200022), "LS") << "ldadd x0, x2, [x1]";
  EXPECT_EQ(letters(0xC8A07C23), "LS") << "cas x0, x3, [x1]";
  EXPECT_EQ(letters(0x48207C22), "LS") << "casp x0, x1, x2, x3, [x1]";
  EXPECT_EQ(letters(0xC85F7C20), "L") << "ldxr x0, [x1]";
  EXPECT_EQ(letters(0xC8027C20), "S") << "stxr w2, x0, [x1]";
  EXPECT_EQ(letters(0xC87F0C20), "L") << "ldxp x0, x3, [x1]";
  EXPECT_EQ(letters(0x58000520), "L") << "ldr x0, literal";
  EXPECT_EQ(letters(0xF9800000), "") << "prfm pldl1keep, [x0]";
  EXPECT_EQ(letters(0xC85F7C20), "L") << "ldxr x0, [x1]";
  EXPECT_EQ(letters(0xC8027C20), "S") << "stxr w2, x0, [x1]";
  EXPECT_EQ(letters(0xF8200041), "LS") << "ldadd x0, x1, [x2]";
  EXPECT_EQ(letters(0xF8208041), "LS") << "swp x0, x1, [x2]";
  EXPECT_EQ(letters(0xF8400820), "L") << "ldtr x0, [x1]";
  EXPECT_EQ(letters(0xC8DFFC20), "L") << "ldar x0, [x1]";
  EXPECT_EQ(letters(0xF8BFC020), "L") << "ldapr x0, [x1]";
  EXPECT_EQ(letters(0xC89FFC20), "S") << "stlr x0, [x1]";
}

TEST(ArmDecode, atomic_and_exclusive_accesses_are_distinguished) {
  for (const std::uint32_t word : {0xF8200022U, 0xC8A07C23U, 0x48207C22U, 0xF8208041U}) {  // ldadd, cas, casp, swp
    EXPECT_TRUE(decode(word, 0).is_atomic) << std::hex << word;
    EXPECT_FALSE(decode(word, 0).is_store_exclusive) << std::hex << word;
  }
  for (const std::uint32_t word : {0xC8027C20U, 0xC802FC20U, 0xC8220C20U}) {  // stxr, stlxr, stxp, all with w2
    EXPECT_TRUE(decode(word, 0).is_store_exclusive) << std::hex << word;
    EXPECT_EQ(decode(word, 0).status(), 2U);
  }
  // ldxr, ldxp, ldar, stlr, ldapr, str, ldr of a vector register
  for (const std::uint32_t word :
       {0xC85F7C20U, 0xC87F0C20U, 0xC8DFFC20U, 0xC89FFC20U, 0xF8BFC020U, 0xF9000020U, 0x3DC00020U}) {
    EXPECT_FALSE(decode(word, 0).is_atomic || decode(word, 0).is_store_exclusive) << std::hex << word;
  }
}

TEST(ArmDecode, vector_registers_are_seen) {
  EXPECT_EQ(letters(0x3DC00020), "LV") << "ldr q0, [x1]";
  EXPECT_EQ(letters(0x3D800020), "SV") << "str q0, [x1]";
  EXPECT_EQ(letters(0xFD400020), "LV") << "ldr d0, [x1]";
  EXPECT_EQ(letters(0xFD000020), "SV") << "str d0, [x1]";
  EXPECT_EQ(letters(0x4C407020), "LV") << "ld1 {v0.16b}, [x1]";
  EXPECT_EQ(letters(0x4C007020), "SV") << "st1 {v0.16b}, [x1]";
  EXPECT_EQ(letters(0x1E622820), "V") << "fadd d0, d1, d2";
}

TEST(ArmDecode, integer_instructions_and_their_cycles) {
  EXPECT_EQ(letters(0x8B020020), "I") << "add x0, x1, x2";
  EXPECT_EQ(letters(0x91000420), "I") << "add x0, x1, #1";
  EXPECT_EQ(letters(0x9B027C20), "I") << "mul x0, x1, x2";
  EXPECT_EQ(decode(0x8B020020, 0).cycles, 1U);
  EXPECT_EQ(decode(0x9B027C20, 0).cycles, 3U);
}

TEST(ArmDecode, branches_by_their_kind) {
  EXPECT_EQ(letters(0x14000000), "B") << "b";
  EXPECT_EQ(letters(0x94000000), "BA") << "bl";
  EXPECT_EQ(letters(0x54000000), "BC") << "b.eq";
  EXPECT_EQ(letters(0xB4000000), "BC") << "cbz x0";
  EXPECT_EQ(letters(0x37180000), "BC") << "tbnz w0, #3";
  EXPECT_EQ(letters(0xD61F0020), "BT") << "br x1";
  EXPECT_EQ(letters(0xD63F0020), "BAT") << "blr x1";
  EXPECT_EQ(letters(0xD65F03C0), "BRT") << "ret";
  EXPECT_EQ(letters(0xD65F0BFF), "BRT") << "retaa";
  EXPECT_EQ(decode(0xD69F03E0, 0).kind, Kind::exception_return) << "eret";
}

TEST(ArmDecode, conditions_of_branches) {
  constexpr std::uint64_t n = 1U << 31, z = 1 << 30, c = 1 << 29, v = 1 << 28;
  const auto taken = [](std::uint32_t word, std::uint64_t tested) { return decode(word, 0).is_taken(tested); };
  struct Row {
    std::uint32_t condition;
    bool (*holds)(bool n, bool z, bool c, bool v);
  };
  static constexpr Row rows[] = {
      {0x0, [](bool, bool z, bool, bool) { return z; }},
      {0x2, [](bool, bool, bool c, bool) { return c; }},
      {0x4, [](bool n, bool, bool, bool) { return n; }},
      {0x6, [](bool, bool, bool, bool v) { return v; }},
      {0x8, [](bool, bool z, bool c, bool) { return c && !z; }},
      {0xA, [](bool n, bool, bool, bool v) { return n == v; }},
      {0xC, [](bool n, bool z, bool, bool v) { return !z && n == v; }},
  };
  for (std::uint64_t flags = 0; flags < 16; ++flags) {
    for (const Row& row : rows) {
      const std::uint64_t state = flags << 28;
      const bool holds = row.holds((state & n) != 0, (state & z) != 0, (state & c) != 0, (state & v) != 0);
      EXPECT_EQ(taken(0x54000020 | row.condition, state), holds) << row.condition << " " << flags;
      EXPECT_EQ(taken(0x54000021 | row.condition, state), !holds) << row.condition << " " << flags;
    }
    EXPECT_TRUE(taken(0x5400002E, flags << 28)) << "b.al";
    EXPECT_TRUE(taken(0x5400002F, flags << 28)) << "b.nv";
  }
  constexpr std::uint64_t high = 1ULL << 40;
  EXPECT_FALSE(taken(0xB4000020, high)) << "cbz x0";
  EXPECT_TRUE(taken(0x34000020, high)) << "cbz w0";
  EXPECT_TRUE(taken(0xB5000020, high)) << "cbnz x0";
  EXPECT_FALSE(taken(0x35000020, high)) << "cbnz w0";
  EXPECT_FALSE(taken(0xB6400020, high)) << "tbz x0, #40";
  EXPECT_TRUE(taken(0xB7400020, high)) << "tbnz x0, #40";
  EXPECT_TRUE(taken(0x36180020, high)) << "tbz w0, #3";
  EXPECT_FALSE(taken(0x36180020, 8)) << "tbz w0, #3";
}

TEST(ArmDecode, system_instructions) {
  EXPECT_EQ(decode(0xD40000E1, 0).kind, Kind::supervisor_call) << "svc #7";
  EXPECT_EQ(decode(0xD5033FDF, 0).kind, Kind::barrier) << "isb";
  EXPECT_EQ(letters(0xD5033F9F), "E") << "dsb sy";
  EXPECT_EQ(letters(0xD5033BBF), "E") << "dmb ish";
  EXPECT_EQ(letters(0xD503201F), "") << "nop";
  EXPECT_EQ(letters(0xD5033F5F), "") << "clrex";
  EXPECT_EQ(decode(0xD503207F, 0).kind, Kind::wait) << "wfi";
  EXPECT_EQ(decode(0xD503205F, 0).kind, Kind::hint_wait) << "wfe";
  EXPECT_EQ(decode(0xD50342FF, 0).kind, Kind::plain) << "msr daifclr, #2";
  const Instruction read = decode(0xD53B9D00, 0);  // mrs x0, pmccntr_el0
  EXPECT_EQ(read.kind, Kind::system_register);
  EXPECT_TRUE(read.reads());
  EXPECT_EQ(read.system_number(), 3U << 14 | 3U << 11 | 9U << 7 | 13U << 3);
  const Instruction write = decode(0xD519F002, 0);  // msr S3_1_C15_C0_0, x2
  EXPECT_FALSE(write.reads());
  EXPECT_EQ(write.general(), 2U);
  EXPECT_EQ(write.system_number(), 3U << 14 | 1U << 11 | 15U << 7);
}

}  // namespace
}  // namespace tally::lab::arm
