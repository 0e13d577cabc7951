// No instruction with a relative operand is copied unchanged: every encoding that Zydis decodes with an operand
// relative to RIP, and every relative branch, is translated, and the translation is decoded again.
#include <Zydis/Zydis.h>
#include <gtest/gtest.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tally/engine/translate/countdown_code.hpp"
#include "tally/engine/translate/engine_thread_testing.hpp"
#include "tally/engine/translate/generate.hpp"
#include "tally/engine/translate/instrumentation.hpp"
#include "tally/engine/translate/unasked.hpp"

namespace tally::engine {

// The parts of the engine that copying needs: nothing is instrumented, probed or stored.
bool fsgsbase_allowed = (getauxval(AT_HWCAP2) & 2) != 0;
OwnRecords own_records;
const channel::Settings& settings() {
  static const channel::Settings none{};
  return none;
}

namespace translate {
namespace {

class NoInstrumentation final : public Instrumentation {
} no_instrumentation;
class NoProbes final : public Probes {
} no_probes;
u64 asked_target, exit_label, literal_at;

}  // namespace

Tables tables;
Recorder recorder;
Instrumentation* instrumentation = &no_instrumentation;
Probes* probes = &no_probes;
bool is_instrumented = false, is_probed = false;
void Recorder::fix(Fix, u64, s64, u32) {}
void emit_countdown(Builder&, u32, Flags) {}
SummedEvents summed_events;
void emit_sums(Builder&, u32, Flags) {}
void emit_unasked_count(Builder&, const Instruction&) {}
const Mix* run_time_mix(const Instruction&) { return nullptr; }
void emit_run_time_count(Emitter& e, u32 number, u8 reg, s32 each) {
  const u32 counter = counters_at + 8 * number;
  if (each < 0) e.not_register(reg);
  e.load(rdx, counter);
  e.add_registers(rdx, rdx, reg);
  if (each < 0) e.add_constant(rdx, 1), e.not_register(reg);
  e.store(rdx, counter);
}
u64 emit_entry_check(const Arena&, Emitter& e, u64) { return e.here(); }
u32 entry_check_bytes(u64) { return 0; }
Trace* new_trace(Arena&, u64, u64, bool) { return nullptr; }
u64 literal(Arena&, u64 value) {
  std::memcpy(reinterpret_cast<void*>(literal_at), &value, sizeof value);
  return literal_at;
}
u64 emit_exit(Arena&, Emitter& e, int condition, u64 target) {
  asked_target = target;
  if (condition >= 0) e.byte(0x0f);
  e.byte(static_cast<u8>(condition >= 0 ? 0x80 | condition : 0xe9));
  e.dword(static_cast<u32>(exit_label - e.here() - 4));
  return e.here() - (condition >= 0 ? 6u : 5u);
}

namespace {

struct DecodedInstruction {
  ZydisDecodedInstruction head;
  ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
  u64 at;
};

class Copies : public EngineThreadTest {
 protected:
  void SetUp() override {
    EngineThreadTest::SetUp();
    ZydisDecoderInit(&zydis_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    void* const area = mmap(nullptr, area_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(area, MAP_FAILED);
    area_ = reinterpret_cast<u64>(area);
    exit_label = area_ + 0x800;
    literal_at = area_ + 0x900;
    tables.places.data = places_;
    tables.places.limit = 64;
  }
  void TearDown() override {
    munmap(reinterpret_cast<void*>(area_), area_bytes);
    EngineThreadTest::TearDown();
  }

  bool read(const u8* bytes, u64 n, u64 at, DecodedInstruction& out) const {
    out.at = at;
    return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&zydis_, bytes, n, &out.head, out.operand));
  }

  static bool is_relative_branch(const ZydisDecodedOperand& o) {
    return o.type == ZYDIS_OPERAND_TYPE_IMMEDIATE && o.imm.is_relative;
  }
  static bool is_by_rip(const ZydisDecodedOperand& o) {
    return o.type == ZYDIS_OPERAND_TYPE_MEMORY &&
           (o.mem.base == ZYDIS_REGISTER_RIP || o.mem.base == ZYDIS_REGISTER_EIP);
  }
  static u64 absolute(const DecodedInstruction& r, const ZydisDecodedOperand& o) {
    u64 value = 0;
    EXPECT_TRUE(ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&r.head, &o, r.at, &value)));
    return value;
  }

