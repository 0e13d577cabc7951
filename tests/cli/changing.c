// Executes code that it unmaps or changes afterwards, at the same address: 50 loops of 10,000 rounds, dependent
// multiplications and additions in turn. On a core with three cycles for a multiplication they take 1,000,000 cycles.
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static char* const address = (char*)0x300000000;

static int writable, both;

static void map(int flags) {
  if (mmap(address, 4096, writable | both, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0) != address) abort();
}

static void write_loop(int multiplies) {
  static const unsigned char multiplications[] = {0xb9, 0x10, 0x27, 0,    0,    0x48, 0x0f,
                                                  0xaf, 0xc0, 0xff, 0xc9, 0x75, 0xf8, 0xc3},
                             additions[] = {0xb9, 0x10, 0x27, 0, 0, 0x48, 0x01, 0xc0, 0xff, 0xc9, 0x75, 0xf9, 0xc3};
  memcpy(address, multiplies ? multiplications : additions, multiplies ? sizeof multiplications : sizeof additions);
}

int main(int argc, char** argv) {
  const char* const how = argc > 1 ? argv[1] : "unmap";
  const int unmaps = !strcmp(how, "unmap"), moves = !strcmp(how, "move"), replaces = !strcmp(how, "replace");
  const int empties = !strcmp(how, "empty"), protects = !strcmp(how, "protect"), rewrites = !strcmp(how, "rewrite");
  const int rounds = strcmp(how, "nothing") != 0 ? 50 : 0;
  writable = PROT_READ | PROT_WRITE;
  both = empties || rewrites ? PROT_EXEC : 0;
  for (int i = 0; i < rounds; i++) {
    if (i == 0 || unmaps || moves || replaces) map(replaces ? MAP_FIXED : 0);
    if (protects) mprotect(address, 4096, writable);
    write_loop(i % 2);
    if (both == 0) mprotect(address, 4096, PROT_READ | PROT_EXEC);
    ((void (*)(void))address)();
    if (unmaps) munmap(address, 4096);
    if (moves && munmap(mremap(address, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, address + 65536), 4096) != 0)
      abort();
    if (empties) madvise(address, 4096, MADV_DONTNEED);
  }
  return 0;
}
