/* HPCTool's test program: tally counts the code between two traps.
 *
 *     gcc -O2 hello_traps.c -o hello_traps
 *     tally stat -q -e instructions,branches,loads,stores --trap int2e -- ./hello_traps
 *
 * `int 2e` was the system call instruction of Windows. Linux kills a program that executes it (SIGSEGV), so this one
 * needs --trap. The number in EAX is for HPCTool; tally ignores it. The count includes the second `mov`, but no trap.
 */
#include <stdio.h>

#define TRAP() __asm__ volatile("mov $0x19, %%eax\n\tint $0x2e" ::: "eax", "memory")

int main(void) {
  TRAP();
  printf("Hello World!\n");
  printf("Good bye cruel world.\n");
  TRAP();
  return 0;
}