  void fail(const u8* bytes, const DecodedInstruction& r, const std::string& what) {
    std::string text;
    for (u32 i = 0; i < r.head.length; ++i) {
      char two[4];
      std::snprintf(two, sizeof two, "%02x ", bytes[i]);
      text += two;
    }
    text += std::string("(") + ZydisMnemonicGetString(r.head.mnemonic) + "): " + what;
    if (++failures_[r.head.mnemonic] == 1) ADD_FAILURE() << text;
  }

  /// The emitted instructions in order. Empty if they cannot be decoded.
  std::vector<DecodedInstruction> emitted(u64 from, u64 to) const {
    std::vector<DecodedInstruction> all;
    while (from < to) {
      DecodedInstruction r;
      if (!read(reinterpret_cast<const u8*>(from), to - from, from, r)) return {};
      all.push_back(r);
      from += r.head.length;
    }
    return all;
  }

  /// Every RIP-relative address of this emitted instruction is `expected`, or an address in generated code.
  static bool leads_only_to(const DecodedInstruction& r, u64 expected, u64 from, u64 to) {
    for (u32 i = 0; i < r.head.operand_count; ++i) {
      const ZydisDecodedOperand& o = r.operand[i];
      if (!is_relative_branch(o) && !is_by_rip(o)) continue;
      const u64 address = absolute(r, o);
      const bool own = (address >= from && address <= to) || address == exit_label || address == literal_at;
      if (!own && address != expected) return false;
    }
    return true;
  }

  /// The copy of an instruction has the same operands; instead of RIP an address, a register that holds it, or RIP
  /// again.
  bool is_copy(const DecodedInstruction& original, const DecodedInstruction& copy, u64 expected,
               const std::map<int, u64>& constants) const {
    if (copy.head.mnemonic != original.head.mnemonic || copy.head.operand_count != original.head.operand_count ||
        copy.head.operand_width != original.head.operand_width)
      return false;
    for (u32 i = 0; i < copy.head.operand_count; ++i) {
      const ZydisDecodedOperand &a = original.operand[i], &b = copy.operand[i];
      if (a.type != b.type || a.size != b.size || a.actions != b.actions) return false;
      if (a.type == ZYDIS_OPERAND_TYPE_REGISTER && a.reg.value != b.reg.value) return false;
      if (a.type == ZYDIS_OPERAND_TYPE_IMMEDIATE && a.imm.value.u != b.imm.value.u) return false;
      if (!is_by_rip(a)) continue;
      if (b.mem.segment != a.mem.segment || b.mem.index != ZYDIS_REGISTER_NONE) return false;
      u64 address = 0;
      if (is_by_rip(b)) {
        address = absolute(copy, b);
      } else {
        address = static_cast<u64>(b.mem.disp.value);
        if (b.mem.base != ZYDIS_REGISTER_NONE) {
          const auto known = constants.find(ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, b.mem.base));
          if (known == constants.end()) return false;
          address += known->second;
        }
        if (copy.head.address_width == 32) address = static_cast<u32>(address);
      }
      if (address != expected) return false;
    }
    return true;
  }

  /// Translates one instruction at `at` as the engine does. Returns the end of the code; 0 if it is not copied.
  u64 translate(const Instruction& in, u64 at) {
    Arena arena;
    Trace trace{};
    trace.pc = in.pc;
    tables.places.size = 0;
    Builder b{arena, {reinterpret_cast<u8*>(at)}, trace, at};
    asked_target = 0;
    u16 counted = 0;
    switch (in.kind) {
      case Kind::step:
      case Kind::leave: return 0;
      case Kind::plain:
      case Kind::trap: emit_copy(b, in, 0); break;
      default: emit_end(b, in, 0, {Increment::inc, 0, r11}, 0, counted);
    }
    return b.e.here();
  }

