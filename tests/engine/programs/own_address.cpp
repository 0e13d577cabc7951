// own_address CODE COUNT -|t: executes the instructions CODE (hexadecimal) COUNT times, in a loop; with `t` it steps
// itself over them by the trap flag. Prints the number of its traps. The code is below 64 KB if the system permits
// that, because near branches with an operand-size prefix reach nothing else on AMD processors.
//
// The code finds the address of 8 KB of memory in r14 and an address after itself in its page in r13. It may change the
// other registers except rbp and r15.
#include "tests/engine/programs/bare.hpp"

extern "C" void on_trap();
extern "C" {
uint64_t traps;
}
asm(R"(
.globl on_trap
on_trap:
  incq traps(%rip)
  ret
)");

namespace {

constexpr uint8_t before[] = {
    0x53, 0x55, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56, 0x41, 0x57,  // push rbx, rbp, r12, r13, r14, r15
    0x41, 0x89, 0xff,                                            // mov r15d, edi
    0x49, 0x89, 0xf6,                                            // mov r14, rsi
    0x49, 0x89, 0xd5,                                            // mov r13, rdx
    0x48, 0x89, 0xe5,                                            // mov rbp, rsp
    0x51, 0x9d,                                                  // push rcx; popfq
};
constexpr uint8_t after[] = {
    0x48, 0x89, 0xec,                                                  // mov rsp, rbp
    0x41, 0xff, 0xcf,                                                  // dec r15d
    0x0f, 0x85, 0,    0,    0,    0,                                   // jnz
    0x68, 0x02, 0x02, 0,    0,    0x9d,                                // push 0x202; popfq
    0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c, 0x5d, 0x5b, 0xc3,  // pop r15, r14, r13, r12, rbp, rbx; ret
};
constexpr size_t jump_end = 12;

uint8_t digit(char c) { return static_cast<uint8_t>(c <= '9' ? c - '0' : c - 'a' + 10); }

uint8_t* map_code() {
  constexpr long low = 0x8000, private_anonymous = 0x22, fixed = 0x100000, within_32_bits = 0x40;
  constexpr long protection = bare::prot_read | bare::prot_write | bare::prot_exec;
  long at = bare::call(__NR_mmap, low, bare::page, protection, private_anonymous | fixed, -1, 0);
  if (at != low) at = bare::call(__NR_mmap, 0, bare::page, protection, private_anonymous | within_32_bits, -1, 0);
  bare::check(at > 0);
  return reinterpret_cast<uint8_t*>(at);
}

}  // namespace

extern "C" int program(int argc, char** argv, char**) {
  bare::check(argc == 4);
  uint8_t* const code = map_code();
  size_t n = 0;
  for (const uint8_t b : before) code[n++] = b;
  const size_t loop = n;
  for (const char* p = argv[1]; *p != 0; p += 2) code[n++] = static_cast<uint8_t>(digit(p[0]) << 4 | digit(p[1]));
  const auto distance = static_cast<uint32_t>(loop - (n + jump_end));
  for (const uint8_t b : after) code[n++] = b;
  for (unsigned i = 0; i < 4; ++i) code[n - sizeof after + jump_end - 4 + i] = static_cast<uint8_t>(distance >> 8 * i);
  static uint8_t memory[2 * bare::page] __attribute__((aligned(4096)));
  memory[0] = memory[bare::page] = 0;
  static uint8_t stack[1 << 14];
  const stack_t alternate = {stack, 0, sizeof stack};
  bare::check(bare::call(__NR_sigaltstack, bare::address(&alternate), 0) == 0);
  const bare::Action action{reinterpret_cast<void*>(on_trap), bare::sa_restorer | bare::sa_onstack, bare::restorer, 0};
  bare::check(bare::call(__NR_rt_sigaction, bare::sig_trap, bare::address(&action), 0, 8) == 0);
  const auto count = static_cast<uint64_t>(10 * (argv[2][0] - '0') + argv[2][1] - '0');
  const uint64_t flags = 0x202 | uint64_t{argv[3][0] == 't'} << 8;
  reinterpret_cast<void (*)(uint64_t, uint8_t*, uint8_t*, uint64_t)>(code)(count, memory, code + bare::page - 256,
                                                                           flags);
  bare::print(traps);
  return 0;
}
