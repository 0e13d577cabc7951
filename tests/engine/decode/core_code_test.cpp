// The dependencies of the core model, compared with the operands that Zydis reports: every opcode of the maps, with
// prefixes, VEX and EVEX.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <set>
#include <string>

#include "tally/engine/instrument/core_code.hpp"
#include "tally/engine/translate/engine_thread_testing.hpp"

namespace tally::engine::instrument {
namespace {

using Registers = std::set<int>;

// The model's number of a register: the test's own copy of the rule.
int number_of(ZydisRegister r) {
  const ZydisRegister enclosing = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);
  const ZydisRegister whole = enclosing != ZYDIS_REGISTER_NONE ? enclosing : r;
  const int id = static_cast<unsigned char>(ZydisRegisterGetId(whole));
  switch (ZydisRegisterGetClass(whole)) {
    case ZYDIS_REGCLASS_GPR64: return models::first_general + id;
    case ZYDIS_REGCLASS_ZMM: return models::first_vector + id;
    case ZYDIS_REGCLASS_X87:
    case ZYDIS_REGCLASS_MMX: return models::first_x87 + id;
    case ZYDIS_REGCLASS_MASK: return models::first_mask + id;
    default: return 0;
  }
}

class CoreCode : public EngineThreadTest {
 protected:
  void SetUp() override {
    EngineThreadTest::SetUp();
    ZydisDecoderInit(&zydis_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  }
  models::CoreInstruction code(const std::string& text) {
    u8 bytes[16] = {};
    std::memcpy(bytes, text.data(), text.size());
    Instruction in{};
    EXPECT_TRUE(decode_any(0x1000, bytes, 15, in));
    return core_code(in);
  }

  static Registers sources(const models::CoreInstruction& c) {
    Registers all(std::begin(c.sources), std::end(c.sources));
    all.erase(0);
    return all;
  }
  static Registers results(const models::CoreInstruction& c) {
    Registers all(std::begin(c.results), std::end(c.results));
    all.erase(0);
    return all;
  }

  /// Whether these bytes are an instruction for which the model has data.
  bool compare(const u8* bytes) {
    Instruction in{};
    if (!decode_any(0x1000, bytes, 15, in)) return false;
    ZydisDecodedInstruction raw;
    ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&zydis_, bytes, 15, &raw, operand))) return false;
    const models::CoreInstruction made = core_code(in);
    using enum models::Operation;
    if (made.operation == unknown || made.operation == zeroing || made.operation == vector_ones) return false;
    Registers needed, written;
    for (int i = 0; i < raw.operand_count; ++i) {
      const ZydisDecodedOperand& o = operand[i];
      if (o.type != ZYDIS_OPERAND_TYPE_REGISTER) continue;
      if (o.encoding == ZYDIS_OPERAND_ENCODING_MASK && o.reg.value == ZYDIS_REGISTER_K0) continue;  // no mask
      const bool writes = (o.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
      const bool is_part = writes && (ZydisRegisterGetWidth(raw.machine_mode, o.reg.value) <= 16 ||
                                      (raw.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY && o.size < 128 &&
                                       ZydisRegisterGetClass(o.reg.value) == ZYDIS_REGCLASS_XMM));
      const bool may_keep = (o.actions & ZYDIS_OPERAND_ACTION_CONDWRITE) != 0;
      if ((o.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0 || may_keep || is_part)
        needed.insert(number_of(o.reg.value));
      if (writes) written.insert(number_of(o.reg.value));
    }
    if (const ZydisAccessedFlags* const f = raw.cpu_flags; f != nullptr) {
      constexpr u32 status = ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_AF | ZYDIS_CPUFLAG_ZF |
                             ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_OF;
      const u32 sets = f->modified | f->set_0 | f->set_1;
      for (const u32 part : {u32{ZYDIS_CPUFLAG_CF}, status & ~u32{ZYDIS_CPUFLAG_CF}}) {
        const int number = part == ZYDIS_CPUFLAG_CF ? models::carry_register : models::flags_register;
        const bool is_whole = ((sets | f->undefined) & part) == part;
        if ((f->tested & part) != 0 || ((sets & part) != 0 && !is_whole)) needed.insert(number);
        if ((sets & part) != 0) written.insert(number);
      }
    }
    const bool by_front_end = raw.meta.category == ZYDIS_CATEGORY_PUSH || raw.meta.category == ZYDIS_CATEGORY_POP ||
                              raw.meta.category == ZYDIS_CATEGORY_CALL || raw.meta.category == ZYDIS_CATEGORY_RET;
    for (Registers* const all : {&needed, &written}) {
      all->erase(0);
      if (by_front_end) all->erase(models::first_general + 4);
    }
    const Registers reads = sources(made), gives = results(made);
    for (const int one : needed) {
      if (!reads.contains(one)) wrong(bytes, raw, "does not depend on", one);
    }
    for (const int one : written) {
      if (!gives.contains(one)) wrong(bytes, raw, "does not give", one);
    }
    return true;
  }

  void wrong(const u8* bytes, const ZydisDecodedInstruction& raw, const char* what, int number) {
    std::string text;
    for (int i = 0; i < raw.length; ++i) {
      char two[4];
      std::snprintf(two, sizeof two, "%02x ", bytes[i]);
      text += two;
    }
    if (++wrong_ < 20) ADD_FAILURE() << text << ZydisMnemonicGetString(raw.mnemonic) << " " << what << " " << number;
  }

  int wrong_ = 0;
  ZydisDecoder zydis_;
};

TEST_F(CoreCode, depends_on_all_that_is_read_or_may_be_kept) {
  std::mt19937_64 random(1);
  u64 known = 0;
  const std::string prefixes[] = {"", "\x66", "\xf3", "\xf2", "\x48", "\x66\x48", "\x41", "\xf0"};
  const std::string maps[] = {"", "\x0f", "\x0f\x38", "\x0f\x3a"};
  const auto all_forms = [&](const std::string& front, int opcode) {
    for (const int mod : {0x00, 0xc0}) {
      for (int reg = 0; reg < 8; ++reg) {
        for (const int rm : {1, 3, 6}) {
          u8 bytes[16];
          const u64 noise[2] = {random(), random()};
          std::memcpy(bytes, noise, sizeof bytes);
          std::memcpy(bytes, front.data(), front.size());
          bytes[front.size()] = static_cast<u8>(opcode);
          bytes[front.size() + 1] = static_cast<u8>(mod | reg << 3 | rm);
          known += compare(bytes);
        }
      }
    }
  };
  for (int opcode = 0; opcode < 256; ++opcode) {
    for (const std::string& map : maps)
      for (const std::string& prefix : prefixes) all_forms(prefix + map, opcode);
    for (int map = 1; map <= 3; ++map) {
      for (int pp = 0; pp < 4; ++pp) {
        for (const int wide : {0x00, 0x80}) {
          for (const int length : {0, 4}) {
            const char vex[] = {'\xc4', static_cast<char>(0xe0 | map), static_cast<char>(wide | 0x68 | length | pp)};
            all_forms(std::string(vex, 3), opcode);
          }
          for (const int mask : {0x08, 0x09, 0x4a, 0xc9}) {
            const char evex[] = {'\x62', static_cast<char>(0xf0 | map), static_cast<char>(wide | 0x6c | pp),
                                 static_cast<char>(mask)};
            all_forms(std::string(evex, 4), opcode);
          }
        }
      }
    }
  }
  EXPECT_GT(known, 30000u);
}

TEST_F(CoreCode, shifts_by_a_register_may_keep_the_flags) {
  // shl eax, cl; rol eax, cl; shld eax, ecx, cl; shl eax, 32, which shifts by 0
  for (const char* const text : {"\xd3\xe0", "\xd3\xc0", "\x0f\xa5\xc8", "\xc1\xe0\x20"}) {
    const Registers needed = sources(code(text));
    EXPECT_TRUE(needed.contains(models::carry_register)) << text;
  }
  EXPECT_TRUE(sources(code("\xd3\xe0")).contains(models::flags_register));
  EXPECT_FALSE(sources(code("\xc1\xe0\x05")).contains(models::flags_register)) << "shl eax, 5";
}

TEST_F(CoreCode, nothing_else_is_waited_for) {
  EXPECT_EQ(sources(code("\x89\xc8")), Registers{models::first_general + 1}) << "mov eax, ecx";
  EXPECT_EQ(sources(code("\x31\xc0")), Registers{}) << "xor eax, eax";
  EXPECT_EQ(sources(code("\xff\xc8")), Registers{models::first_general})
      << "dec eax keeps the carry, which is stored apart";
  EXPECT_EQ(sources(code("\x0f\x28\xc1")), Registers{models::first_vector + 1}) << "movaps xmm0, xmm1";
  EXPECT_EQ(sources(code("\xc5\xf8\x28\xc1")), Registers{models::first_vector + 1}) << "vmovaps xmm0, xmm1";
  EXPECT_EQ(sources(code("\xc5\xf9\x76\xc0")), Registers{}) << "vpcmpeqd xmm0, xmm0, xmm0 sets all bits";
  EXPECT_EQ(sources(code("\x30\xc0")), Registers{models::first_general}) << "xor al, al keeps the rest";
}

TEST_F(CoreCode, forms_have_their_kinds) {
  const auto kind = [&](const char* text) { return code(text).operation; };
  using models::Operation;
  EXPECT_EQ(kind("\x48\x8d\x40\x08"), Operation::lea_constant) << "lea rax, [rax + 8]";
  EXPECT_EQ(kind("\x8d\x40\x08"), Operation::lea) << "lea eax, [rax + 8]";
  EXPECT_EQ(kind("\x48\x8d\x04\x88"), Operation::lea_scaled) << "lea rax, [rax + rcx * 4]";
  EXPECT_EQ(kind("\x48\x8d\x04\x08"), Operation::lea) << "lea rax, [rax + rcx]";
  EXPECT_EQ(kind("\x48\x8d\x44\x88\x08"), Operation::lea_slow_scaled) << "lea rax, [rax + rcx * 4 + 8]";
  EXPECT_EQ(kind("\x89\xc0"), Operation::move_self) << "mov eax, eax";
  EXPECT_EQ(kind("\x89\xc8"), Operation::move) << "mov eax, ecx";
  EXPECT_EQ(kind("\x0f\xb6\xc8"), Operation::extend_byte) << "movzx ecx, al";
  EXPECT_EQ(kind("\x0f\xb6\xc0"), Operation::extend) << "movzx eax, al";
  EXPECT_EQ(kind("\x0f\xb6\xcc"), Operation::extend) << "movzx ecx, ah";
  EXPECT_EQ(kind("\x0f\xb7\xc8"), Operation::extend) << "movzx ecx, ax";
  EXPECT_EQ(kind("\x0f\xb6\x08"), Operation::extend) << "movzx ecx, byte [rax]";
  const models::CoreInstruction gather = code("\xc4\xe2\x75\x90\x04\x93");  // vpgatherdd ymm0, [rbx + ymm2 * 4], ymm1
  EXPECT_FALSE(sources(gather).contains(models::first_vector)) << "it does not wait for its destination";
}

// K0 as a mask means none: loops of string functions with AVX-512 do not wait for their last comparison.
TEST_F(CoreCode, an_instruction_without_a_mask_waits_for_none) {
  EXPECT_EQ(sources(code("\x62\xf1\x7d\x20\x74\x07")), Registers{models::first_vector + 16})
      << "vpcmpeqb k0, ymm16, [rdi]";
  EXPECT_TRUE(sources(code("\x62\xf1\x75\x49\xfe\xc2")).contains(models::first_mask + 1))
      << "vpaddd zmm0{k1}, zmm1, zmm2";
}

TEST_F(CoreCode, evex_scales_displacements) {
  const models::SymbolicAddress store = code("\x62\xe1\xfe\x48\x7f\x47\xff").at;
  EXPECT_EQ(store.bytes, 64) << "vmovdqu64 [rdi-0x40], zmm16";
  EXPECT_EQ(store.displacement, 0u - 0x40);
  EXPECT_EQ(code("\x62\xe1\xfe\x48\x7f\x47\xfe").at.displacement, 0u - 0x80) << "the same with another address";
  EXPECT_EQ(code("\x62\xe1\xfe\x49\x7f\x47\xff").at.bytes, 0) << "with a mask it may store less";
  const models::SymbolicAddress repeated = code("\x62\xf1\xed\x58\x58\x4f\x01").at;
  EXPECT_EQ(repeated.bytes, 8) << "vaddpd zmm1, zmm2, [rdi+8]{1to8}";
  EXPECT_EQ(repeated.displacement, 8u);
  EXPECT_EQ(code(std::string("\x62\xe1\xfe\x48\x6f\x05\x40\x00\x00\x00", 10)).at.displacement, 0x104au)
      << "vmovdqu64 zmm16, [rip+0x40] at 0x1000";
}

TEST_F(CoreCode, registers_that_no_larger_one_encloses_have_numbers) {
  EXPECT_EQ(sources(code("\xc5\xf5\x4a\xca")), (Registers{models::first_mask + 1, models::first_mask + 2}))
      << "kaddb k1, k1, k2";
  EXPECT_EQ(sources(code("\xd8\xc1")), (Registers{models::first_x87, models::first_x87 + 1})) << "fadd st0, st1";
  EXPECT_EQ(sources(code("\x0f\xfc\xc1")), (Registers{models::first_x87, models::first_x87 + 1})) << "paddb mm0, mm1";
}

}  // namespace
}  // namespace tally::engine::instrument
