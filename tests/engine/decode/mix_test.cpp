// What instructions do, by the rule of the engine and by tables that were written from the vendors' manuals without it:
// Intel's definition of FP_ARITH_INST_RETIRED, and lists of names.
#include <Zydis/Zydis.h>
#include <gtest/gtest.h>
#include <sys/auxv.h>

#include <cstring>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tally/engine/translate/engine_thread_testing.hpp"
#include "tally/engine/translate/instruction_mix.hpp"

namespace tally::engine {

bool fsgsbase_allowed = (getauxval(AT_HWCAP2) & 2) != 0;

namespace translate {
namespace {

using Names = std::vector<std::string>;

/// An arithmetic instruction: bits of a lane, operations per lane (or of a scalar, times `lanes`).
struct Arithmetic {
  unsigned bits = 0, operations = 0, scalar_lanes = 1;
  bool packed = false, fused = false, divides = false;
};

std::map<std::string, Arithmetic> arithmetic() {
  std::map<std::string, Arithmetic> table;
  const std::map<std::string, Arithmetic> kinds = {{"ps", {32, 0, 1, true}},  {"pd", {64, 0, 1, true}},
                                                   {"ph", {16, 0, 1, true}},  {"ss", {32, 0, 1, false}},
                                                   {"sd", {64, 0, 1, false}}, {"sh", {16, 0, 1, false}}};
  const auto add = [&](const std::string& name, const Names& suffixes, unsigned operations, bool fused = false,
                       unsigned scalar_lanes = 1) {
    for (const std::string& suffix : suffixes) {
      Arithmetic made = kinds.at(suffix);
      made.operations = operations;
      made.fused = fused;
      made.scalar_lanes = scalar_lanes;
      made.divides = name.find("div") != std::string::npos ||
                     (name.find("sqrt") != std::string::npos && name.find("rsqrt") == std::string::npos);
      table[name + suffix] = made;
    }
  };
  const Names sse = {"ps", "pd", "ss", "sd"}, avx = {"ps", "pd", "ph", "ss", "sd", "sh"}, wide = {"ps", "pd"};
  for (const char* name : {"add", "sub", "mul", "div", "min", "max", "sqrt"}) {
    add(name, sse, 1);
    add(std::string("v") + name, avx, 1);
  }
  for (const char* name : {"addsub", "hadd", "hsub"}) {
    add(name, wide, 1);
    add(std::string("v") + name, wide, 1);
  }
  for (const char* name : {"rcp", "rsqrt"}) {
    add(name, {"ps", "ss"}, 1);
    add(std::string("v") + name, {"ps", "ss", "ph", "sh"}, 1);
    add(std::string("v") + name + "14", sse, 1);
    add(std::string("v") + name + "28", sse, 1);
  }
  add("dp", wide, 2);
  add("vdp", wide, 2);
  for (const char* order : {"132", "213", "231"}) {
    for (const char* name : {"vfmadd", "vfmsub", "vfnmadd", "vfnmsub"}) add(std::string(name) + order, avx, 2, true);
    for (const char* name : {"vfmaddsub", "vfmsubadd"}) add(std::string(name) + order, {"ps", "pd", "ph"}, 2, true);
  }
  for (const char* name : {"vfmadd", "vfmsub", "vfnmadd", "vfnmsub"}) add(name, sse, 2, true);  // FMA4
  for (const char* name : {"vfmaddsub", "vfmsubadd"}) add(name, wide, 2, true);
  for (const char* name : {"v4fmadd", "v4fnmadd"}) add(name, {"ps", "ss"}, 8, true);
  // A product of complex numbers is four products and two sums; two more sums add it.
  add("vfmulc", {"ph", "sh"}, 3, false, 2);
  add("vfcmulc", {"ph", "sh"}, 3, false, 2);
  add("vfmaddc", {"ph", "sh"}, 4, true, 2);
  add("vfcmaddc", {"ph", "sh"}, 4, true, 2);
  return table;
}

/// Names, and the field that one execution adds 1 to.
std::map<std::string, u32> single_fields() {
  std::map<std::string, u32> table;
  const auto all = [&](u32 field, const Names& names) {
    for (const std::string& name : names) table[name] = field;
  };
  all(channel::aes_instructions, {"aesenc", "aesenclast", "aesdec", "aesdeclast", "aesimc", "aeskeygenassist",
                                  "vaesenc", "vaesenclast", "vaesdec", "vaesdeclast", "vaesimc", "vaeskeygenassist"});
  all(channel::sha_instructions,
      {"sha1msg1", "sha1msg2", "sha1nexte", "sha1rnds4", "sha256msg1", "sha256msg2", "sha256rnds2"});
  all(channel::crc32_instructions, {"crc32"});
  all(channel::carryless_multiplications, {"pclmulqdq", "vpclmulqdq"});
  all(channel::fences, {"mfence", "lfence", "sfence"});
  all(channel::nops, {"nop"});
  all(channel::integer_divisions, {"div", "idiv"});
  all(channel::system_calls, {"syscall", "sysenter"});
  all(channel::tile_products, {"tdpbssd", "tdpbsud", "tdpbusd", "tdpbuud", "tdpbf16ps"});
  all(channel::state_saves,
      {"fxsave", "fxsave64", "fxrstor", "fxrstor64", "fnsave", "frstor", "xsave", "xsave64", "xsaveopt", "xsaveopt64",
       "xsavec", "xsavec64", "xsaves", "xsaves64", "xrstor", "xrstor64", "xrstors", "xrstors64"});
  all(channel::fp_comparisons,
      {"cmpps",    "cmppd",   "cmpss",    "vcmpps",  "vcmppd",  "vcmpss",  "vcmpsd",  "vcmpph",
       "vcmpsh",   "comiss",  "comisd",   "ucomiss", "ucomisd", "vcomiss", "vcomisd", "vucomiss",
       "vucomisd", "vcomish", "vucomish", "fcom",    "fcomp",   "fcompp",  "fcomi",   "fcomip",
       "fucom",    "fucomp",  "fucompp",  "fucomi",  "fucomip", "ficom",   "ficomp",  "ftst"});
  return table;
}

struct Decoded {
  ZydisDecodedInstruction raw;
  ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
  std::string name;
};

class InstructionMix : public EngineThreadTest {
 protected:
  void SetUp() override {
    EngineThreadTest::SetUp();
    ZydisDecoderInit(&zydis_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  }

  bool read(const u8* bytes, Decoded& out) {
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&zydis_, bytes, 15, &out.raw, out.operand))) return false;
    out.name = ZydisMnemonicGetString(out.raw.mnemonic);
    return true;
  }

