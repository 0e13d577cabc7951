// Code that is written, run, patched and run again: on a page that is writable and executable, on one that alternates,
// in the block that is running, and a mapping that is replaced.
#include "tests/engine/programs/bare.hpp"

namespace {

using Function = int();

void write_return(uint8_t* at, int value) {
  // mov $value, %eax; ret
  at[0] = 0xb8;
  __builtin_memcpy(at + 1, &value, 4);
  at[5] = 0xc3;
}

int run(const uint8_t* at) { return reinterpret_cast<Function*>(reinterpret_cast<uint64_t>(at))(); }

/// A loop that calls the page and patches the target of that very call each time.
void always_writable() {
  using namespace bare;
  uint8_t* code = map(page, prot_read | prot_write | prot_exec);
  for (int i = 0; i < 1000; ++i) {
    write_return(code, i);
    check(run(code) == i);
  }
  // Only the immediate, only one byte of it.
  for (int i = 0; i < 256; ++i) {
    code[1] = static_cast<uint8_t>(i);
    check((run(code) & 255) == i);
  }
  // At many addresses on one page, some not rewritten between two runs.
  for (int round = 0; round < 4; ++round) {
    for (int i = round; i < 32; i += round + 1) write_return(code + 64 * i, 1000 * round + i);
    for (int i = 0; i < 32; ++i) {
      int last = 0;
      for (int r = 0; r <= round; ++r) {
        if (i >= r && (i - r) % (r + 1) == 0) last = r;
      }
      check(run(code + 64 * i) == 1000 * last + i);
    }
  }
}

void one_or_the_other() {
  using namespace bare;
  uint8_t* code = map(2 * page, prot_read | prot_write);
  uint8_t* at = code + page - 3;  // the instruction is on both pages
  for (int i = 0; i < 200; ++i) {
    protect(code, 2 * page, prot_read | prot_write);
    write_return(at, i * 7);
    protect(code, 2 * page, prot_read | prot_exec);
    check(run(at) == i * 7);
  }
}

void own_block() {
  using namespace bare;
  uint8_t* code = map(page, prot_read | prot_write | prot_exec);
  // movb %dil, 7+1(%rip's target): the immediate of the following mov; jmp +0; mov $0, %eax; ret
  const uint8_t text[] = {0x40, 0x88, 0x3d, 0x03, 0, 0, 0, 0xeb, 0x00, 0xb8, 0, 0, 0, 0, 0xc3};
  __builtin_memcpy(code, text, sizeof text);
  const auto function = reinterpret_cast<int (*)(int)>(reinterpret_cast<uint64_t>(code));
  for (int i = 0; i < 100; ++i) check(function(i) == i);
}

void replaced() {
  using namespace bare;
  uint8_t* code = map(page, prot_read | prot_write | prot_exec);
  for (int i = 0; i < 50; ++i) {
    write_return(code, i);
    check(run(code) == i);
    check(call(__NR_munmap, address(code), page) == 0);
    constexpr long private_anonymous_fixed = 0x32;
    check(call(__NR_mmap, address(code), page, prot_read | prot_write | prot_exec, private_anonymous_fixed, -1, 0) ==
          address(code));
    check(code[0] == 0);
  }
}

}  // namespace

extern "C" int program(int, char**, char**) {
  always_writable();
  one_or_the_other();
  own_block();
  replaced();
  return 0;
}
