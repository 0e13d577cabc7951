// A program with several stacks, and functions that call each other, for the tests of `tally profile --calls`.
// Arguments: what to do.
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define NOINLINE __attribute__((noinline))

// Eleven instructions.
__asm__(
    "        .globl eleven\n"
    "        .type eleven, @function\n"
    "eleven: nop; nop; nop; nop; nop; nop; nop; nop; nop; nop\n"
    "        ret\n"
    "        .size eleven, . - eleven\n");
void eleven(void);

// Saves the callee-saved registers on this stack, and continues where the other stack was left.
__asm__(
    "        .globl switch_to\n"
    "        .type switch_to, @function\n"
    "switch_to:\n"
    "        push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
    "        mov %rsp, (%rdi)\n"
    "        mov %rsi, %rsp\n"
    "        pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
    "        ret\n"
    "        .size switch_to, . - switch_to\n");
void switch_to(void** left, void* entered);

// Calls itself N times.
__asm__(
    "        .globl deep\n"
    "        .type deep, @function\n"
    "deep:   dec %edi\n"
    "        jz 1f\n"
    "        call deep\n"
    "1:      ret\n"
    "        .size deep, . - deep\n");
void deep(int n);

NOINLINE static void times(int n) {
  while (n-- > 0) eleven();
}

static volatile int s;

// Two functions that call each other.
NOINLINE static int odd(int n);
NOINLINE static int even(int n) {
  s = s + 1;
  int r = n == 0 ? 1 : odd(n - 1);
  s = s + 1;
  return r;
}
NOINLINE static int odd(int n) {
  s = s + 2;
  int r = n == 0 ? 0 : even(n - 1);
  s = s + 2;
  return r;
}

// A handler on another stack that leaves by siglongjmp.
static sigjmp_buf guard;
static volatile int* volatile nowhere;
static void handler(int signal) {
  (void)signal;
  siglongjmp(guard, 1);
}
NOINLINE static void faulty(void) {
  s = s + 1;
  *nowhere = 1;
  s = s + 100;
}
NOINLINE static void recovered(void) { times(10); }
NOINLINE static void guarded(char* stack, size_t bytes) {
  stack_t alternate = {stack, 0, bytes};
  sigaltstack(&alternate, NULL);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGSEGV, &action, NULL);
  for (volatile int i = 0; i < 100; i++)
    if (!sigsetjmp(guard, 1))
      faulty();
    else
      recovered();
}
NOINLINE static void afterwards(void) { times(3); }

// Two coroutines that take turns.
enum { rounds = 50, stack_bytes = 16384 };
static ucontext_t of_main, contexts[2];
NOINLINE static void work_first(void) { times(20); }
NOINLINE static void work_second(void) { times(7); }
static void first(void) {
  for (int i = 0; i < rounds; i++) {
    work_first();
    swapcontext(&contexts[0], &contexts[1]);
  }
  swapcontext(&contexts[0], &of_main);
}
static void second(void) {
  for (;;) {
    work_second();
    swapcontext(&contexts[1], &contexts[0]);
  }
}
NOINLINE static void coroutines(char* stacks) {
  void (*const bodies[2])(void) = {first, second};
  for (int i = 0; i < 2; i++) {
    getcontext(&contexts[i]);
    contexts[i].uc_stack.ss_sp = stacks + i * stack_bytes;
    contexts[i].uc_stack.ss_size = stack_bytes;
    contexts[i].uc_link = &of_main;
    makecontext(&contexts[i], bodies[i], 0);
  }
  swapcontext(&of_main, &contexts[0]);
}