  void check(const u8* bytes) {
    DecodedInstruction original;
    if (!read(bytes, 15, 0, original)) return;
    const ZydisDecodedOperand* relative = nullptr;
    for (u32 i = 0; i < original.head.operand_count; ++i)
      if (is_relative_branch(original.operand[i]) || is_by_rip(original.operand[i])) relative = &original.operand[i];
    if (relative == nullptr) return;
    ++relative_;
    // The cache within reach of the operand; out of reach, the operand in the low 2 GB or anywhere.
    for (const u64 pc : {area_ + 0x100000, u64{0x30000000}, u64{0x345670000000}}) {
      original.at = pc;
      check_at(bytes, original, *relative, pc);
    }
  }

  void check_at(const u8* bytes, const DecodedInstruction& original, const ZydisDecodedOperand& relative, u64 pc) {
    const u64 expected = absolute(original, relative), at = area_ + 0x100;
    Instruction in{};
    if (!decode(pc, bytes, 15, in)) return fail(bytes, original, "the engine does not decode it");
    if (in.length != original.head.length) return fail(bytes, original, "has another length");
    const u64 end = translate(in, at);
    if (end == 0) {
      ++stepped_;
      return;
    }
    const std::vector<DecodedInstruction> code = emitted(at, end);
    if (code.empty()) return fail(bytes, original, "no code was written");
    for (const DecodedInstruction& r : code)
      if (!leads_only_to(r, expected, at, end)) return fail(bytes, original, "its displacement was copied");
    if (is_relative_branch(relative)) {
      if (in.kind == Kind::plain || in.kind == Kind::trap) return fail(bytes, original, "was copied");
      if (asked_target != expected) return fail(bytes, original, "leads elsewhere");
      // A call pushes its return address and jumps.
      bool same = in.kind == Kind::call && original.head.mnemonic == ZYDIS_MNEMONIC_CALL;
      for (const DecodedInstruction& r : code) same |= r.head.mnemonic == original.head.mnemonic;
      if (!same) fail(bytes, original, "became another branch");
      return;
    }
    if (in.kind != Kind::plain && in.kind != Kind::trap) return check_target(bytes, original, code, expected);
    check_copy(bytes, original, code, expected);
  }

  /// The value that `mov reg, constant` leaves in the whole register.
  static u64 value_of(const DecodedInstruction& r) {
    const u64 value = r.operand[1].imm.value.u;
    return r.head.operand_width == 64 ? value : static_cast<u32>(value);
  }

