// What the manuals say of single instructions: how they leave, what they access, which flags and registers they use.
#include "tally/engine/translate/decode.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "tally/engine/translate/engine_thread_testing.hpp"

namespace tally::engine::translate {
namespace {

using Bytes = std::vector<u8>;
constexpr u64 decoded_at = 0x401000;

class Decode : public EngineThreadTest {
 protected:
  /// The instruction that the bytes are.
  static Instruction of(const Bytes& bytes) {
    Instruction in{};
    EXPECT_TRUE(decodes(bytes, in)) << "byte " << +bytes.front();
    EXPECT_EQ(in.length, bytes.size()) << "byte " << +bytes.front();
    return in;
  }
  static bool decodes(const Bytes& bytes, Instruction& in, u64 available = 15) {
    u8 all[16] = {};
    std::memcpy(all, bytes.data(), bytes.size());
    return decode(decoded_at, all, available, in);
  }
};

using channel::Feature;

TEST_F(Decode, finds_the_feature_that_an_instruction_needs_and_the_presented_processor_lacks) {
  const struct {
    Feature feature;
    Bytes bytes;
  } cases[] = {
      {Feature::none, {0x48, 0x89, 0xc8}},                        // mov rax, rcx
      {Feature::none, {0x66, 0x0f, 0xfe, 0xc1}},                  // paddd xmm0, xmm1
      {Feature::none, {0xf3, 0x0f, 0xbc, 0xc1}},                  // tzcnt eax, ecx: bsf elsewhere
      {Feature::lzcnt, {0xf3, 0x0f, 0xbd, 0xc1}},                 // lzcnt eax, ecx
      {Feature::popcnt, {0xf3, 0x0f, 0xb8, 0xc1}},                // popcnt eax, ecx
      {Feature::cx16, {0x48, 0x0f, 0xc7, 0x0f}},                  // cmpxchg16b [rdi]
      {Feature::sse3, {0xf2, 0x0f, 0xf0, 0x07}},                  // lddqu xmm0, [rdi]
      {Feature::ssse3, {0x66, 0x0f, 0x38, 0x00, 0xc1}},           // pshufb xmm0, xmm1
      {Feature::sse4_1, {0x66, 0x0f, 0x38, 0x17, 0xc1}},          // ptest xmm0, xmm1
      {Feature::sse4_2, {0xf2, 0x0f, 0x38, 0xf1, 0xc1}},          // crc32 eax, ecx
      {Feature::aes, {0x66, 0x0f, 0x38, 0xdc, 0xc1}},             // aesenc xmm0, xmm1
      {Feature::avx, {0xc5, 0xf8, 0x58, 0xc1}},                   // vaddps xmm0, xmm0, xmm1
      {Feature::avx2, {0xc5, 0xfd, 0xfe, 0xc1}},                  // vpaddd ymm0, ymm0, ymm1
      {Feature::bmi2, {0xc4, 0xe2, 0x7b, 0xf5, 0xc1}},            // pdep eax, eax, ecx
      {Feature::fma, {0xc4, 0xe2, 0x7d, 0x98, 0xc1}},             // vfmadd132ps ymm0, ymm0, ymm1
      {Feature::avx512f, {0x62, 0xf1, 0x7d, 0x48, 0xfe, 0xc1}},   // vpaddd zmm0, zmm0, zmm1
      {Feature::avx512vl, {0x62, 0xf1, 0x7d, 0x28, 0xfe, 0xe1}},  // vpaddd ymm4, ymm0, ymm1, by EVEX
      {Feature::rdrand, {0x0f, 0xc7, 0xf0}},                      // rdrand eax
      {Feature::xsave, {0x0f, 0xae, 0x27}},                       // xsave [rdi]
      {Feature::rdtscp, {0x0f, 0x01, 0xf9}},
  };
  for (const auto& [feature, bytes] : cases) {
    EXPECT_EQ(of(bytes).unasked, 0) << "the real processor";
    presented_features = channel::FeatureSet{}.with(Feature::none);
    EXPECT_EQ(of(bytes).unasked, static_cast<u8>(feature)) << "byte " << +bytes.back();
    presented_features = presented_features.with(feature);
    EXPECT_EQ(of(bytes).unasked, 0) << "byte " << +bytes.back();
    presented_features = {~u64{0}};
  }
}

TEST_F(Decode, leaves_the_identity_of_a_presented_processor_to_the_engine) {
  for (const Bytes& bytes : {Bytes{0x0f, 0xa2}, Bytes{0x0f, 0x01, 0xd0}}) {  // cpuid, xgetbv
    EXPECT_EQ(of(bytes).kind, Kind::plain);
    presents_cpu = true;
    EXPECT_EQ(of(bytes).kind, Kind::emulated);
    EXPECT_EQ(of(bytes).reads, counter_flags);
    presents_cpu = false;
  }
}

TEST_F(Decode, finds_what_moves_extended_state) {
  for (const Bytes& bytes : {Bytes{0x0f, 0xae, 0x27}, Bytes{0x48, 0x0f, 0xae, 0x2f}, Bytes{0x0f, 0xae, 0x37},
                             Bytes{0x48, 0x0f, 0xc7, 0x27}})  // xsave, xrstor64, xsaveopt, xsavec64
    EXPECT_TRUE(of(bytes).moves_state);
  for (const Bytes& bytes : {Bytes{0x0f, 0xae, 0x07}, Bytes{0x0f, 0xae, 0xe8}, Bytes{0x66, 0x0f, 0xae, 0x37}})
    EXPECT_FALSE(of(bytes).moves_state);  // fxsave, lfence, clwb
}

TEST_F(Decode, finds_how_an_instruction_leaves) {
  const struct {
    Kind kind;
    Bytes bytes;
  } cases[] = {
      {Kind::plain, {0x90}},
      {Kind::jcc, {0x74, 0x05}},
      {Kind::jcc, {0x0f, 0x85, 1, 0, 0, 0}},
      {Kind::loop, {0xe2, 0xfe}},
      {Kind::loop, {0xe3, 0x00}},        // jrcxz
      {Kind::loop, {0x67, 0xe3, 0x00}},  // jecxz
      {Kind::jump, {0xeb, 0x05}},
      {Kind::jump, {0xe9, 0, 1, 0, 0}},
      {Kind::step, {0x66, 0xe9, 0, 1, 0, 0}},  // AMD and Intel differ
      {Kind::jump_indirect, {0xff, 0xe0}},
      {Kind::jump_indirect, {0xff, 0x25, 0, 0, 0, 0}},
      {Kind::step, {0xff, 0x2f}},  // jmp far [rdi]
      {Kind::call, {0xe8, 0, 0, 0, 0}},
      {Kind::call, {0x66, 0x48, 0xe8, 0, 0, 0, 0}},  // the padding of calls of __tls_get_addr
      {Kind::call_indirect, {0xff, 0xd0}},
      {Kind::ret, {0xc3}},
      {Kind::ret, {0xc2, 8, 0}},
      {Kind::far_return, {0xcb}},
      {Kind::far_return, {0x48, 0xcf}},  // iretq
      {Kind::syscall, {0x0f, 0x05}},
      {Kind::step, {0x0f, 0x34}},  // sysenter
      {Kind::trap, {0xcc}},
      {Kind::trap, {0xcd, 0x80}},
      {Kind::trap, {0x0f, 0x0b}},
      {Kind::trap, {0xf4}},
      {Kind::transaction, {0xc7, 0xf8, 0, 0, 0, 0}},
      {Kind::plain, {0x0f, 0x01, 0xd5}},              // xend
      {Kind::leave, {0x65, 0x48, 0x8b, 0x00}},        // mov rax, gs:[rax]
      {Kind::plain, {0x65, 0x48, 0x8d, 0x00}},        // lea does not read
      {Kind::plain, {0x64, 0x48, 0x8b, 0x00}},        // fs is the program's own
      {Kind::leave, {0x8e, 0xe8}},                    // mov gs, eax
      {Kind::plain, {0x8e, 0xe0}},                    // mov fs, eax
      {Kind::leave, {0xf3, 0x48, 0x0f, 0xae, 0xd8}},  // wrgsbase rax
  };
  for (const auto& one : cases)
    EXPECT_EQ(of(one.bytes).kind, one.kind) << std::hex << +one.bytes[0] << " " << +one.bytes.back();
}

TEST_F(Decode, counts_the_accesses_of_one_execution) {
  const struct {
    const char* text;
    int loads, stores;
    Bytes bytes;
  } cases[] = {
      {"nop", 0, 0, {0x90}},
      {"nop [rax]", 0, 0, {0x0f, 0x1f, 0x00}},
      {"lea eax, [rdi]", 0, 0, {0x8d, 0x07}},
      {"mov eax, [rdi]", 1, 0, {0x8b, 0x07}},
      {"mov [rdi], eax", 0, 1, {0x89, 0x07}},
      {"add [rdi], eax", 1, 1, {0x01, 0x07}},
      {"cmp [rdi], eax", 1, 0, {0x39, 0x07}},
      {"push rax", 0, 1, {0x50}},
      {"push [rax]", 1, 1, {0xff, 0x30}},
      {"pop rax", 1, 0, {0x58}},
      {"pop [rax]", 1, 1, {0x8f, 0x00}},
      {"call", 0, 1, {0xe8, 0, 0, 0, 0}},
      {"call [rip]", 1, 1, {0xff, 0x15, 0, 0, 0, 0}},
      {"jmp [rip]", 1, 0, {0xff, 0x25, 0, 0, 0, 0}},
      {"ret", 1, 0, {0xc3}},
      {"leave", 1, 0, {0xc9}},
      {"movsb", 1, 1, {0xa4}},
      {"cmpsb", 2, 0, {0xa6}},
      {"stosq", 0, 1, {0x48, 0xab}},
      {"xlat", 1, 0, {0xd7}},
      {"maskmovdqu", 0, 1, {0x66, 0x0f, 0xf7, 0xc1}},
      {"clflush [rax]", 0, 0, {0x0f, 0xae, 0x38}},
  };
  for (const auto& one : cases) {
    const Instruction in = of(one.bytes);
    EXPECT_EQ(in.loads, one.loads) << one.text;
    EXPECT_EQ(in.stores, one.stores) << one.text;
    EXPECT_EQ(in.dynamic, channel::dynamic_none) << one.text;
    EXPECT_EQ(in.plain_field, 0) << one.text;
  }
}

TEST_F(Decode, does_not_count_a_prefetch_as_a_load) {
  const Instruction in = of({0x0f, 0x18, 0x0f});  // prefetcht0 [rdi]
  EXPECT_EQ(in.plain_field, channel::prefetches);
  EXPECT_EQ(in.loads, 0);
}

TEST_F(Decode, counts_repeated_strings_when_they_run) {
  const auto expect = [](const Instruction& in, channel::Dynamic dynamic, bool ends_early) {
    EXPECT_EQ(in.dynamic, dynamic);
    EXPECT_EQ(in.ends_early, ends_early);
    EXPECT_EQ(in.loads + in.stores, 0);
  };
  expect(of({0xf3, 0xa4}), channel::dynamic_move, false);
  expect(of({0xf3, 0xaa}), channel::dynamic_store, false);
  expect(of({0xf3, 0x48, 0xad}), channel::dynamic_load, false);
  expect(of({0xf3, 0xa6}), channel::dynamic_compare, true);
  expect(of({0xf2, 0xae}), channel::dynamic_load, true);
}

TEST_F(Decode, needs_all_bytes_and_at_most_15) {
  Instruction in{};
  const Bytes jump = {0xe9, 0, 1, 0, 0};
  EXPECT_TRUE(decodes(jump, in, 5));
  EXPECT_FALSE(decodes(jump, in, 4));
  Bytes padded(14, 0x66);
  padded.push_back(0x90);
  EXPECT_TRUE(decodes(padded, in));
  EXPECT_EQ(in.length, 15);
  padded.insert(padded.begin(), 0x66);
  EXPECT_FALSE(decodes(padded, in));
  EXPECT_FALSE(decodes({0x06}, in)) << "push es is invalid in 64-bit code";
}

TEST_F(Decode, adds_displacements_to_the_next_instruction) {
  EXPECT_EQ(of({0x74, 0x05}).target(), decoded_at + 2 + 5);
  EXPECT_EQ(of({0xeb, 0xfe}).target(), decoded_at);
  EXPECT_EQ(of({0xe9, 0xfb, 0xff, 0xff, 0x7f}).target(), decoded_at + 5 + 0x7ffffffb);
  const Instruction load = of({0x48, 0x8b, 0x05, 0x10, 0, 0, 0});
  EXPECT_TRUE(load.rip_relative());
  EXPECT_EQ(load.rip_operand(), decoded_at + 7 + 0x10);
  // An immediate operand is between the displacement and the next instruction.
  EXPECT_EQ(of({0xc7, 0x05, 0x10, 0, 0, 0, 1, 0, 0, 0}).rip_operand(), decoded_at + 10 + 0x10);
  EXPECT_FALSE(of({0x48, 0x8b, 0x45, 0x10}).rip_relative());
  // With 32 address bits the sum is cut.
  EXPECT_EQ(of({0x67, 0x48, 0x8b, 0x05, 0x00, 0x00, 0x00, 0x80}).rip_operand(), u32(decoded_at + 8 - 0x80000000));
}

TEST_F(Decode, finds_the_flags_that_are_read_and_always_written) {
  const struct {
    const char* text;
    int reads, writes;
    Bytes bytes;
  } cases[] = {
      {"mov eax, ebx", 0, 0, {0x89, 0xd8}},
      {"add eax, ebx", 0, counter_flags, {0x01, 0xd8}},
      {"inc eax", 0, counter_flags, {0xff, 0xc0}},
      {"and eax, ebx", 0, counter_flags, {0x21, 0xd8}},  // every processor clears the undefined adjust flag
      {"shl eax, cl", 0, 0, {0xd3, 0xe0}},               // a count of zero changes nothing
      {"shl eax, 32", 0, 0, {0xc1, 0xe0, 32}},
      {"shl eax, 1", 0, parity | zero | sign, {0xd1, 0xe0}},
      {"imul eax, ebx", 0, overflow, {0x0f, 0xaf, 0xc3}},
      {"je", zero, 0, {0x74, 0}},
      {"jg", zero | sign | overflow, 0, {0x7f, 0}},
      {"jp", parity, 0, {0x7a, 0}},
      {"pushf", counter_flags, 0, {0x9c}},
      {"syscall", counter_flags, 0, {0x0f, 0x05}},  // it leaves them in r11
      {"repe cmpsb", zero, 0, {0xf3, 0xa6}},        // with rcx 0 it changes nothing
  };
  for (const auto& one : cases) {
    const Instruction in = of(one.bytes);
    EXPECT_EQ(in.reads, one.reads) << one.text;
    EXPECT_EQ(in.writes, one.writes) << one.text;
  }
}

TEST_F(Decode, finds_a_register_that_is_overwritten_whole) {
  const struct {
    const char* text;
    u8 reg;
    Bytes bytes;
  } cases[] = {
      {"mov eax, 1", rax, {0xb8, 1, 0, 0, 0}},
      {"mov r9d, 1", r9, {0x41, 0xb9, 1, 0, 0, 0}},
      {"mov al, 1", no_register, {0xb0, 1}},
      {"mov esp, 1", no_register, {0xbc, 1, 0, 0, 0}},
      {"mov ax, 1", no_register, {0x66, 0xb8, 1, 0}},
      {"mov eax, ebx", rax, {0x89, 0xd8}},
      {"mov eax, eax", no_register, {0x89, 0xc0}},
      {"mov eax, [rbx]", no_register, {0x8b, 0x03}},  // it may fault
      {"lea eax, [rbx]", rax, {0x8d, 0x03}},
      {"lea eax, [rax]", no_register, {0x8d, 0x00}},
      {"lea eax, [rbx+rax]", no_register, {0x8d, 0x04, 0x03}},
      {"lea eax, [rip]", rax, {0x8d, 0x05, 0, 0, 0, 0}},
      {"movzx eax, bx", rax, {0x0f, 0xb7, 0xc3}},
      {"add eax, ebx", no_register, {0x01, 0xd8}},
  };
  for (const auto& one : cases) EXPECT_EQ(+overwritten_register(of(one.bytes)), +one.reg) << one.text;
}

TEST_F(Decode, names_the_registers_of_all_operands) {
  const auto mask = [](std::initializer_list<int> registers) {
    u16 bits = 0;
    for (const int one : registers) bits |= static_cast<u16>(1u << one);
    return bits;
  };
  EXPECT_EQ(registers_of(of({0x90})), 0xffff) << "an instruction without operands may use any register";
  EXPECT_EQ(registers_of(of({0x48, 0x8b, 0x04, 0x8b})), mask({rsp, rax, rbx, rcx}));  // mov rax, [rbx+rcx*4]
  EXPECT_EQ(registers_of(of({0x4e, 0x8b, 0x04, 0x8b})), mask({rsp, r8, rbx, r9}));    // mov r8, [rbx+r9*4]
  EXPECT_EQ(registers_of(of({0x88, 0xe0})), mask({rsp, rax}));                        // mov al, ah
}

TEST_F(Decode, drops_the_extensions_of_base_and_index) {
  const auto without = [](const Bytes& bytes) {
    u8 changed[16];
    without_extensions(of(bytes), changed);
    return Bytes(changed, changed + bytes.size());
  };
  EXPECT_EQ(without({0x4b, 0x8b, 0x05, 0, 0, 0, 0}), (Bytes{0x48, 0x8b, 0x05, 0, 0, 0, 0}));
  EXPECT_EQ(without({0x4c, 0x8b, 0x05, 0, 0, 0, 0}), (Bytes{0x4c, 0x8b, 0x05, 0, 0, 0, 0}));
  // vmovaps xmm0, [rip]: the bits are inverted in the second byte of a VEX prefix.
  EXPECT_EQ(without({0xc4, 0x81, 0x78, 0x28, 0x05, 0, 0, 0, 0}), (Bytes{0xc4, 0xe1, 0x78, 0x28, 0x05, 0, 0, 0, 0}));
}

TEST_F(Decode, adds_what_one_execution_counts) {
  channel::SegmentVector v;
  add_counts(v, of({0xff, 0x15, 0, 0, 0, 0}));  // call [rip]
  add_counts(v, of({0x0f, 0x18, 0x0f}));        // prefetcht0 [rdi]
  add_counts(v, of({0x74, 0x05}));              // je
  EXPECT_EQ(v.counts[channel::instructions], 3);
  EXPECT_EQ(v.counts[channel::loads], 1);
  EXPECT_EQ(v.counts[channel::stores], 1);
  EXPECT_EQ(v.plain[channel::prefetches - channel::first_plain_field], 1);
  EXPECT_EQ(v.branches[channel::indirect_calls - 3], 1);
  EXPECT_EQ(v.branches[channel::conditional - 3], 1);
  EXPECT_EQ(v.branches[channel::taken - 3], 1);
  int all = 0;
  for (const int8_t one : v.branches) all += one;
  EXPECT_EQ(all, 3);
}

}  // namespace
}  // namespace tally::engine::translate