  static std::map<u32, int> mix(const Decoded& in) {
    const Mix found = mix_of(in.raw, in.operand, in.name.c_str());
    EXPECT_LT(found.amounts, Mix::limit) << in.name;
    std::map<u32, int> result;
    for (u32 i = 0; i < found.amounts; ++i) result[found.amount[i].field] += found.amount[i].n;
    return result;
  }

  /// Bits of a packed instruction, by the prefix: legacy instructions have 128.
  static unsigned length_of(const Decoded& in) {
    return in.raw.avx.vector_length != 0 ? in.raw.avx.vector_length : 128;
  }

  void expect(const Decoded& in, const std::map<u32, int>& found, u32 field, int n) {
    const auto at = found.find(field);
    const int has = at == found.end() ? 0 : at->second;
    if (has != n && failures_.insert(in.name).second)
      ADD_FAILURE() << in.name << " counts " << has << " in field " << field << ", not " << n;
  }

  /// If it is masked, all lanes together have the operations.
  void expect_operations(const Decoded& in, const std::map<u32, int>& found, u32 field, int n, bool masked) {
    expect(in, found, field, masked ? 0 : n);
    if (!masked) return;
    const Mix mix = mix_of(in.raw, in.operand, in.name.c_str());
    int of_each = 0;
    for (u32 i = 0; i < mix.at_run_time; ++i)
      if (mix.of_each[i].field == field) of_each += mix.of_each[i].n;
    if (of_each * mix.mask.elements != n && failures_.insert(in.name).second)
      ADD_FAILURE() << in.name << " counts " << of_each << " in each of " << int{mix.mask.elements} << ", not " << n;
  }

