// The forms of generated code, each with every register that it accepts: Zydis decodes the intended instruction.
#include <Zydis/Zydis.h>
#include <gtest/gtest.h>

#include <string>

#include "tally/engine/instrument/model_emit.hpp"
#include "tally/engine/translate/emit.hpp"

namespace tally::engine::instrument {
namespace {

using translate::Emitter;

constexpr u64 address = 0x10000000;  // the address that the code is decoded at

constexpr const char* wide[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
constexpr const char* low[] = {"eax", "ecx", "edx",  "ebx",  "esp",  "ebp",  "esi",  "edi",
                               "r8d", "r9d", "r10d", "r11d", "r12d", "r13d", "r14d", "r15d"};
constexpr const char* bytes[] = {"al",  "cl",  "dl",   "bl",   "spl",  "bpl",  "sil",  "dil",
                                 "r8b", "r9b", "r10b", "r11b", "r12b", "r13b", "r14b", "r15b"};

std::string hex(u64 value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}
std::string at(const std::string& inside) { return "[" + inside + "]"; }

/// The instructions that were written, in order.
template <class Write>
std::string read(Write&& write) {
  u8 code[64] = {};
  Emitter e;
  e.p = code;
  write(e);
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  ZydisFormatter formatter;
  ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_INTEL);
  for (const auto property : {ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_FORMATTER_PROP_ADDR_PADDING_RELATIVE,
                              ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_FORMATTER_PROP_IMM_PADDING})
    ZydisFormatterSetProperty(&formatter, property, ZYDIS_PADDING_DISABLED);
  ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
  ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_IMM_SIGNEDNESS, ZYDIS_SIGNEDNESS_UNSIGNED);
  std::string all;
  for (const u8* next = code; next < e.p;) {
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    if (!ZYAN_SUCCESS(
            ZydisDecoderDecodeFull(&decoder, next, static_cast<ZyanUSize>(e.p - next), &instruction, operands)))
      return all + "?";
    char text[96];
    ZydisFormatterFormatInstruction(&formatter, &instruction, operands, instruction.operand_count_visible, text,
                                    sizeof text, address + static_cast<u64>(next - code), nullptr);
    all += (all.empty() ? "" : "; ") + std::string(text);
    next += instruction.length;
  }
  return all;
}

#define EXPECT_READ(text, ...) EXPECT_EQ(read([&](Emitter& e) { __VA_ARGS__; }), text)

TEST(Emitter, moves_between_registers_and_memory_of_the_thread) {
  for (u8 r = 0; r < 16; ++r) {
    const std::string reg = wide[r];
    EXPECT_READ("mov gs:[0x12345], " + reg, e.store(r, 0x12345));
    EXPECT_READ("mov " + reg + ", gs:[0x12345]", e.load(r, 0x12345));
    EXPECT_READ(std::string("mov ") + low[r] + ", 0x80000000", e.move_constant(r, 0x80000000));
    EXPECT_READ("mov " + reg + ", 0x123456789abcdef0", e.move_constant(r, 0x123456789abcdef0));
    EXPECT_READ("lea " + reg + ", [" + reg + "+0x7f]", e.add_constant(r, 0x7f));
    EXPECT_READ("not " + reg, e.not_register(r));
    EXPECT_READ(std::string("movzx ") + low[r] + ", byte ptr gs:[0x12345]", byte_access(e, Byte::load, r, 0x12345));
    EXPECT_READ(std::string("mov gs:[0x12345], ") + bytes[r], byte_access(e, Byte::store, r, 0x12345));
    EXPECT_READ(std::string("movzx ") + low[r] + ", " + bytes[r], extend_byte(e, r));
    EXPECT_READ("rdfsbase " + reg, read_fs_base(e, r));
    for (u8 from = 0; from < 16; ++from) {
      EXPECT_READ("mov " + reg + ", " + wide[from], wide_move(e, r, from));
      EXPECT_READ(std::string("mov ") + low[r] + ", " + low[from], low_halves(e, Between::move, r, from));
      EXPECT_READ(std::string("xor ") + low[r] + ", " + low[from], low_halves(e, Between::bit_xor, r, from));
      EXPECT_READ("cmovnz " + reg + ", " + wide[from], move_if_not_equal(e, r, from));
    }
  }
  EXPECT_READ("mov qword ptr gs:[0x12345], 0x7654321", store_constant(e, 0x12345, 0x7654321));
  EXPECT_READ("mov dword ptr gs:[0x12345], 0x87654321", store_constant(e, 0x12345, 0x87654321, false));
  EXPECT_READ("add qword ptr gs:[0x12345], 0x7f", add_byte(e, 0x12345, 0x7f));
  EXPECT_READ("cmp dword ptr gs:[0x12345], 0x87654321", compare_dword(e, 0x12345, 0x87654321));
}

TEST(Emitter, computes) {
  for (u8 r = 0; r < 16; ++r) {
    const std::string reg = wide[r], half = low[r];
    EXPECT_READ("and " + half + ", 0x87654321", and_low(e, r, 0x87654321));
    EXPECT_READ("shr " + half + ", 0x1f", shift_right(e, r, 31));
    EXPECT_READ("test " + half + ", 0x87654321", test_dword(e, r, 0x87654321));
    EXPECT_READ(std::string("test ") + bytes[r] + ", 0x81", test_byte(e, r, 0x81));
    EXPECT_READ("and " + reg + ", 0x7f", and_wide(e, r, 0x7f));
    EXPECT_READ("and " + reg + ", 0xffffffffffffffc0", and_wide(e, r, -64));
    EXPECT_READ("and " + reg + ", 0xfffffffffffff000", and_wide(e, r, -4096));
    EXPECT_READ("cmp " + reg + ", 0xffffffffffffff80", compare_wide(e, r, -128));
    EXPECT_READ("cmp " + reg + ", 0x80", compare_wide(e, r, 128));
  }
}

TEST(Emitter, addresses_memory) {
  for (u8 base = 0; base < 16; ++base) {
    const std::string b = wide[base];
    for (u8 r = 0; r < 16; ++r) {
      const std::string reg = wide[r];
      EXPECT_READ("mov [" + b + "+0x7f], " + reg, store_at(e, base, r, 0x7f));
      EXPECT_READ("mov [" + b + "+0x80], " + reg, store_at(e, base, r, 0x80));
      EXPECT_READ("mov " + reg + ", [" + b + "-0x80]", load_at(e, r, base, -0x80));
      EXPECT_READ("mov [" + b + "+0x7f], " + low[r], store_dword_at(e, base, r, 0x7f));
      for (u32 scale = 0; scale < 4; ++scale) {
        if (r == rsp) continue;  // never an index
        const std::string index = reg + "*" + std::to_string(1 << scale);
        const std::string both = scale == 0 ? b + "+" + reg : b + "+" + index;
        EXPECT_READ("lea rdx, " + at((scale == 0 ? b + "+" + reg + "*1" : both)),
                    address_of(e, rdx, base, r, scale, 0, false));
        EXPECT_READ("lea r9, " + at(b + "+" + index + "-0x80"), address_of(e, 9, base, r, scale, -0x80, false));
        EXPECT_READ("lea r9, " + at(b + "+" + index + "+0x12345"), address_of(e, 9, base, r, scale, 0x12345, false));
      }
      if (r != rsp && (base & 7) != rbp) {
        EXPECT_READ("lea rsi, " + at(b + "+" + reg + "*1"), e.add_registers(rsi, base, r));
      }
    }
    EXPECT_READ("mov dword ptr [" + b + "+0x7f], 0x87654321", store_dword_at(e, base, 0x87654321, 0x7f));
    EXPECT_READ("mov dword ptr [" + b + "+0x80], 0x87654321", store_dword_at(e, base, 0x87654321, 0x80));
    EXPECT_READ("mov qword ptr [" + b + "], 0x7654321", store_at(e, base, 0x7654321));
    EXPECT_READ("lea rcx, " + at(b), address_of(e, rcx, base, no_register, 0, 0, false));
    EXPECT_READ("lea rcx, " + at(b + "+0x12345"), address_of(e, rcx, base, no_register, 0, 0x12345, false));
  }
}

TEST(Emitter, addresses_tables_of_the_thread) {
  for (u8 r = 0; r < 16; ++r) {
    const std::string reg = wide[r];
    EXPECT_READ("mov " + reg + ", gs:[0x12345]", table_access(e, 0x8b, r, no_register, 0, 0x12345));
    for (u8 index = 0; index < 16; ++index) {
      if (index == rsp) continue;
      for (u32 scale = 0; scale < 4; ++scale) {
        std::string inside = std::string(wide[index]) + (scale == 0 ? "" : "*" + std::to_string(1 << scale));
        if (scale == 0 && (index & 7) == rsp) inside += "*1";
        EXPECT_READ("cmp " + reg + ", gs:[" + inside + "+0x12345]", table_access(e, 0x3b, r, index, scale, 0x12345));
      }
    }
  }
}

TEST(Emitter, pads_and_jumps) {
  for (u32 n = 1; n < 30; ++n) {
    const std::string text = read([&](Emitter& e) { e.nops(n); });
    EXPECT_EQ(text.find('?'), std::string::npos) << text;
    for (std::size_t at = 0; at < text.size();
         at = text.find(';', at) == std::string::npos ? text.size() : text.find(';', at) + 2)
      EXPECT_EQ(text.substr(at, 3), "nop") << text;
  }
  EXPECT_READ("jmp " + hex(address + 0x25), e.jump(e.here() + 0x25));
}

}  // namespace
}  // namespace tally::engine::instrument
