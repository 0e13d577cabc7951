// The engine's two decoders agree: every opcode and ModRM byte, with the prefixes that compilers write.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>

#include "tally/engine/instrument/instruction_facts.hpp"
#include "tally/engine/translate/decode.hpp"
#include "tally/engine/translate/engine_thread_testing.hpp"

namespace tally::engine {

bool fsgsbase_allowed = false;  // system calls instead: slower, but always right

}  // namespace tally::engine

namespace tally::engine::instrument {

namespace {

std::string hex(const u8* bytes) {
  std::string text;
  for (int i = 0; i < 15; ++i) {
    char two[4];
    std::snprintf(two, sizeof two, "%02x ", bytes[i]);
    text += two;
  }
  return text;
}

class Decoders : public EngineThreadTest {
 protected:
  /// If the tables decode the bytes, Zydis decodes them in the same way. Returns whether they do.
  bool compare(const u8* bytes) {
    Instruction fast{};
    Instruction full{};
    if (!decode_common(0x1000, bytes, fast)) return false;
    if (!decode_any(0x1000, bytes, 15, full)) {
      ADD_FAILURE() << hex(bytes) << "is not an instruction";
      return true;
    }
    std::string wrong;
    const auto check = [&wrong](const char* what, u64 a, u64 b) {
      if (a != b) wrong += std::string(" ") + what + " " + std::to_string(a) + " instead of " + std::to_string(b) + ",";
    };
    check("length", fast.length, full.length);
    check("kind", static_cast<u64>(fast.kind), static_cast<u64>(full.kind));
    check("loads", fast.loads, full.loads);
    check("stores", fast.stores, full.stores);
    check("dynamic", fast.dynamic, full.dynamic);
    check("early", fast.ends_early, full.ends_early);
    check("gather", fast.gather, full.gather);
    check("reads", fast.reads, full.reads);
    check("writes", fast.writes, full.writes);
    check("legacy", fast.legacy, full.legacy);
    check("map", static_cast<u64>(fast.map), static_cast<u64>(full.map));
    check("opcode", fast.opcode, full.opcode);
    check("rex", fast.rex, full.rex);
    check("modrm", fast.modrm, full.modrm);
    check("sib", fast.sib, full.sib);
    check("modrm_at", fast.modrm_at, full.modrm_at);
    check("displacement_at", fast.displacement_at, full.displacement_at);
    check("displacement", static_cast<u64>(fast.displacement), static_cast<u64>(full.displacement));
    if (fast.kind != Kind::plain)
      check("immediate", static_cast<u64>(fast.immediate), static_cast<u64>(full.immediate));
    check("address_bits", fast.address_bits, full.address_bits);
    check("overwritten", overwritten_register(fast), overwritten_register(full));
    if (fast.kind == Kind::jump_indirect || fast.kind == Kind::call_indirect) check("fs", fast.fs, full.fs);
    if (fast.map == Map::one_byte && fast.opcode == 0x8d) check("width", fast.operand_bits, full.operand_bits);
    compare_facts(fast, check);
    if (!wrong.empty()) ADD_FAILURE() << hex(bytes) << ":" << wrong;
    return true;
  }

  /// If the tables decode the operands, Zydis decodes them in the same way.
  template <class Check>
  void compare_facts(const Instruction& in, const Check& check) {
    ModelFacts fast;
    if (!facts_common(in, fast)) return;
    ++facts_;
    const ModelFacts full = facts_any(in);
    check("known", fast.known, full.known);
    check("touches_flags", fast.touches_flags, full.touches_flags);
    check("registers", fast.registers, full.registers);
    check("pattern", static_cast<u64>(fast.scattered.pattern), static_cast<u64>(full.scattered.pattern));
    check("repeat", fast.repeat.bytes, full.repeat.bytes);
    check("accesses", fast.accesses, full.accesses);
    for (u32 i = 0; i < fast.accesses && i < full.accesses; ++i) {
      const DataAccess& a = fast.access[i];
      const DataAccess& b = full.access[i];
      check("what", static_cast<u64>(a.what), static_cast<u64>(b.what));
      check("bytes", a.bytes, b.bytes);
      check("base", a.base, b.base);
      check("index", a.index, b.index);
      check("scale", a.scale, b.scale);
      check("fixed", a.fixed, b.fixed);
      check("segment", a.fs, b.fs);
      check("low", a.low, b.low);
      check("where", static_cast<u64>(a.displacement), static_cast<u64>(b.displacement));
    }
  }

