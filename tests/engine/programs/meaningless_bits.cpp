// Prefix bits that extend base and index of an operand, with an operand relative to RIP, which has neither; as mono's
// compiler writes them. The data are out of reach of a copy of the code, so that a copy addresses them by a register.
// Far returns to the same code segment. `far`: jumps that are executed one at a time.
#include "tests/engine/programs/bare.hpp"

namespace {

constexpr uint64_t code_at = 0x555500000000, data_at = code_at + 0x78000000;

uint8_t* map_at(uint64_t address, long protection) {
  constexpr long private_anonymous_fixed = 0x32;
  bare::check(bare::call(__NR_mmap, static_cast<long>(address), bare::page, protection, private_anonymous_fixed, -1,
                         0) == static_cast<long>(address));
  return reinterpret_cast<uint8_t*>(address);
}

struct Code {
  uint8_t* at = map_at(code_at, bare::prot_read | bare::prot_write | bare::prot_exec);
  size_t size = 0;

  void bytes(const uint8_t* from, size_t n) {
    for (size_t i = 0; i < n; ++i) at[size++] = from[i];
  }
  template <size_t n>
  void add(const uint8_t (&from)[n]) {
    bytes(from, n);
  }
  /// The displacement of the data, at an instruction's end.
  void displacement() {
    const auto distance = static_cast<uint32_t>(data_at - (code_at + size + 4));
    for (unsigned i = 0; i < 4; ++i) at[size++] = static_cast<uint8_t>(distance >> 8 * i);
  }
  uint64_t run(uint64_t argument) const { return reinterpret_cast<uint64_t (*)(uint64_t)>(at)(argument); }
};

/// add rdx, [rip + …] with each combination of the bits.
void legacy() {
  Code code;
  code.add({0x48, 0x89, 0xfa});  // mov rdx, rdi
  for (uint8_t bits = 0; bits < 4; ++bits) {
    code.add({static_cast<uint8_t>(0x48 | bits), 0x03, 0x15});
    code.displacement();
  }
  code.add({0x48, 0x89, 0xd0, 0xc3});  // mov rax, rdx; ret
  for (int i = 0; i < 1000; ++i) bare::check(code.run(1000) == 1000 + 4 * 7);
}

/// vmovd xmm0, [rip + …] with the prefix in `prefix`, whose bits of base and index are inverted.
template <size_t n>
void vector(const uint8_t (&prefix)[n], size_t bits_at) {
  for (uint8_t bits = 0; bits < 4; ++bits) {
    Code code;
    code.add(prefix);
    code.at[bits_at] = static_cast<uint8_t>(code.at[bits_at] & ~(bits << 5));
    code.add({0x6e, 0x05});
    code.displacement();
    code.add({0xc5, 0xf9, 0x7e, 0xc0, 0xc3});  // vmovd eax, xmm0; ret
    for (int i = 0; i < 1000; ++i) bare::check(code.run(0) == 7);
  }
}

/// iretq and both 64-bit far returns, each to the next instruction.
uint64_t far_returns(uint64_t value) {
  asm volatile(R"(
        mov     %%rsp, %%rcx
        mov     %%ss, %%eax
        push    %%rax
        push    %%rcx
        pushfq
        orq     $0x8c5, (%%rsp)
        mov     %%cs, %%eax
        push    %%rax
        lea     1f(%%rip), %%rdx
        push    %%rdx
        iretq
1:      seto    %%dl
        setc    %%dh
        addb    %%dl, %%dh
        movzbl  %%dh, %%edx
        addq    %%rdx, %0
        mov     %%cs, %%eax
        push    %%rax
        lea     2f(%%rip), %%rdx
        push    %%rdx
        lretq
2:      pushq   $5
        mov     %%cs, %%eax
        push    %%rax
        lea     3f(%%rip), %%rdx
        push    %%rdx
        lretq   $8
3:      subq    $16, %%rsp
        movl    $4f, (%%rsp)
        mov     %%cs, %%eax
        movl    %%eax, 4(%%rsp)
        lretl   $8
4:      cmpq    %%rsp, %%rcx
        sete    %%dl
        movzbl  %%dl, %%edx
        addq    %%rdx, %0
)"
               : "+r"(value)::"rax", "rcx", "rdx", "cc", "memory");
  return value;
}

/// A stack that cannot be read: the fault is the return's own.
volatile uint64_t fault_at;
extern "C" const char bad_return[], after_bad_return[];
void skip(int, bare::Info* info, ucontext_t* context) {
  fault_at = static_cast<uint64_t>(bare::reg(context, REG_RIP)) + (info->code > 0 ? 0 : 1);
  bare::reg(context, REG_RIP) = bare::address(after_bad_return);
  bare::reg(context, REG_RSP) = bare::reg(context, REG_RCX);
}

void failing_return() {
  static uint8_t stack[1 << 14];
  const stack_t alternate = {stack, 0, sizeof stack};
  bare::check(bare::call(__NR_sigaltstack, bare::address(&alternate), 0) == 0);
  bare::handle(bare::sig_segv, skip, bare::sa_onstack);
  bare::handle(bare::sig_bus, skip, bare::sa_onstack);
  asm volatile(R"(
        mov     %%rsp, %%rcx
        mov     $16, %%esp
        .globl  bad_return, after_bad_return
bad_return:
        iretq
after_bad_return:
)" ::
                   : "rcx", "memory");
  bare::check(fault_at == static_cast<uint64_t>(bare::address(bad_return)));
}

void far_jumps() {
  struct {
    uint32_t offset;
    uint16_t selector;
  } __attribute__((packed)) target = {0, 0x33};
  for (int i = 0; i < 100; ++i) asm volatile("movl $1f, (%0); ljmpl *(%0); 1:" ::"r"(&target) : "memory");
}

}  // namespace

extern "C" int program(int argc, char**, char**) {
  if (argc > 1) {
    far_jumps();
    return 0;
  }
  uint8_t* const data = map_at(data_at, bare::prot_read | bare::prot_write);
  data[0] = 7;
  legacy();
  if (bare::has(bare::avx2)) vector({0xc4, 0xe1, 0x79}, 1);
  if (bare::has(bare::avx512)) vector({0x62, 0xf1, 0x7d, 0x08}, 1);
  for (int i = 0; i < 1000; ++i) bare::check(far_returns(1) == 4);
  failing_return();
  return 0;
}
