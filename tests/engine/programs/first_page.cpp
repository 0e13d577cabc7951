// first_page 0, or another digit: reads the first word of page 0, or of page 64, which is not mapped, before it reads
// anything else of that set of a cache or TLB that has room for 64 pages.
#include "tests/engine/programs/bare.hpp"

namespace {

extern "C" const char after_access[];

void go_on(int, bare::Info*, ucontext_t* context) { bare::reg(context, REG_RIP) = bare::address(after_access); }

}  // namespace

extern "C" int program(int, char** argv, char**) {
  bare::handle(bare::sig_segv, go_on);
  const uint64_t pages = argv[1][0] == '0' ? 0 : 64;
  asm volatile(R"(
        movl (%[place]), %%eax
        .globl after_access
after_access:
)"
               :
               : [place] "r"(pages * bare::page)
               : "rax", "memory");
  return 0;
}