  u64 facts_ = 0;
};

TEST_F(Decoders, agree_on_every_opcode_and_modrm) {
  std::mt19937_64 random(1);
  const std::string prefixes[] = {"",     "\x66",     "\xf3",     "\xf2",     "\x64",        "\x3e",
                                  "\x2e", "\x66\x2e", "\x66\x66", "\xf3\x66", "\x66\x66\x2e"};
  u64 known = 0;
  for (const std::string& prefix : prefixes) {
    for (int rex = 0x3f; rex <= 0x4f; ++rex) {
      // All of REX without another prefix; with one, those that change most.
      if (!prefix.empty() && rex != 0x3f && rex != 0x41 && rex != 0x48 && rex != 0x4f) continue;
      for (int map = 0; map < 2; ++map) {
        for (int opcode = 0; opcode < 256; ++opcode) {
          for (int modrm = 0; modrm < 256; ++modrm) {
            u8 bytes[16];
            u64 noise[2] = {random(), random()};
            std::memcpy(bytes, noise, sizeof bytes);
            u8* p = bytes;
            for (const char c : prefix) *p++ = static_cast<u8>(c);
            if (rex >= 0x40) *p++ = static_cast<u8>(rex);
            if (map == 1) *p++ = 0x0f;
            *p++ = static_cast<u8>(opcode);
            *p++ = static_cast<u8>(modrm);
            known += compare(bytes);
            if (HasFailure() && std::getenv("ALL") == nullptr) return;
          }
        }
      }
    }
  }
  EXPECT_GT(known, 500000u);
  EXPECT_GT(facts_, 400000u);
}

TEST_F(Decoders, agree_on_random_bytes) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 2000000; ++i) {
    u64 noise[2] = {random(), random()};
    u8 bytes[16];
    std::memcpy(bytes, noise, sizeof bytes);
    compare(bytes);
    if (HasFailure() && std::getenv("ALL") == nullptr) return;
  }
}

// Instructions that a hypervisor or the kernel executes, or nobody: they may leave the flags unchanged, and a handler
// sees the flags from before.
TEST_F(Decoders, keep_the_flags_of_what_others_execute) {
  const std::string codes[] = {
      "\x0f\x01\xc1",     // vmcall
      "\x0f\x01\xc2",     // vmlaunch
      "\x0f\x01\xd9",     // vmmcall
      "\x0f\x01\xd4",     // vmfunc
      "\x0f\x01\xd7",     // enclu
      "\x0f\x01\xd6",     // xtest
      "\x0f\x78\xc1",     // vmread
      "\xf3\x0f\x01\xed"  // testui
  };
  for (const std::string& code : codes) {
    u8 bytes[16] = {};
    std::ranges::copy(code, std::begin(bytes));
    Instruction in{};
    ASSERT_TRUE(decode_any(0x1000, bytes, 15, in)) << hex(bytes);
    EXPECT_EQ(in.writes, 0) << hex(bytes);
    EXPECT_EQ(in.reads, counter_flags) << hex(bytes);
  }
}

// Endless prefixes are not an instruction: the decoder does not read past the end of the bytes.
TEST_F(Decoders, read_no_more_than_there_is) {
  constexpr size_t page = 4096;
  u8* const at = static_cast<u8*>(mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(at, MAP_FAILED);
  ASSERT_EQ(mprotect(at + page, page, PROT_NONE), 0);
  u8* const bytes = at + page - 16;
  for (const int prefix : {0x66, 0xf2, 0xf3, 0x64, 0x3e, 0x2e}) {
    std::memset(bytes, prefix, 16);
    compare(bytes);
  }
  munmap(at, 2 * page);
}

}  // namespace

}  // namespace tally::engine::instrument
