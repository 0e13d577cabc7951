/* C regions with known counts: nothing; five instructions; three loads and two stores. */
#include <tally/tally.h>

static long place;

int main(void) {
  for (int i = 0; i < 10; ++i) {
    TALLY_BEGIN("nothing");
    __asm__ volatile("");
    TALLY_END("nothing");
    TALLY_BEGIN("nops");
    __asm__ volatile("nop; nop; nop; nop; nop");
    TALLY_END("nops");
    TALLY_BEGIN("accesses");
    __asm__ volatile("mov %0, %%rax; mov %0, %%rax; mov %0, %%rax; mov %%rax, %0; mov %%rax, %0" : "+m"(place)::"rax");
    TALLY_END("accesses");
    tally_region_begin("by letters");
    __asm__ volatile("nop; nop; nop");
    tally_region_end("by letters");
  }
  return 0;
}
