// The engine and the single-stepper, which share no line of code, classify every encoding alike: so their counts do not
// depend on which instructions the processor of a test executes.
#include <gtest/gtest.h>
#include <sys/auxv.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "programs/stepper/instruction.hpp"
#include "tally/engine/translate/decode.hpp"
#include "tally/engine/translate/engine_thread_testing.hpp"

namespace tally::engine {

bool fsgsbase_allowed = (getauxval(AT_HWCAP2) & 2) != 0;

namespace translate {
namespace {

/// The counts of one execution, with a branch taken.
struct Counted {
  int branches[8] = {};  // by Flow, but `next`
  int loads = 0, stores = 0;
  friend bool operator==(const Counted&, const Counted&) = default;
};

Counted counted_by(const stepper::Instruction& in) {
  Counted result;
  if (in.flow != stepper::Flow::next) result.branches[static_cast<int>(in.flow)] = 1;
  result.loads = in.loads;
  result.stores = in.stores;
  return result;
}

Counted counted_by(const Instruction& in) {
  using stepper::Flow;
  Counted result;
  const auto set = [&result](Flow flow) { result.branches[static_cast<int>(flow)] = 1; };
  switch (in.kind) {
    case Kind::jcc:
    case Kind::loop: set(Flow::conditional); break;
    case Kind::jump: set(Flow::direct_jump); break;
    case Kind::jump_indirect: set(Flow::indirect_jump); break;
    case Kind::call: set(Flow::direct_call); break;
    case Kind::call_indirect: set(Flow::indirect_call); break;
    case Kind::ret: set(Flow::ret); break;
    case Kind::syscall:
    case Kind::far_return:
    case Kind::trap: set(Flow::far); break;
    default: break;
  }
  result.loads = in.loads;
  result.stores = in.stores;
  return result;
}

class Kinds : public EngineThreadTest {
 protected:
  void SetUp() override {
    EngineThreadTest::SetUp();
    ZydisDecoderInit(&zydis_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  }
  /// No program retires one, or no current processor does.
  bool never_retires(const u8* bytes) const {
    ZydisDecodedInstruction raw;
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&zydis_, nullptr, bytes, 15, &raw))) return true;
    return (raw.attributes & ZYDIS_ATTRIB_IS_PRIVILEGED) || raw.meta.category == ZYDIS_CATEGORY_PADLOCK ||
           raw.mnemonic == ZYDIS_MNEMONIC_UD0 || raw.mnemonic == ZYDIS_MNEMONIC_UD1 ||
           raw.mnemonic == ZYDIS_MNEMONIC_UD2 || raw.mnemonic == ZYDIS_MNEMONIC_HLT;
  }

  void compare(const u8* bytes) {
    Instruction in{};
    if (never_retires(bytes) || !decode_any(0x1000, bytes, 15, in)) return;
    if (in.kind == Kind::leave || in.gather || in.dynamic != 0) return;
    ++compared_;
    Counted engine = counted_by(in);
    const Counted stepper = counted_by(stepper::decode(std::span(bytes, in.length)));
    // A branch that is executed at its own address is counted by its effect.
    if (in.kind == Kind::step) std::copy(std::begin(stepper.branches), std::end(stepper.branches), engine.branches);
    if (engine == stepper) return;
    ZydisDecodedInstruction raw;
    ZydisDecoderDecodeInstruction(&zydis_, nullptr, bytes, in.length, &raw);
    if (failures_[raw.mnemonic]++ != 0) return;
    std::string text;
    for (u32 i = 0; i < in.length; ++i) {
      char two[4];
      std::snprintf(two, sizeof two, "%02x ", bytes[i]);
      text += two;
    }
    ADD_FAILURE() << text << ZydisMnemonicGetString(raw.mnemonic) << ": the engine counts " << engine.loads
                  << " loads, " << engine.stores << " stores, branches " << testing::PrintToString(engine.branches)
                  << "; the stepper " << stepper.loads << ", " << stepper.stores << ", "
                  << testing::PrintToString(stepper.branches);
  }

  /// OPCODE with every kind of ModRM byte.
  void compare_opcodes(const std::vector<u8>& prefix) {
    for (int opcode = 0; opcode < 256; ++opcode)
      for (int modrm = 0; modrm < 256; modrm += modrm < 0xc0 ? 5 : 1) {
        u8 bytes[32];
        for (u8& b : bytes) b = static_cast<u8>(random_());
        std::memcpy(bytes, prefix.data(), prefix.size());
        bytes[prefix.size()] = static_cast<u8>(opcode);
        bytes[prefix.size() + 1] = static_cast<u8>(modrm);
        compare(bytes);
      }
  }

  ZydisDecoder zydis_;
  u64 compared_ = 0;
  std::map<int, int> failures_;
  std::mt19937_64 random_{1};
};

TEST_F(Kinds, are_the_steppers) {
  for (const std::vector<u8>& prefix :
       std::vector<std::vector<u8>>{{}, {0x66}, {0xf2}, {0xf3}, {0x48}, {0x66, 0x48}, {0xf3, 0x48}, {0x67}})
    for (const std::vector<u8>& map : std::vector<std::vector<u8>>{{}, {0x0f}, {0x0f, 0x38}, {0x0f, 0x3a}}) {
      std::vector<u8> all = prefix;
      all.insert(all.end(), map.begin(), map.end());
      compare_opcodes(all);
    }
  for (int low = 0; low < 8; ++low) {
    compare_opcodes({0xc5, static_cast<u8>(0xf8 | low)});
    for (const u8 map : std::vector<u8>{1, 2, 3}) {
      compare_opcodes({0xc4, static_cast<u8>(0xe0 | map), static_cast<u8>(0x78 | low)});
      compare_opcodes({0x62, static_cast<u8>(0xf0 | map), static_cast<u8>(0x7c | (low & 3)), 0x08});
      compare_opcodes({0x62, static_cast<u8>(0xf0 | map), static_cast<u8>(0xfc | (low & 3)), 0x48});
    }
  }
  EXPECT_GT(compared_, 300000u);
}

}  // namespace
}  // namespace translate
}  // namespace tally::engine
