// Gathers and scatters with full, partial and empty masks, if the processor supports them; and some that fault in the
// middle, when the elements before are complete.
#include "tests/engine/programs/bare.hpp"

namespace {

int table[64];
constexpr int lanes = 8;

__attribute__((target("avx2"))) void gathers(uint32_t lanes_set) {
  alignas(32) int indices[lanes];
  alignas(32) int masks[lanes];
  alignas(32) int out[lanes];
  for (int i = 0; i < lanes; ++i) {
    indices[i] = 3 * i;
    masks[i] = lanes_set >> i & 1 ? -1 : 0;
    out[i] = -7;
  }
  asm volatile(R"(
        vmovdqa (%[index]), %%ymm1
        vmovdqa (%[mask]), %%ymm2
        vmovdqa (%[out]), %%ymm0
        vpgatherdd %%ymm2, (%[table],%%ymm1,4), %%ymm0
        vmovdqa %%ymm0, (%[out])
        vmovdqa (%[mask]), %%xmm2
        vpxor %%xmm3, %%xmm3, %%xmm3
        vgatherdps %%xmm2, (%[table],%%xmm1,4), %%xmm3
        vmovdqa (%[mask]), %%xmm2
        vpgatherdq %%xmm2, (%[table],%%xmm1,4), %%xmm3
        vpmovzxdq %%xmm1, %%ymm4
        vmovdqa (%[mask]), %%ymm2
        vpgatherqq %%ymm2, (%[table],%%ymm4,4), %%ymm5
        vmovdqa (%[mask]), %%xmm2
        vgatherqps %%xmm2, (%[table],%%ymm4,4), %%xmm5
        vzeroupper)"
               :
               : [index] "r"(indices), [mask] "r"(masks), [out] "r"(out), [table] "r"(table)
               : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "memory");
  for (int i = 0; i < lanes; ++i) bare::check(out[i] == (masks[i] != 0 ? 300 * i : -7));
}

__attribute__((target("avx512f"))) void scatters(uint32_t lanes_set) {
  alignas(64) int indices[16];
  alignas(64) static int out[64];
  for (int i = 0; i < 16; ++i) indices[i] = 4 * i;
  for (int& cell : out) cell = -1;
  asm volatile(R"(
        vmovdqa64 (%[index]), %%zmm1
        kmovw %[mask], %%k1
        vpgatherdd (%[table],%%zmm1,4), %%zmm0%{%%k1%}
        kmovw %[mask], %%k2
        vpscatterdd %%zmm0, (%[out],%%zmm1,4)%{%%k2%}
        kmovw %[mask], %%k3
        vpscatterdq %%zmm0, (%[out],%%ymm1,4)%{%%k3%}
        kmovw %[mask], %%k2
        vpscatterdd %%zmm0, (%[out],%%zmm1,4)%{%%k2%}
        vzeroupper)"
               :
               : [index] "r"(indices), [mask] "r"(lanes_set), [out] "r"(out), [table] "r"(table)
               : "xmm0", "xmm1", "memory");
  for (int i = 0; i < 16; ++i) {
    if (lanes_set >> i & 1) bare::check(out[4 * i] == 400 * i);
  }
}

uint8_t* pages;  // the second one cannot be accessed
volatile int faults = 0;

void open_page(int, bare::Info* info, ucontext_t*) {
  using namespace bare;
  check(info->fault == pages + page);
  protect(pages + page, page, prot_read | prot_write);
  faults = faults + 1;
}

/// The elements in the lanes below `first` are on the accessible page, the others are not.
void set_indices(int* indices, int count, int first) {
  for (int i = 0; i < count; ++i) indices[i] = static_cast<int>(i < first ? i : bare::page / 4);
}

__attribute__((target("avx2"))) void gather_across(int first) {
  alignas(32) int indices[lanes];
  set_indices(indices, lanes, first);
  bare::protect(pages + bare::page, bare::page, bare::prot_none);
  asm volatile(R"(
        vmovdqa (%[index]), %%ymm1
        vpcmpeqd %%ymm2, %%ymm2, %%ymm2
        vpgatherdd %%ymm2, (%[table],%%ymm1,4), %%ymm0
        vzeroupper)"
               :
               : [index] "r"(indices), [table] "r"(pages)
               : "xmm0", "xmm1", "xmm2", "memory");
}

__attribute__((target("avx512f"))) void wide_across(int first) {
  alignas(64) int indices[16];
  set_indices(indices, 16, first);
  bare::protect(pages + bare::page, bare::page, bare::prot_none);
  asm volatile(R"(
        vmovdqa64 (%[index]), %%zmm1
        kmovw %[mask], %%k1
        vpgatherdd (%[table],%%zmm1,4), %%zmm0%{%%k1%}
        vzeroupper)"
               :
               : [index] "r"(indices), [mask] "r"(0xffff), [table] "r"(pages)
               : "xmm0", "xmm1", "memory");
  bare::protect(pages + bare::page, bare::page, bare::prot_none);
  asm volatile(R"(
        vmovdqa64 (%[index]), %%zmm1
        kmovw %[mask], %%k1
        vpscatterdd %%zmm1, (%[table],%%zmm1,4)%{%%k1%}
        vzeroupper)"
               :
               : [index] "r"(indices), [mask] "r"(0xffff), [table] "r"(pages)
               : "xmm0", "xmm1", "memory");
}

}  // namespace

extern "C" int program(int, char**, char**) {
  for (int i = 0; i < 64; ++i) table[i] = 100 * i;
  bare::handle(bare::sig_segv, open_page);
  pages = bare::map(2 * bare::page, bare::prot_read | bare::prot_write);
  const uint32_t masks[] = {0, 1, 0x80, 0x55, 0xaa, 0xff, 0xfe};
  if (bare::has(bare::avx2)) {
    for (const uint32_t lanes_set : masks) gathers(lanes_set);
  }
  if (bare::has(bare::avx512)) {
    for (const uint32_t lanes_set : masks) scatters(lanes_set | lanes_set << 8);
  }
  const int done[] = {0, 1, 5, 7};
  for (const int first : done) {
    faults = 0;
    if (bare::has(bare::avx2)) gather_across(first);
    if (bare::has(bare::avx512)) wide_across(2 * first);
    bare::check(faults == (bare::has(bare::avx512) ? 3 : bare::has(bare::avx2) ? 1 : 0));
  }
  return 0;
}
