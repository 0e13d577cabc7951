// Forms that compilers do not generate: a debug register with an odd ModRM byte, a 32-bit address relative to EIP,
// xbegin, with transactions and without, the ID flag across signals, an alignment check that is set while the engine
// steps over an instruction.
#include "tests/engine/programs/bare.hpp"

namespace {

volatile int illegal = 0;

void skip_xbegin(int, bare::Info* info, ucontext_t* context) {
  using namespace bare;
  check(info->code == 2 && reinterpret_cast<greg_t>(info->fault) == reg(context, REG_RIP));
  illegal = illegal + 1;
  reg(context, REG_RIP) += 6;
}

void nothing(int, bare::Info*, ucontext_t*) {}

/// Illegal, or aborted, or begun: this depends on the processor.
void xbegin() {
  using namespace bare;
  handle(sig_ill, skip_xbegin);
  uint32_t status = 0xffffffff;
  asm volatile(".byte 0xc7, 0xf8, 0, 0, 0, 0" : "+a"(status)::"memory");
  if (status == 0xffffffff && illegal == 0) asm volatile(".byte 0x0f, 0x01, 0xd5" ::: "memory");  // xend
  check(illegal <= 1);
}

void skip_three(int, bare::Info*, ucontext_t* context) {
  illegal = illegal + 1;
  bare::reg(context, REG_RIP) += 3;
}

/// Its ModRM byte looks like an operand relative to RIP, but is a register.
void debug_register() {
  bare::handle(bare::sig_segv, skip_three);
  illegal = 0;
  asm volatile(".byte 0x0f, 0x21, 0x2d" ::: "rbp", "memory");  // mov rbp, dr5
  bare::check(illegal == 1);
}

/// The target is below 4 GB, the code is not.
void narrow_address() {
  using namespace bare;
  uint8_t* code = map(page, prot_read | prot_write | prot_exec);
  static const uint8_t bytes[] = {0x67, 0x48, 0x8d, 0x05, 0x78, 0x56, 0x34, 0x12,  // lea rax, [eip + 0x12345678]
                                  0xc3};
  for (size_t i = 0; i < sizeof bytes; ++i) code[i] = bytes[i];
  const uint64_t result = reinterpret_cast<uint64_t (*)()>(code)();
  check(result == static_cast<uint32_t>(reinterpret_cast<uint64_t>(code) + 8 + 0x12345678));
}

uint64_t flags() {
  uint64_t value = 0;
  asm volatile("pushfq; popq %0" : "=r"(value));
  return value;
}

void set_flags(uint64_t value) { asm volatile("pushq %0; popfq" ::"r"(value) : "cc", "memory"); }

/// No signal frame restores the flag: it must be set all the time.
void id_flag() {
  using namespace bare;
  constexpr uint64_t id = 0x200000;
  handle(sig_usr1, nothing);
  const uint64_t before = flags();
  const uint64_t both[] = {before | id, before & ~id};
  for (const uint64_t wanted : both) {
    set_flags(wanted);
    raise(sig_usr1);
    check((flags() & id) == (wanted & id));
  }
  set_flags(before);
}

/// cmp with a meaningless REX.X, which the engine does not copy.
void alignment_check() {
  constexpr uint64_t alignment = 0x40000;
  const uint64_t before = flags();
  set_flags(before | alignment);
  uint64_t loaded = 0;
  asm volatile(".byte 0x4a, 0x8b, 0x05; .long aligned_word - . - 4" : "=a"(loaded));
  set_flags(before);
  bare::check(loaded == 0x1122334455667788);
}

asm(R"(
        .section .rodata
        .balign 8
aligned_word:
        .quad 0x1122334455667788
        .text
)");

}  // namespace

extern "C" int program(int, char**, char**) {
  xbegin();
  debug_register();
  narrow_address();
  id_flag();
  alignment_check();
  return 0;
}
