// Short threads: as many as the argument says, 200 at once, each with a stack of its own size, and a join that always
// executes the same instructions.
#include "tests/engine/programs/bare.hpp"

namespace {

constexpr int at_once = 200;
constexpr size_t stack_room = 16384;
constexpr uint64_t rounds = 10;

volatile int tids[at_once];

asm(R"(
# start_short(stack_top, flags, tid): clone; the child adds to the sum and exits.
        .globl start_short
start_short:
        movq %rsi, %rax
        movq %rdi, %rsi
        movq %rax, %rdi
        movq %rdx, %r10
        movl $56, %eax
        syscall
        testq %rax, %rax
        jz 1f
        ret
1:      movl $10, %ecx
2:      call 3f
        decq %rcx
        jnz 2b
        movl $60, %eax
        xorl %edi, %edi
        syscall
        ud2
3:      lock incq short_sum(%rip)
        ret
)");
extern "C" long start_short(uint8_t* stack_top, uint64_t flags, volatile int* tid);
extern "C" volatile uint64_t short_sum;
volatile uint64_t short_sum = 0;

void join(volatile int& tid) {
  // The word is 1 until the kernel clears it at the thread's end and wakes.
  const long result = bare::call(__NR_futex, bare::address(&tid), 0, 1, 0);
  bare::check(result * (result + 11) == 0);  // one test for both answers, 0 and EAGAIN
  bare::check(tid == 0);
}

}  // namespace

extern "C" int program(int argc, char** argv, char**) {
  using namespace bare;
  // VM FS FILES SIGHAND THREAD SYSVSEM CHILD_CLEARTID
  constexpr uint64_t flags = 0x100 | 0x200 | 0x400 | 0x800 | 0x10000 | 0x40000 | 0x200000;
  int batches = 0;
  for (const char* p = argc > 1 ? argv[1] : "1"; *p != 0; ++p) batches = 10 * batches + (*p - '0');
  uint8_t* stacks = map(at_once * stack_room, prot_read | prot_write);
  for (int batch = 0; batch < batches; ++batch) {
    for (int i = 0; i < at_once; ++i) {
      tids[i] = 1;
      check(start_short(stacks + static_cast<size_t>(i + 1) * stack_room - static_cast<size_t>(i % 64) * 128, flags,
                        &tids[i]) > 0);
    }
    for (int i = 0; i < at_once; ++i) join(tids[i]);
  }
  check(short_sum == static_cast<uint64_t>(batches) * at_once * rounds);
  return 0;
}
