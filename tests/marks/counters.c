/* Reads counters by the instruction rdpmc, and marks code with traps. The first argument selects the case. The snippets
 * with rdpmc are those of A. Dmitriev's article, in another assembler's syntax. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int64_t reads_six(void), reads_eight(void), reads_factorial(void), cycles_of_rounds(long n);
uint64_t reads(uint64_t selector);
void traps_int2e(void), traps_int3(void), known(long n);

__asm__(
    ".text\n"
    ".macro begin name\n"
    "  .globl \\name\n"
    "  .type \\name, @function\n"
    "\\name:\n"
    ".endm\n"
    ".macro whole_counter\n"
    "  rdpmc\n"
    "  shl $32, %rdx\n"
    "  or %rdx, %rax\n"
    ".endm\n"
    "begin reads_six\n"
    "  push %rbx\n"
    "  mov $0x40000000, %ecx\n"
    "  whole_counter\n"
    "  mov %rax, %r10\n"
    "  cpuid\n"
    "  mov $0x40000000, %ecx\n"
    "  whole_counter\n"
    "  sub %r10, %rax\n"
    "  pop %rbx\n"
    "  ret\n"
    "begin reads_eight\n"
    "  push %rbx\n"
    "  mov $0x40000000, %ecx\n"
    "  whole_counter\n"
    "  mov %rax, %r10\n"
    "  nop\n"
    "  cpuid\n"
    "  nop\n"
    "  mov $0x40000000, %ecx\n"
    "  whole_counter\n"
    "  sub %r10, %rax\n"
    "  pop %rbx\n"
    "  ret\n"
    "begin reads_factorial\n"
    "  push %r12\n"
    "  mov $20, %r11\n"
    "  mov $1, %r12\n"
    "  mov $0x40000000, %ecx\n"
    "  whole_counter\n"
    "  mov %rax, %r10\n"
    "1: cmp $1, %r11\n"
    "  jle 2f\n"
    "  imul %r11, %r12\n"
    "  dec %r11\n"
    "  jmp 1b\n"
    "2: mov $0x40000000, %ecx\n"
    "  whole_counter\n"
    "  sub %r10, %rax\n"
    "  pop %r12\n"
    "  ret\n"
    /* Core cycles, fixed counter 1, of rounds of the article's loop: dependent multiplications. */
    "begin cycles_of_rounds\n"
    "  mov %rdi, %r11\n"
    "  mov $1, %r9\n"
    "  mov $0x40000001, %ecx\n"
    "  whole_counter\n"
    "  mov %rax, %r10\n"
    "1: cmp $1, %r11\n"
    "  jle 2f\n"
    "  imul %r11, %r9\n"
    "  dec %r11\n"
    "  jmp 1b\n"
    "2: mov $0x40000001, %ecx\n"
    "  whole_counter\n"
    "  sub %r10, %rax\n"
    "  ret\n"
    /* Sets the registers that rdpmc must overwrite completely; the carry must stay. */
    "begin reads\n"
    "  mov %rdi, %rcx\n"
    "  mov $-1, %rax\n"
    "  mov $-1, %rdx\n"
    "  stc\n"
    "  rdpmc\n"
    "  jnc 3f\n"
    "  shl $32, %rdx\n"
    "  or %rdx, %rax\n"
    "  ret\n"
    "3: ud2\n"
    /* Twice: first 4 instructions are between the traps, then known(3) and the call of it. */
    ".macro twice trap:vararg\n"
    "  \\trap\n"
    "  nop\n"
    "  nop\n"
    "  nop\n"
    "  nop\n"
    "  \\trap\n"
    "  nop\n"
    "  \\trap\n"
    "  mov $3, %edi\n"
    "  call known\n"
    "  \\trap\n"
    "  ret\n"
    ".endm\n"
    "begin traps_int2e\n"
    "  twice int $0x2e\n"
    "begin traps_int3\n"
    "  twice int3\n"
    ".section .note.GNU-stack, \"\", @progbits\n");

int main(int count, char** words) {
  if (count < 2) return 1;
  const char* what = words[1];
  if (strcmp(what, "article") == 0) {
    const int64_t six = reads_six(), eight = reads_eight(), factorial = reads_factorial();
    printf("%lld %lld %lld\n", (long long)six, (long long)eight, (long long)factorial);
  } else if (strcmp(what, "selector") == 0) {
    const uint64_t selector = strtoull(words[2], NULL, 0);
    const uint64_t before = reads(selector);
    known(10);
    printf("%llu\n", (unsigned long long)(reads(selector) - before));
  } else if (strcmp(what, "cycles") == 0) {
    for (int i = 2; i < count; i++) printf("%lld\n", (long long)cycles_of_rounds(strtol(words[i], NULL, 0)));
  } else if (strcmp(what, "calls") == 0) {
    for (long i = 0; i < 2000; i++) known(1 + i % 7);
  } else if (strcmp(what, "int2e") == 0) {
    traps_int2e();
  } else if (strcmp(what, "often") == 0 || strcmp(what, "traps") == 0) {
    /* At system calls the engine reoptimizes code that ran often. */
    const int reads_counters = strcmp(what, "often") == 0;
    for (int i = 0; i < 10000; i++) {
      traps_int2e();
      if (reads_counters && reads_six() != 6) return 1;
      if (i % 50 == 0) (void)getppid();
    }
  } else if (strcmp(what, "int3") == 0) {
    traps_int3();
  } else {
    return 1;
  }
  return 0;
}