  void compare(const u8* bytes) {
    static const std::map<std::string, Arithmetic> floating = arithmetic();
    static const std::map<std::string, u32> singles = single_fields();
    Decoded in;
    if (!read(bytes, in)) return;
    if (in.raw.encoding == ZYDIS_INSTRUCTION_ENCODING_MVEX || in.raw.meta.category == ZYDIS_CATEGORY_PADLOCK) return;
    // Two mnemonics have two meanings: `movsd` and `cmpsd` of strings, and of vectors.
    const bool is_string = in.raw.meta.category == ZYDIS_CATEGORY_STRINGOP;
    const std::map<u32, int> found = mix(in);
    seen_.insert(in.name);
    const auto at = is_string ? floating.end() : floating.find(in.name);
    const bool masked = in.raw.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX && in.raw.raw.evex.aaa != 0;
    if (at != floating.end()) {
      const Arithmetic& a = at->second;
      const unsigned lanes = a.packed ? length_of(in) / a.bits : a.scalar_lanes;
      const u32 precision = a.bits == 16   ? 0
                            : a.bits == 32 ? 1
                                           : 2,
                width = !a.packed              ? 0
                        : length_of(in) == 128 ? 1
                        : length_of(in) == 256 ? 2
                                               : 3;
      const int operations = static_cast<int>(lanes * a.operations);
      expect_operations(in, found, channel::fp_operations + 4 * precision + width, operations, masked);
      expect(in, found, channel::fp_instructions + 4 * precision + width, 1);
      expect(in, found, channel::fp_lanes, a.packed ? operations : 0);
      expect(in, found, channel::fma_instructions, a.fused);
      expect(in, found, channel::fp_divisions, a.divides);
    } else if (in.raw.meta.category == ZYDIS_CATEGORY_X87_ALU) {
      static const std::set<std::string> divisions = {"fdiv", "fdivp", "fdivr", "fdivrp", "fidiv", "fidivr", "fsqrt"};
      static const std::set<std::string> others = {"fadd",   "faddp", "fiadd",  "fsub", "fsubp", "fsubr",
                                                   "fsubrp", "fisub", "fisubr", "fmul", "fmulp", "fimul"};
      expect(in, found, channel::fp_operations_x87, static_cast<int>(divisions.count(in.name) + others.count(in.name)));
      expect(in, found, channel::fp_divisions, static_cast<int>(divisions.count(in.name)));
    } else if (in.name == "vdpbf16ps") {
      expect_operations(in, found, channel::fp_operations_bf16, static_cast<int>(length_of(in) / 16 * 2), masked);
    } else {
      for (u32 f = channel::fp_operations; f <= channel::fma_instructions; ++f) expect(in, found, f, 0);
    }
    const auto single = is_string ? singles.end() : singles.find(in.name);
    for (u32 f : {channel::aes_instructions, channel::sha_instructions, channel::crc32_instructions,
                  channel::carryless_multiplications, channel::fences, channel::nops, channel::integer_divisions,
                  channel::system_calls, channel::tile_products, channel::state_saves, channel::fp_comparisons})
      if (in.name != "cmpsd" && !in.name.starts_with("aes"))  // and the wide keys of Key Locker
        expect(in, found, f, single != singles.end() && single->second == f);
    compare_bytes(bytes, in, found);
  }

