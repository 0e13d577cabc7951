// A program that is linked to a fixed address requests addresses: it gets the same ones as without an engine, whose
// code cache is in the same 2 GB. The argument selects the way to ask; all answers are printed.
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <initializer_list>

namespace {

constexpr size_t mb = 1 << 20;
constexpr int map_fixed_noreplace = 0x100000;
constexpr int anonymous = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

char* address(uint64_t at) { return reinterpret_cast<char*>(at); }

/// Enough calls and branches that some of it is re-translated at each address.
int work(int n) { return n < 2 ? n : work(n - 1) + work(n - 2); }

void say(const char* what, const void* result) {
  if (result == MAP_FAILED)
    printf("%s: %s\n", what, strerror(errno));
  else
    printf("%s: %p\n", what, result);
}

char* map(char* at, size_t bytes, int flags) {
  return static_cast<char*>(mmap(at, bytes, PROT_READ | PROT_WRITE, anonymous | flags, -1, 0));
}

/// Writes some of it and reads it again.
void use(char* at, size_t bytes) {
  if (at == MAP_FAILED) return;
  for (size_t i = 0; i < bytes; i += mb) at[i] = static_cast<char>(i / mb);
  unsigned sum = 0;
  for (size_t i = 0; i < bytes; i += mb) sum += static_cast<unsigned char>(at[i]);
  printf("sum %u, work %d\n", sum, work(15));
}

constexpr uint64_t low = 0x40000000;
constexpr size_t most = 0x40000000 - mb;  // up to 2 GB

int fixed() {
  for (const uint64_t at : {uint64_t{0x50000000}, uint64_t{0x60000000}, uint64_t{0x70000000}}) {
    char* const p = map(address(at), 256 * mb - mb, MAP_FIXED);
    say("fixed", p);
    use(p, 255 * mb);
  }
  return 0;
}

int all_fixed() {
  char* const p = map(address(low), most, MAP_FIXED);
  say("fixed", p);
  use(p, most);
  return 0;
}

int not_replacing() {
  char* const p = map(address(low), most, map_fixed_noreplace);
  say("not replacing", p);
  use(p, most);
  say("again", map(address(low), most, map_fixed_noreplace));
  return 0;
}

int hinted() {
  char* const p = map(address(low), most, 0);
  say("hinted", p);
  use(p, most);
  return 0;
}

int of_32_bits() {
  int blocks = 0;
  while (true) {
    char* const p = map(nullptr, 64 * mb, MAP_32BIT);
    if (p == MAP_FAILED) break;
    if (blocks++ == 0) use(p, 64 * mb);
  }
  printf("%d blocks of 64 MB: %s\n", blocks, strerror(errno));
  printf("work %d\n", work(15));
  return 0;
}

int moved() {
  char* const p = map(nullptr, 16 * mb, 0);
  use(p, 16 * mb);
  for (uint64_t at = low; at < 0x80000000; at += 128 * mb) {
    auto* const q = static_cast<char*>(
        mremap(at == low ? p : address(at - 128 * mb), 16 * mb, 128 * mb, MREMAP_MAYMOVE | MREMAP_FIXED, address(at)));
    say("moved", q);
    if (q == MAP_FAILED) return 1;
    use(q, 16 * mb);
    if (munmap(q + 16 * mb, 112 * mb) != 0) return 1;
  }
  return 0;
}

int grown() {
  char* const p = map(address(low), 16 * mb, MAP_FIXED);
  void* const q = mremap(p, 16 * mb, most, 0);
  say("grown", q);
  use(p, most);
  return 0;
}

int attached() {
  const int id = shmget(IPC_PRIVATE, most, 0600 | IPC_CREAT | 010000 /* SHM_NORESERVE */);
  if (id < 0) {
    puts("no shared memory");
    return 0;
  }
  void* const p = shmat(id, address(low), 0);
  shmctl(id, IPC_RMID, nullptr);
  say("attached", p);
  printf("work %d\n", work(15));
  return 0;
}

/// 2.5 GB and back: past everything at low addresses. The start is random, so that only differences are printed.
int broken() {
  static char buffer[4096];
  setvbuf(stdout, buffer, _IOFBF, sizeof buffer);  // not after the break
  char* const begin = static_cast<char*>(sbrk(0));
  long moved = 0;
  for (int i = 0; i < 40; ++i)
    if (sbrk(64 * mb) != reinterpret_cast<void*>(-1)) moved += 64;
  printf("moved %ld MB, work %d\n", moved, work(15));
  if (moved > 0) begin[moved * static_cast<long>(mb) - 1] = 1;
  // The kernel answers with the current break if it does not move it.
  printf("all of memory: %d\n", syscall(SYS_brk, -1L) == syscall(SYS_brk, 0L));
  if (brk(begin) != 0) return 1;
  printf("back %d, work %d\n", sbrk(0) == begin, work(15));
  return 0;
}

/// Nothing of the program is mapped there: natively the call succeeds, and protecting it is refused.
int nothing_there() {
  printf("unmapped %d\n", munmap(address(low), most));
  printf("work %d\n", work(15));
  const int r = mprotect(address(low), most, PROT_READ);
  printf("protected %d %s\n", r, strerror(errno));
  printf("work %d\n", work(15));
  return 0;
}

volatile bool done;
void* keeps_working(void*) {
  long sum = 0;
  while (!done) sum += work(12) == 144 ? 0 : 1;
  return reinterpret_cast<void*>(sum);
}

/// While others run translated code.
int among_threads() {
  pthread_t threads[4];
  for (pthread_t& one : threads) pthread_create(&one, nullptr, keeps_working, nullptr);
  for (int i = 0; i < 20; ++i) {
    char* const p = map(address(low), most, MAP_FIXED);
    if (p != address(low)) return 1;
    if (i % 5 == 0) use(p, most);
    if (munmap(p, most) != 0) return 1;
  }
  done = true;
  for (const pthread_t one : threads) {
    void* wrong = nullptr;
    pthread_join(one, &wrong);
    if (wrong != nullptr) return 1;
  }
  return broken();
}

struct Case {
  const char* name;
  int (*run)();
};
constexpr Case ways[] = {{"fixed", fixed},
                         {"all_fixed", all_fixed},
                         {"not_replacing", not_replacing},
                         {"hinted", hinted},
                         {"of_32_bits", of_32_bits},
                         {"moved", moved},
                         {"grown", grown},
                         {"attached", attached},
                         {"broken", broken},
                         {"nothing_there", nothing_there},
                         {"among_threads", among_threads}};

}  // namespace

int main(int argc, char** argv) {
  for (const Case& way : ways)
    if (argc > 1 && strcmp(argv[1], way.name) == 0) return way.run();
  return 2;
}
