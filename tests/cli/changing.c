// Executes code that it unmaps or changes afterwards, at the same address: 50 loops of 10,000 rounds, dependent
// multiplications and additions in turn. On a core with three cycles for a multiplication they take 1,000,000 cycles.
// With `line`: a loop of 100,000 rounds of ten such multiplications, of which only the first cache line changes.
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>

static char* const address = (char*)0x300000000;

static int writable, both;

static void map(int flags) {
  if (mmap(address, 4096, writable | both, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0) != address) abort();
}

static void move_onto(void) {
  void* const other = mmap(0, 4096, writable, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mremap(other, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, address) != address) abort();
}

static void attach(int flags) {
  const int id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0700);
  if (shmat(id, address, flags) != address) abort();
  shmctl(id, IPC_RMID, 0);
}

static int change_line(void) {
  static const unsigned char begins[] = {0xb9, 0xa0, 0x86, 1, 0}, multiplies[] = {0x0f, 0xaf, 0xc0},
                             repeats[] = {0xff, 0xc9, 0x0f, 0x85, 0x9f, 0xff, 0xff, 0xff, 0xc3};
  both = PROT_EXEC;
  map(0);
  memset(address, 0x90, 64);
  memcpy(address, begins, sizeof begins);
  for (int i = 0; i < 10; i++) memcpy(address + 64 + 3 * i, multiplies, sizeof multiplies);
  memcpy(address + 94, repeats, sizeof repeats);
  ((void (*)(void))address)();
  memset(address, 0xc3, 64);
  ((void (*)(void))address)();
  return 0;
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
  const int attaches = !strcmp(how, "attach"), detaches = !strcmp(how, "detach");
  const int moves_onto = !strcmp(how, "move_onto");
  const int rounds = strcmp(how, "nothing") != 0 ? 50 : 0;
  writable = PROT_READ | PROT_WRITE;
  both = empties || rewrites ? PROT_EXEC : 0;
  if (!strcmp(how, "line")) return change_line();
  for (int i = 0; i < rounds; i++) {
    if (detaches)
      attach(0);
    else if (i == 0 || unmaps || moves || replaces)
      map(replaces ? MAP_FIXED : 0);
    if (moves_onto) move_onto();
    if (attaches) attach(SHM_REMAP);
    if (protects) mprotect(address, 4096, writable);
    write_loop(i % 2);
    if (both == 0) mprotect(address, 4096, PROT_READ | PROT_EXEC);
    ((void (*)(void))address)();
    if (unmaps) munmap(address, 4096);
    if (moves && munmap(mremap(address, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, address + 65536), 4096) != 0)
      abort();
    if (detaches) shmdt(address);
    if (empties) madvise(address, 4096, MADV_DONTNEED);
  }
  return 0;
}
