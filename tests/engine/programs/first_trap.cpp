// Sets the trap flag by popf, with prefixes, and by iret. Prints how far from its target the first trap is, for several
// instructions that follow: branches and others.
#include "tests/engine/programs/bare.hpp"

extern "C" {
extern const char after_code[];
uint64_t trap_at, kept_stack;
}

namespace {

uint8_t* code;
size_t size;

template <size_t n>
void add(const uint8_t (&bytes)[n]) {
  for (const uint8_t b : bytes) code[size++] = b;
}

/// Ends the code at its first trap.
void on_trap(int, bare::Info*, ucontext_t* context) {
  trap_at = static_cast<uint64_t>(bare::reg(context, REG_RIP));
  bare::reg(context, REG_EFL) &= ~bare::trap_flag;
  bare::reg(context, REG_RIP) = bare::address(after_code);
}

void run() {
  trap_at = 0;
  uint8_t* at = code;
  asm volatile(R"(
        push    %%rbx
        push    %%rbp
        mov     %%rsp, kept_stack(%%rip)
        jmp     *%%rax
        .globl  after_code
after_code:
        mov     kept_stack(%%rip), %%rsp
        pop     %%rbp
        pop     %%rbx
)"
               : "+a"(at)::"rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "cc",
                 "memory");
}

constexpr int kinds = 10;

/// The instruction that follows. Returns the offset of its target.
size_t follow(int kind) {
  switch (kind) {
    case 0: add({0xeb, 0x01, 0xcc}); break;        // jmp
    case 1: add({0x74, 0x01, 0xcc}); break;        // jz, taken
    case 2: add({0x75, 0x01}); break;              // jnz, not taken
    case 3: add({0xff, 0xe1}); break;              // jmp rcx
    case 4: add({0xe8, 0, 0, 0, 0}); break;        // call
    case 5: add({0xff, 0xd1}); break;              // call rcx
    case 6: add({0xe2, 0x01, 0xcc}); break;        // loop
    case 7: add({0xff, 0x31, 0x58, 0xc3}); break;  // push [rcx]; pop rax; ret: at the pop
    case 8: add({0x90}); break;                    // nop
    case 9: add({0x8c, 0xd0}); break;              // mov eax, ss
    default: break;
  }
  return size;
}

void by_popf(const uint8_t* prefix, size_t prefix_size, int kind) {
  size = 0;
  add({0x48, 0x8d, 0x0d, 0, 0, 0, 0});           // lea rcx, [rip + …]: the target
  add({0x9c, 0x81, 0x0c, 0x24, 0x41, 1, 0, 0});  // pushfq; or dword [rsp], 0x141
  for (size_t i = 0; i < prefix_size; ++i) code[size++] = prefix[i];
  code[size++] = 0x9d;
  const size_t target = follow(kind);
  code[3] = static_cast<uint8_t>(target - 7);
  add({0x90, 0x90, 0x90, 0x0f, 0x0b});
  run();
  bare::print(trap_at - reinterpret_cast<uint64_t>(code) - target);
}

/// iretq to the next instruction, with the trap flag.
void by_iret(int kind) {
  size = 0;
  add({0x48, 0x8d, 0x0d, 0, 0, 0, 0});                       // lea rcx, [rip + …]: the target
  add({0x48, 0x89, 0xe2, 0x8c, 0xd0, 0x50, 0x52, 0x9c});     // mov rdx, rsp; mov eax, ss; push rax, rdx; pushfq
  add({0x81, 0x0c, 0x24, 0x41, 1, 0, 0, 0x8c, 0xc8, 0x50});  // or dword [rsp], 0x141; mov eax, cs; push rax
  add({0x48, 0x8d, 0x05, 3, 0, 0, 0, 0x50, 0x48, 0xcf});     // lea rax, [rip + 3]; push rax; iretq
  const size_t target = follow(kind);
  code[3] = static_cast<uint8_t>(target - 7);
  add({0x90, 0x90, 0x90, 0x0f, 0x0b});
  run();
  bare::print(trap_at - reinterpret_cast<uint64_t>(code) - target);
}

}  // namespace

extern "C" int program(int, char**, char**) {
  code = bare::map(bare::page, bare::prot_read | bare::prot_write | bare::prot_exec);
  bare::handle(bare::sig_trap, on_trap);
  static constexpr uint8_t prefixes[] = {0x48, 0x66, 0xf2, 0x3e};
  for (int kind = 0; kind < kinds; ++kind) {
    by_popf(nullptr, 0, kind);
    for (const uint8_t& prefix : prefixes) by_popf(&prefix, 1, kind);
    by_iret(kind);
  }
  return 0;
}
