// String instructions: both directions, all widths, counts in RCX and ECX, none, early ends, segment overrides.
#include "tests/engine/programs/bare.hpp"

namespace {

uint8_t from[512];
uint8_t to[512];

struct Pointers {
  uint64_t rcx, rdi, rsi;
  bool zero;
};

#define STRING(name, text)                                                                    \
  [[gnu::noipa]] Pointers name(uint64_t rcx, void* rdi, const void* rsi, uint64_t rax) {      \
    Pointers p{rcx, reinterpret_cast<uint64_t>(rdi), reinterpret_cast<uint64_t>(rsi), false}; \
    asm volatile(text "\n\t sete %3\n\t cld"                                                  \
                 : "+c"(p.rcx), "+D"(p.rdi), "+S"(p.rsi), "=q"(p.zero), "+a"(rax)             \
                 :                                                                            \
                 : "memory", "cc");                                                           \
    return p;                                                                                 \
  }
STRING(move_bytes, "rep movsb")
STRING(move_words, "rep movsw")
STRING(move_longs, "rep movsl")
STRING(move_quads, "rep movsq")
STRING(move_down, "std; rep movsb")
STRING(move_quads_down, "std; rep movsq")
STRING(move_narrow, "addr32 rep movsb")
STRING(move_by_repne, ".byte 0xf2, 0xa4")
STRING(store_bytes, "rep stosb")
STRING(store_words, "rep stosw")
STRING(store_quads, "rep stosq")
STRING(store_down, "std; rep stosl")
STRING(load_longs, "rep lodsl")
STRING(compare_while_equal, "xorl %%eax, %%eax; repe cmpsb")
STRING(compare_until_equal, "repne cmpsw")
STRING(scan_while_equal, "repe scasb")
STRING(scan_until_equal, "repne scasb")
STRING(scan_quads, "repne scasq")
STRING(single, "movsb; movsq; lodsw; stosl; scasb; cmpsl")
STRING(by_segment, "rep movsb %%fs:(%%rsi), (%%rdi)")
#undef STRING

void fill() {
  for (int i = 0; i < 512; ++i) {
    from[i] = static_cast<uint8_t>(i * 7 + 1);
    to[i] = 0;
  }
}

bool moved(const Pointers& p, int64_t di, int64_t si, uint64_t rcx = 0) {
  return p.rcx == rcx && p.rdi == reinterpret_cast<uint64_t>(to) + static_cast<uint64_t>(di) &&
         p.rsi == reinterpret_cast<uint64_t>(from) + static_cast<uint64_t>(si);
}

void moves() {
  using bare::check;
  check(moved(move_bytes(100, to, from, 0), 100, 100) && to[99] == from[99] && to[100] == 0);
  check(moved(move_words(100, to, from, 0), 200, 200) && to[199] == from[199] && to[200] == 0);
  check(moved(move_longs(60, to, from, 0), 240, 240) && to[239] == from[239]);
  check(moved(move_quads(50, to, from, 0), 400, 400) && to[399] == from[399]);
  fill();
  check(moved(move_down(10, to + 20, from + 30, 0), 10, 20) && to[20] == from[30] && to[11] == from[21] && to[10] == 0);
  check(moved(move_quads_down(3, to + 100, from + 200, 0), 76, 176) && to[84] == from[184]);
  check(moved(move_narrow(0x700000005, to, from, 0), 5, 5));
  check(moved(move_by_repne(9, to, from, 0), 9, 9));
  check(moved(move_bytes(0, to, from, 0), 0, 0));
  // Overlap: the first byte is repeated.
  to[0] = 0x42;
  const Pointers p = move_bytes(63, to + 1, to, 0);
  check(p.rcx == 0 && to[63] == 0x42 && to[31] == 0x42);
}

void stores_and_loads() {
  using bare::check;
  check(moved(store_bytes(33, to, from, 0x11), 33, 0) && to[32] == 0x11);
  check(moved(store_words(33, to, from, 0x2211), 66, 0) && to[65] == 0x22);
  check(moved(store_quads(33, to, from, ~0ull), 264, 0) && to[263] == 0xff);
  check(moved(store_down(4, to + 64, from, 0x01020304), 48, 0) && to[67] == 1 && to[52] == 4);
  check(moved(store_bytes(0, to, from, 0), 0, 0) && to[0] == 0xff);
  check(moved(load_longs(20, to, from, 0), 0, 80));
}

void searches() {
  using bare::check;
  fill();
  for (int i = 0; i < 50; ++i) to[i] = from[i];
  const Pointers differs = compare_while_equal(100, to, from, 0);
  check(moved(differs, 51, 51, 49) && !differs.zero);
  const Pointers same = compare_while_equal(50, to, from, 0);
  check(moved(same, 50, 50) && same.zero);
  to[300] = from[300];
  to[301] = from[301];
  const Pointers found = compare_until_equal(100, to + 200, from + 200, 0);
  check(moved(found, 302, 302, 49) && found.zero);
  const Pointers none = compare_while_equal(0, to, from, 0);
  check(moved(none, 0, 0) && none.zero);
  fill();
  to[77] = 9;
  check(moved(scan_while_equal(500, to, from, 0), 78, 0, 422));
  check(moved(scan_until_equal(500, to, from, 9), 78, 0, 422));
  check(moved(scan_until_equal(40, to, from, 9), 40, 0));
  check(moved(scan_quads(40, to, from, 9ull << 40), 80, 0, 30));
  const Pointers one = single(5, to, from, 0);
  check(one.rcx == 5 && one.rdi == reinterpret_cast<uint64_t>(to) + 1 + 8 + 4 + 1 + 4);
  check(one.rsi == reinterpret_cast<uint64_t>(from) + 1 + 8 + 2 + 4);
}

}  // namespace

extern "C" int program(int, char**, char**) {
  fill();
  for (int i = 0; i < 3; ++i) {
    fill();
    moves();
    stores_and_loads();
    searches();
  }
  // arch_prctl(ARCH_SET_FS): the override adds its base.
  bare::check(bare::call(__NR_arch_prctl, 0x1002, bare::address(from)) == 0);
  const Pointers p = by_segment(10, to, reinterpret_cast<void*>(32), 0);
  bare::check(p.rsi == 42 && to[0] == from[32] && to[9] == from[41]);
  return 0;
}
