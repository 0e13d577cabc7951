// Unpredictable branches, more than any buffer holds at a time: alone, in a child that executes this again, in one that
// begins a thread, in one that begins a thread while its parent waits for it, next to a thread, after one.
#include "tests/engine/programs/bare.hpp"

namespace {

constexpr size_t stack_bytes = 16384;

asm(R"(
# wander(rounds, seed): three branches a round.
        .globl wander
wander: xorl %eax, %eax
1:      imull $1664525, %esi, %esi
        addl $1013904223, %esi
        testl $0x10000000, %esi
        jz 2f
        incl %eax
2:      testl $0x60000000, %esi
        jnz 3f
        addl $3, %eax
3:      decl %edi
        jnz 1b
        ret

# start(stack_top, flags, tid): clone; the child wanders and exits.
        .globl start
start:  movq %rdi, %rcx
        movq %rsi, %rdi
        movq %rcx, %rsi
        movq %rdx, %r10
        movl $56, %eax
        syscall
        testq %rax, %rax
        jz 1f
        ret
1:      movl $30000, %edi
        movl $77, %esi
        call wander
        xorl %edi, %edi
        movl $60, %eax
        syscall
        ud2

# vfork has to return twice into a frame that the child must not have reused.
        .globl vfork_and
vfork_and:
        popq %r8
        movl $58, %eax
        syscall
        pushq %r8
        ret
)");
extern "C" int wander(int rounds, int seed);
extern "C" long start(uint8_t* stack_top, uint64_t flags, volatile int* tid);
extern "C" long vfork_and() __attribute__((returns_twice));

uint8_t* stack;
volatile int tid;

void begin_thread() {
  // VM FS FILES SIGHAND THREAD SYSVSEM CHILD_CLEARTID
  constexpr uint64_t flags = 0x100 | 0x200 | 0x400 | 0x800 | 0x10000 | 0x40000 | 0x200000;
  tid = 1;
  bare::check(start(stack + stack_bytes, flags, &tid) > 0);
}

/// The same number of branches whether or not it has ended already.
void join() {
  const long result = bare::call(__NR_futex, bare::address(&tid), 0, 1, 0);
  bare::check(result * (result + 11) == 0);
  bare::check(tid == 0);
}

void execute(const char* path) {
  const char* const arguments[] = {path, "again", nullptr};
  const char* const environment[] = {nullptr};
  bare::call(__NR_execve, bare::address(path), bare::address(arguments), bare::address(environment));
  bare::leave(9);
}

void wait_for(long pid) {
  int status = -1;
  bare::check(pid > 0);
  bare::check(bare::call(__NR_wait4, pid, bare::address(&status), 0, 0) == pid && status == 0);
}

void wander_next_to_a_thread() {
  begin_thread();
  wander(20'000, 5);
  join();
  wander(1'000, 6);
}

}  // namespace

extern "C" int program(int argc, char** argv, char**) {
  using namespace bare;
  wander(3'000, 1);
  if (argc > 1) return 0;
  stack = map(stack_bytes, prot_read | prot_write);
  long pid = vfork_and();
  if (pid == 0) execute(argv[0]);
  wait_for(pid);
  wander(3'000, 2);
  pid = call(__NR_fork);
  if (pid == 0) {
    wander_next_to_a_thread();
    leave(0);
  }
  wait_for(pid);
  pid = call(__NR_fork);
  if (pid == 0) {
    pid = vfork_and();
    if (pid == 0) {
      wander(2'000, 3);
      wander_next_to_a_thread();
      leave(0);
    }
    wait_for(pid);
    wander(2'000, 4);
    leave(0);
  }
  wait_for(pid);
  wander(200'000, 7);
  wander_next_to_a_thread();
  pid = call(__NR_fork);
  if (pid == 0) {
    wander(2'000, 8);
    execute(argv[0]);
  }
  wait_for(pid);
  wander_next_to_a_thread();
  return 0;
}
