// Restartable sequences, as the C library uses them ("libc") and as an allocator with an area of its own does ("own").
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

/// Moves to the last processor that this thread may use; returns its number.
int pin() {
  cpu_set_t allowed;
  sched_getaffinity(0, sizeof allowed, &allowed);
  int last = 0;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &allowed)) last = i;
  }
  CPU_ZERO(&allowed);
  CPU_SET(last, &allowed);
  sched_setaffinity(0, sizeof allowed, &allowed);
  return last;
}

int by_libc() {
  const int processor = pin();
  printf("%s\n", __rseq_size == 0 ? "not registered" : "registered");
  return sched_getcpu() == processor ? 0 : 1;
}

/// The first version of struct rseq; the kernel accepts this length for ever.
struct alignas(32) Area {
  unsigned cpu_id_start, cpu_id;
  unsigned long sequence;
  unsigned flags, padding[3];
};
static_assert(sizeof(Area) == 32);

constexpr int rounds = 100000;
constexpr unsigned signature = 0x53053053;
thread_local Area area;
long slots[CPU_SETSIZE];
bool registered;

/// The slot of the processor if its number is cheap to get, else one that all threads share.
void* add(void*) {
  const bool mine = syscall(SYS_rseq, &area, sizeof area, 0, signature) == 0;
  if (mine != registered) return slots;
  for (int i = 0; i < rounds; ++i) {
    long* slot = &slots[registered ? *const_cast<volatile unsigned*>(&area.cpu_id) : 0];
    __atomic_fetch_add(slot, 1, __ATOMIC_RELAXED);
  }
  return nullptr;
}

int by_itself() {
  registered = syscall(SYS_rseq, &area, sizeof area, 0, signature) == 0;
  if (registered) {
    puts("registered");
  } else {
    printf("refused: %s\n", strerror(errno));
  }
  pthread_t threads[3];
  for (pthread_t& thread : threads) pthread_create(&thread, nullptr, add, nullptr);
  for (const pthread_t thread : threads) {
    void* failed = nullptr;
    pthread_join(thread, &failed);
    if (failed != nullptr) return 2;
  }
  long sum = 0;
  for (const long one : slots) sum += one;
  return sum == 3L * rounds ? 0 : 3;
}

}  // namespace

int main(int argc, char** argv) { return argc > 1 && strcmp(argv[1], "own") == 0 ? by_itself() : by_libc(); }