  static std::map<int, u64> constants_of(const std::vector<DecodedInstruction>& code) {
    std::map<int, u64> constants;
    for (const DecodedInstruction& r : code)
      if (r.head.mnemonic == ZYDIS_MNEMONIC_MOV && r.operand[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
          r.operand[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
        constants[ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r.operand[0].reg.value)] = value_of(r);
    return constants;
  }

  void check_copy(const u8* bytes, const DecodedInstruction& original, const std::vector<DecodedInstruction>& code,
                  u64 expected) {
    const std::map<int, u64> constants = constants_of(code);
    if (original.head.mnemonic == ZYDIS_MNEMONIC_LEA && code.size() == 1 &&
        code[0].head.mnemonic == ZYDIS_MNEMONIC_MOV) {
      const u64 value = original.head.operand_width == 64 ? expected : static_cast<u32>(expected);
      if (value_of(code[0]) != value) fail(bytes, original, "another address");
      return;
    }
    u32 copies = 0;
    for (const DecodedInstruction& r : code) copies += is_copy(original, r, expected, constants);
    if (copies != 1) fail(bytes, original, "its copy is another instruction");
  }

  /// An indirect branch loads its target from there.
  void check_target(const u8* bytes, const DecodedInstruction& original, const std::vector<DecodedInstruction>& code,
                    u64 expected) {
    const std::map<int, u64> constants = constants_of(code);
    for (const DecodedInstruction& r : code) {
      if (r.head.mnemonic != ZYDIS_MNEMONIC_MOV || r.operand[1].type != ZYDIS_OPERAND_TYPE_MEMORY) continue;
      const ZydisDecodedOperand& o = r.operand[1];
      if (is_by_rip(o) && absolute(r, o) == expected) return;
      const auto known = constants.find(o.mem.base);
      if (known != constants.end() && known->second == expected && o.mem.disp.value == 0) return;
    }
    fail(bytes, original, "its target is read elsewhere");
  }

  /// OPCODE, a RIP-relative ModRM byte, and the bytes that follow.
  void check_opcodes(std::vector<u8> prefix, const std::vector<u8>& registers) {
    for (int opcode = 0; opcode < 256; ++opcode)
      for (const u8 reg : registers) {
        u8 bytes[32];
        for (u8& b : bytes) b = static_cast<u8>(random_());
        u8* p = bytes;
        for (const u8 b : prefix) *p++ = b;
        *p++ = static_cast<u8>(opcode);
        *p++ = static_cast<u8>(reg << 3 | 5);
        const u32 displacement = 0x4000 + static_cast<u32>(random_() & 0xffff);
        std::memcpy(p, &displacement, 4);
        check(bytes);
        // The same without a ModRM byte: the following bytes are a relative address, which may have any value.
        bytes[prefix.size() + 1] = static_cast<u8>(random_());
        check(bytes);
        bytes[prefix.size() + 1] = 0xf8;  // xbegin, by C7
        check(bytes);
      }
  }

  static constexpr u64 area_bytes = 0x1000;
  ZydisDecoder zydis_;
  u64 area_ = 0, relative_ = 0, stepped_ = 0;
  std::map<int, u64> failures_;
  std::mt19937_64 random_{1};
  InstructionMapping places_[64];
};

const std::vector<u8> all_registers = {0, 1, 2, 3, 4, 5, 6, 7};

TEST_F(Copies, of_legacy_encodings_reach_the_same_target) {
  const std::vector<std::vector<u8>> prefixes = {{},     {0x66}, {0xf2}, {0xf3},       {0x67},       {0x66, 0x67},
                                                 {0x2e}, {0x64}, {0x65}, {0x66, 0xf2}, {0x66, 0xf3}, {0xf0}};
  const std::vector<std::vector<u8>> maps = {{}, {0x0f}, {0x0f, 0x38}, {0x0f, 0x3a}};
  for (const auto& prefix : prefixes)
    for (const int rex : {0, 0x40, 0x43, 0x44, 0x48, 0x4f})
      for (const auto& map : maps) {
        std::vector<u8> all = prefix;
        if (rex != 0) all.push_back(static_cast<u8>(rex));
        all.insert(all.end(), map.begin(), map.end());
        check_opcodes(all, all_registers);
      }
  EXPECT_GT(relative_, 100000u);
}

TEST_F(Copies, of_vex_and_xop_encodings_reach_the_same_target) {
  for (int low = 0; low < 256; ++low) {
    if ((low >> 3 & 15) != 15 && (low >> 3 & 15) != 5) continue;  // the second source: none, or one
    check_opcodes({0xc5, static_cast<u8>(low)}, all_registers);
    for (int map = 0; map < 32; ++map)
      for (const int extension : {0xe0, 0x80, 0x00}) {
        if (map <= 3) check_opcodes({0xc4, static_cast<u8>(extension | map), static_cast<u8>(low)}, all_registers);
        if (map >= 8 && map <= 10)
          check_opcodes({0x8f, static_cast<u8>(extension | map), static_cast<u8>(low)}, {0, 1, 2, 3, 7});
      }
  }
  EXPECT_GT(relative_, 50000u);
}

TEST_F(Copies, of_evex_encodings_reach_the_same_target) {
  for (const int map : {1, 2, 3, 5, 6})
    for (const int extension : {0xf0, 0x90, 0x80, 0x00})
      for (int low = 0; low < 8; ++low)
        for (const int source : {15, 5})
          for (const int last : {0x08, 0x28, 0x48, 0x49, 0x58, 0xc9, 0x18}) {
            const u8 second = static_cast<u8>((low & 4) << 5 | source << 3 | 4 | (low & 3));
            check_opcodes({0x62, static_cast<u8>(extension | map), second, static_cast<u8>(last)}, {0, 3, 5, 6});
          }
  EXPECT_GT(relative_, 50000u);
}

// 3DNow! has its opcode at the end.
TEST_F(Copies, of_suffixed_encodings_reach_the_same_target) {
  for (int opcode = 0; opcode < 256; ++opcode) {
    u8 bytes[32] = {0x0f, 0x0f, 0x0d, 0x00, 0x50, 0x00, 0x00, static_cast<u8>(opcode)};
    check(bytes);
  }
  EXPECT_GT(relative_, 10u);
}

}  // namespace
}  // namespace translate
}  // namespace tally::engine
