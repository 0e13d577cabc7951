// fuzz FIRST COUNT LENGTH: for COUNT seeds from FIRST on, generates a function of LENGTH random instructions, runs it
// and prints the registers, the flags, the vectors and memory after it.
#include "tests/engine/fuzz/generator.hpp"

namespace {

struct State {
  uint64_t registers[16];  ///< [4], rsp, is not loaded
  uint64_t flags;
  uint64_t code;
  alignas(16) uint64_t vectors[32];
};

asm(R"(
        .globl enter_code
# enter_code(state): loads all registers from it, calls the code, stores all registers back.
enter_code:
        pushq %rbx
        pushq %rbp
        pushq %r12
        pushq %r13
        pushq %r14
        pushq %r15
        pushq %rdi
        movq %rdi, state_now(%rip)
        .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
        movdqu 144+16*\n(%rdi), %xmm\n
        .endr
        pushq 128(%rdi)
        popfq
        movq (%rdi), %rax
        movq 8(%rdi), %rcx
        movq 16(%rdi), %rdx
        movq 24(%rdi), %rbx
        movq 40(%rdi), %rbp
        movq 48(%rdi), %rsi
        .irp n, 8,9,10,11,12,13,14,15
        movq 8*\n(%rdi), %r\n
        .endr
        movq 56(%rdi), %rdi
        callq *code_now(%rip)
        pushq %rdi
        movq state_now(%rip), %rdi
        movq %rax, (%rdi)
        pushfq
        popq 128(%rdi)
        movq %rcx, 8(%rdi)
        movq %rdx, 16(%rdi)
        movq %rbx, 24(%rdi)
        movq %rbp, 40(%rdi)
        movq %rsi, 48(%rdi)
        popq 56(%rdi)
        .irp n, 8,9,10,11,12,13,14,15
        movq %r\n, 8*\n(%rdi)
        .endr
        .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
        movdqu %xmm\n, 144+16*\n(%rdi)
        .endr
        popq %rdi
        popq %r15
        popq %r14
        popq %r13
        popq %r12
        popq %rbp
        popq %rbx
        ret
)");
extern "C" void enter_code(State*);
extern "C" State* state_now;
extern "C" uint8_t* code_now;
State* state_now;
uint8_t* code_now;

uint64_t number(const char* text) {
  uint64_t value = 0;
  for (; *text != 0; ++text) value = value * 10 + static_cast<uint64_t>(*text - '0');
  return value;
}

uint64_t hash(const void* from, size_t bytes) {
  uint64_t value = 0xcbf29ce484222325;
  const auto* at = static_cast<const uint64_t*>(from);
  for (size_t i = 0; i < bytes / 8; ++i) value = (value ^ at[i]) * 0x100000001b3;
  return value;
}

/// Addresses end up in registers, so they are always the same.
uint8_t* map_at(long address, size_t bytes, long protection) {
  constexpr long private_anonymous_fixed = 0x32;
  const auto size = static_cast<long>(bytes);
  bare::check(bare::call(__NR_mmap, address, size, protection, private_anonymous_fixed, -1, 0) == address);
  return reinterpret_cast<uint8_t*>(address);
}

}  // namespace

extern "C" int program(int argc, char** argv, char**) {
  using namespace bare;
  check(argc == 4);
  const uint64_t first = number(argv[1]);
  const uint64_t count = number(argv[2]);
  const int length = static_cast<int>(number(argv[3]));
  constexpr size_t code_bytes = 1 << 18;
  uint8_t* code = map_at(0x20000000, code_bytes, prot_read | prot_write | prot_exec);
  auto* data = reinterpret_cast<uint64_t*>(map_at(0x30000000, fuzz::data_bytes + page, prot_read | prot_write));
  const bool wide = has(avx2);
  for (uint64_t seed = first; seed < first + count; ++seed) {
    fuzz::Generator generator(seed, code, wide);
    generator.function(length);
    check(generator.end() < code + code_bytes);
    fuzz::Random random(seed ^ 0x5a5a);
    for (size_t i = 0; i < fuzz::data_bytes / 8; ++i) data[i] = random.next();
    State state{};
    for (uint64_t& value : state.registers) value = random.next();
    for (uint64_t& value : state.vectors) value = random.next();
    state.registers[fuzz::rbp] = reinterpret_cast<uint64_t>(data);
    constexpr uint64_t defined = 0x8c5;  // CF PF ZF SF OF: AF is undefined after logic
    state.flags = 0x202 | (random.next() & defined);
    code_now = code;
    enter_code(&state);
    if (wide) asm volatile("vzeroupper");
    state.flags &= defined | 0x500;
    print(seed);
    for (const uint64_t value : state.registers) print(value);
    print(state.flags);
    print(hash(state.vectors, sizeof state.vectors));
    print(hash(data, fuzz::data_bytes));
  }
  return 0;
}