// The same, written by hand.
static void* fibres[3];
static void first_fibre(void) {
  for (int i = 0; i < rounds; i++) {
    work_first();
    switch_to(&fibres[0], fibres[1]);
  }
  switch_to(&fibres[0], fibres[2]);
}
static void second_fibre(void) {
  for (;;) {
    work_second();
    switch_to(&fibres[1], fibres[0]);
  }
}
NOINLINE static void by_hand(char* stacks) {
  void (*const bodies[2])(void) = {first_fibre, second_fibre};
  for (int i = 0; i < 2; i++) {
    void** top = (void**)(stacks + (i + 1) * stack_bytes) - 2;
    *--top = (void*)bodies[i];
    fibres[i] = memset(top - 6, 0, 6 * sizeof *top);
  }
  switch_to(&fibres[2], fibres[0]);
}

// String instructions, some of which end early or are interrupted by a fault.
static char* page;
static void make_writable(int signal) {
  (void)signal;
  mprotect(page, 4096, PROT_READ | PROT_WRITE);
}
NOINLINE static void copy_bytes(char* to, const char* from, long n) {
  __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n)::"memory");
}
NOINLINE static long compare_bytes(const char* a, const char* b, long n) {
  __asm__ volatile("repe cmpsb" : "+D"(a), "+S"(b), "+c"(n)::"memory", "cc");
  return n;
}
NOINLINE static void strings(char* buffer) {
  page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  page += 4096;
  signal(SIGSEGV, make_writable);
  for (int i = 0; i < rounds; i++) {
    mprotect(page, 4096, PROT_NONE);
    copy_bytes(page - 100, buffer, 300);
    buffer[i] ^= 1;
    s = (int)compare_bytes(page - 100, buffer, 300);
  }
}

// Calls and returns that pass flags and registers, and returns that are jumps. unusual() returns 5 each time.
__asm__(
    "        .globl unusual\n"
    "        .type unusual, @function\n"
    "unusual: xor %eax, %eax\n"
    "        mov $-1, %ecx\n"
    "        mov $7, %r11d\n"
    "        add $1, %ecx\n"  // carry, zero, no overflow
    "        call 1f\n"
    "        adc $0, %eax\n"
    "        mov $0x7fffffff, %ecx\n"
    "        add $1, %ecx\n"  // overflow
    "        lea 1f(%rip), %rdx\n"
    "        call *%rdx\n"
    "        seto %cl\n"
    "        movzbl %cl, %ecx\n"
    "        add %ecx, %eax\n"
    "        clc\n"
    "        push $1\n"
    "        call 2f\n"
    "        adc $0, %eax\n"
    "        lea 3f(%rip), %rcx\n"
    "        push %rcx\n"
    "        ret\n"
    "1:      ret\n"
    "2:      stc\n"
    "        ret $8\n"
    "3:      inc %eax\n"
    "        cmp $7, %r11d\n"
    "        jne 4f\n"
    "        inc %eax\n"
    "4:      ret\n"
    "        .size unusual, . - unusual\n");
int unusual(void);

static void* worker(void* n) {
  pthread_setname_np(pthread_self(), "worker");
  times((int)(long)n);
  return NULL;
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "";
  static char in_program[4 * stack_bytes];
  char on_stack[2 * stack_bytes];
  char* const made = malloc(4 * stack_bytes);
  char* const stacks = argc < 3 ? in_program : strcmp(argv[2], "malloc") == 0 ? made : on_stack;
  if (strcmp(what, "cycle") == 0)
    for (int i = 0; i < 20; i++) s = even(100);
  if (strcmp(what, "guard") == 0) guarded(stacks, 2 * stack_bytes);
  if (strcmp(what, "coroutines") == 0) coroutines(stacks);
  if (strcmp(what, "fibres") == 0) by_hand(stacks);
  if (strcmp(what, "deep") == 0) deep(300000);
  if (strcmp(what, "unusual") == 0)
    for (int i = 0; i < rounds; i++)
      if (unusual() != 5) exit(1);
  if (strcmp(what, "strings") == 0) strings(stacks);
  if (strcmp(what, "threads") == 0) {
    pthread_t threads[3];
    for (long i = 0; i < 3; i++) pthread_create(&threads[i], NULL, worker, (void*)(100 * (i + 1)));
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  }
  afterwards();
  free(made);
  exit(0);
}