  /// Bytes agree with the accesses that the engine counts.
  void compare_bytes(const u8* bytes, const Decoded& in, std::map<u32, int> found) {
    Instruction decoded{};
    if (!decode_any(0x1000, bytes, 15, decoded) || decoded.kind == Kind::trap) return;
    const Mix mix = mix_of(in.raw, in.operand, in.name.c_str());
    for (u32 i = 0; i < mix.at_run_time; ++i) found[mix.of_each[i].field] += mix.of_each[i].n;
    if (decoded.gather || decoded.dynamic != 0) return;
    if (found[channel::state_saves] != 0 || found[channel::unknown_bytes] != 0) return;
    const bool loads = decoded.loads != 0, stores = decoded.stores != 0;
    if ((found[channel::bytes_loaded] != 0) != loads || (found[channel::bytes_stored] != 0) != stores)
      if (bytes_.insert(in.name).second)
        ADD_FAILURE() << in.name << ": " << found[channel::bytes_loaded] << " and " << found[channel::bytes_stored]
                      << " bytes by " << int{decoded.loads} << " loads and " << int{decoded.stores} << " stores";
  }

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
  std::set<std::string> failures_, bytes_, seen_;
  std::mt19937_64 random_{1};
};

TEST_F(InstructionMix, is_that_of_the_manuals_for_every_opcode) {
  for (const std::vector<u8>& prefix :
       std::vector<std::vector<u8>>{{}, {0x66}, {0xf2}, {0xf3}, {0x48}, {0x66, 0x48}, {0xf3, 0x48}, {0xf0}})
    for (const std::vector<u8>& map : std::vector<std::vector<u8>>{{}, {0x0f}, {0x0f, 0x38}, {0x0f, 0x3a}}) {
      std::vector<u8> all = prefix;
      all.insert(all.end(), map.begin(), map.end());
      compare_opcodes(all);
    }
  for (int low = 0; low < 8; ++low)
    for (const u8 map : std::vector<u8>{1, 2, 3}) {
      const u8 w = 0x80, vvvv = 0x78;
      for (const u8 wide : std::vector<u8>{0, w})
        compare_opcodes({0xc4, static_cast<u8>(0xe0 | map), static_cast<u8>(wide | vvvv | low)});
    }
  for (int low = 0; low < 4; ++low)
    for (const u8 map : std::vector<u8>{1, 2, 3, 5, 6})
      for (const u8 wide : std::vector<u8>{0x7c, 0xfc})
        for (const u8 last : std::vector<u8>{0x08, 0x28, 0x48, 0x49, 0x58, 0x2a})
          compare_opcodes({0x62, static_cast<u8>(0xf0 | map), static_cast<u8>(wide | low), last});
  EXPECT_GT(seen_.size(), 1200u);
  for (const char* name : {"vfmadd231pd", "dpps", "vdpbf16ps", "vfmaddcph", "vdivsh", "fsqrt", "vaesenc"})
    EXPECT_TRUE(seen_.contains(name)) << name;
}

struct Example {
  const char* text;
  std::vector<u8> bytes;
  std::map<u32, int> counts;
};

// Each example was worked out from the manual's page of the instruction.
TEST_F(InstructionMix, of_single_instructions) {
  using namespace channel;
  const u32 single_128 = fp_operations + 5, single_512 = fp_operations + 7, single_scalar = fp_operations + 4;
  const Example examples[] = {
      {"mov rax, rbx", {0x48, 0x89, 0xd8}, {{register_moves, 1}}},
      {"mov rax, [rbx]", {0x48, 0x8b, 0x03}, {{bytes_loaded, 8}}},
      {"push rax", {0x50}, {{bytes_stored, 8}}},
      {"push ax", {0x66, 0x50}, {{bytes_stored, 2}}},
      {"call", {0xe8, 0, 0, 0, 0}, {{bytes_stored, 8}}},
      {"ret", {0xc3}, {{bytes_loaded, 8}}},
      {"enter 16, 2", {0xc8, 16, 0, 2}, {{bytes_loaded, 8}, {bytes_stored, 24}}},
      {"lea rax, [rbx]", {0x48, 0x8d, 0x03}, {}},
      {"lock inc dword [rax]", {0xf0, 0xff, 0x00}, {{locked_instructions, 1}, {bytes_loaded, 4}, {bytes_stored, 4}}},
      {"xchg [rax], ecx", {0x87, 0x08}, {{locked_instructions, 1}, {bytes_loaded, 4}, {bytes_stored, 4}}},
      {"xchg eax, ecx", {0x87, 0xc8}, {}},
      {"movsb", {0xa4}, {{string_elements, 1}, {bytes_loaded, 1}, {bytes_stored, 1}}},
      {"nop dword [rax]", {0x0f, 0x1f, 0x00}, {{nops, 1}}},
      {"prefetcht0 [rax]", {0x0f, 0x18, 0x08}, {}},
      {"movnti [rax], ecx", {0x0f, 0xc3, 0x08}, {{bytes_stored, 4}, {non_temporal_stores, 1}}},
      {"movntdqa xmm0, [rax]", {0x66, 0x0f, 0x38, 0x2a, 0x00}, {{bytes_loaded, 16}, {vector_128, 1}}},
      {"fadd dword [rax]", {0xd8, 0x00}, {{fp_operations_x87, 1}, {fp_instructions_x87, 1}, {bytes_loaded, 4}}},
      {"fld tbyte [rax]", {0xdb, 0x28}, {{bytes_loaded, 10}}},
      {"addps xmm0, xmm1",
       {0x0f, 0x58, 0xc1},
       {{single_128, 4}, {fp_instructions + 5, 1}, {fp_lanes, 4}, {vector_128, 1}}},
      {"addss xmm0, [rax]",
       {0xf3, 0x0f, 0x58, 0x00},
       {{single_scalar, 1}, {fp_instructions + 4, 1}, {bytes_loaded, 4}}},
      {"dpps xmm0, xmm1, 0xff",
       {0x66, 0x0f, 0x3a, 0x40, 0xc1, 0xff},
       {{single_128, 8}, {fp_instructions + 5, 1}, {fp_lanes, 8}, {vector_128, 1}}},
      {"vaddps zmm0, zmm0, dword [rax]{1to16}",
       {0x62, 0xf1, 0x7c, 0x58, 0x58, 0x00},
       {{single_512, 16}, {fp_instructions + 7, 1}, {fp_lanes, 16}, {vector_512, 1}, {bytes_loaded, 4}}},
      {"vmovups [rax], zmm0", {0x62, 0xf1, 0x7c, 0x48, 0x11, 0x00}, {{bytes_stored, 64}, {vector_512, 1}}},
      {"movaps xmm0, xmm1", {0x0f, 0x28, 0xc1}, {{register_moves, 1}, {vector_128, 1}}},
      {"movss xmm0, [rax]", {0xf3, 0x0f, 0x10, 0x00}, {{bytes_loaded, 4}}},
      {"movd xmm0, eax", {0x66, 0x0f, 0x6e, 0xc0}, {}},
      {"cvtsi2sd xmm0, eax", {0xf2, 0x0f, 0x2a, 0xc0}, {{fp_conversions, 1}}},
      {"paddd mm0, mm1", {0x0f, 0xfe, 0xc1}, {{integer_vector_64, 1}}},
      {"paddd xmm0, xmm1", {0x66, 0x0f, 0xfe, 0xc1}, {{integer_vector_128, 1}, {vector_128, 1}}},
      {"pshufd xmm0, xmm1, 0", {0x66, 0x0f, 0x70, 0xc1, 0}, {{vector_128, 1}}},
      {"clzero", {0x0f, 0x01, 0xfc}, {{bytes_stored, 64}}},
      {"fxsave [rax]", {0x0f, 0xae, 0x00}, {{state_saves, 1}}},
      {"cmpxchg16b [rax]", {0x48, 0x0f, 0xc7, 0x08}, {{bytes_loaded, 16}, {bytes_stored, 16}}},
  };
  for (const Example& one : examples) {
    u8 bytes[15] = {};
    std::memcpy(bytes, one.bytes.data(), one.bytes.size());
    Decoded in;
    const bool is_valid = read(bytes, in);
    // The decoder of this release may not know AMD's instructions.
    if (is_valid) EXPECT_EQ(mix(in), one.counts) << one.text;
  }
}

}  // namespace
}  // namespace translate
}  // namespace tally::engine
