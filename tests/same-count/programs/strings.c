/* The string functions of the C library, which chooses their code by processor, over many sizes and alignments. */
#include <stdio.h>
#include <string.h>

static char from[1 << 16], to[1 << 16];

int main(void) {
  unsigned long sum = 0;
  for (unsigned i = 0; i < sizeof from - 1; i++) from[i] = (char)('a' + i * 7 % 26);
  for (unsigned bytes = 1; bytes < 20000; bytes = bytes * 9 / 8 + 1) {
    for (unsigned at = 0; at < 64; at += 9) {
      memcpy(to + at, from, bytes);
      memmove(to + at + 3, to + at, bytes);
      memset(to + at + bytes, 'z', 64);
      to[at + bytes + 64] = 0;
      sum += strlen(to + at) + (unsigned long)(strchr(to + at, 'z') - to);
      sum += (unsigned long)memcmp(to + at, from, bytes) % 3 + (memchr(from, '!', bytes) != NULL);
      sum += strncmp(to + at, from, bytes) < 0;
    }
  }
  printf("%lu\n", sum);
  return 0;
}
