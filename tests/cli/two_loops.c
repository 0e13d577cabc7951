// Two loops of known cost: dependent multiplications, three cycles per round of five instructions, then dependent
// additions, one cycle per round of three.
int main(void) {
  long product = 1, sum = 0, rounds = 20000;
  __asm__ volatile("1: imul %1, %0\n nop\n nop\n dec %1\n jnz 1b" : "+r"(product), "+r"(rounds)::"cc");
  rounds = 34000;
  __asm__ volatile("1: add %1, %0\n dec %1\n jnz 1b" : "+r"(sum), "+r"(rounds)::"cc");
  return product == sum;
}
