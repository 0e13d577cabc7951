/* HPCTool's test program: what is counted lies between two traps.
 *
 *     gcc -O2 hello_traps.c -o hello_traps
 *     tally stat -q -e instructions,branches,loads,stores --trap int2e -- ./hello_traps
 *
 * `int 2e` was Windows' way into its kernel. Linux ends a program for it (SIGSEGV), so this one runs with --trap only.
 * The number in EAX is HPCTool's; tally does not look at it. Neither trap is in the count, the second `mov` is.
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
