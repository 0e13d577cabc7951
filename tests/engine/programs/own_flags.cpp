// Reads lines with the direction flag and the alignment check set, for longer than the buffers after the cache probes
// of a machine model can hold; both are set at the end, and the sum is right.
#include "tests/engine/programs/bare.hpp"

namespace {

constexpr uint64_t lines = 1 << 15, line_bytes = 64, rounds = 6;

asm(R"(
        .globl read_lines
# read_lines(first, lines, rounds): the flags in rdx, the sum of the lines' first words in rax.
read_lines:
        movq %rdx, %r8
        xorl %eax, %eax
        pushfq
        orl $0x40400, (%rsp)
        popfq
1:      movq %rdi, %rcx
        movq %rsi, %r9
2:      addq (%rcx), %rax
        addq $64, %rcx
        decq %r9
        jnz 2b
        pushq %rdi
        movl $1, %ecx
        repe scasb
        popq %rdi
        decq %r8
        jnz 1b
        pushfq
        movq (%rsp), %rdx
        andl $~0x40400, (%rsp)
        popfq
        ret
)");
struct Read {
  uint64_t sum, flags;
};
extern "C" Read read_lines(const uint8_t* first, uint64_t lines, uint64_t rounds);

}  // namespace

extern "C" int program(int, char**, char**) {
  uint8_t* memory = bare::map(lines * line_bytes, bare::prot_read | bare::prot_write);
  for (uint64_t i = 0; i < lines; ++i) memory[i * line_bytes] = i % 7;
  uint64_t sum = 0;
  for (uint64_t i = 0; i < lines; ++i) sum += i % 7;
  const Read read = read_lines(memory, lines, rounds);
  bare::check(read.sum == rounds * sum);
  bare::check((read.flags & 0x40400) == 0x40400);
  return 0;
}
