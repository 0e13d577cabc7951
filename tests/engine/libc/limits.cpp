// Uses what the kernel limits for each process. The argument selects what; exit code 0 means that all of it was
// granted.
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr size_t page = 4096;

char* map(size_t bytes, int protection) {
  void* at = mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) exit(90);
  return static_cast<char*>(at);
}

/// Divides memory into `n` mappings, and uses all of it.
int mappings(int n) {
  char* at = map(static_cast<size_t>(n) * page, PROT_READ | PROT_WRITE);
  for (int i = 0; i < n; i += 2)
    if (mprotect(at + static_cast<size_t>(i) * page, page, PROT_READ) != 0) return 1;
  for (int i = 1; i < n; i += 2) at[static_cast<size_t>(i) * page] = 1;
  return 0;
}

/// Uses `n` KiB of the stack, from the last page on.
int stack(int n) {
  const size_t bytes = static_cast<size_t>(n) << 10;
  volatile char* const at = static_cast<char*>(__builtin_alloca(bytes));
  for (size_t i = 0; i < bytes; i += page) at[i] = 1;
  return 0;
}

pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
void* wait_for_gate(void* argument) {
  pthread_mutex_lock(&gate);
  pthread_mutex_unlock(&gate);
  return argument;
}

/// Starts threads that exist at the same time. With `stacks`, on that memory. Calls `f` while they wait.
template <class F>
int with_threads(int n, char* stacks, F f) {
  auto* threads = static_cast<pthread_t*>(malloc(static_cast<size_t>(n) * sizeof(pthread_t)));
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
  pthread_mutex_lock(&gate);
  int started = 0;
  for (; started < n; ++started) {
    if (stacks != nullptr)
      pthread_attr_setstack(&attributes, stacks + static_cast<size_t>(started) * PTHREAD_STACK_MIN, PTHREAD_STACK_MIN);
    if (pthread_create(&threads[started], &attributes, wait_for_gate, nullptr) != 0) break;
  }
  f();
  pthread_mutex_unlock(&gate);
  for (int i = 0; i < started; ++i) pthread_join(threads[i], nullptr);
  printf("%d of %d threads started\n", started, n);
  return started == n ? 0 : 1;
}

/// All mappings of this process, as another one sees them: with the engine's.
struct Mappings {
  int number = 0;
  unsigned long writable_bytes = 0;  // private and writable: the kernel may count these as used
};
Mappings all_mappings() {
  int ends[2];
  Mappings all;
  if (pipe(ends) != 0) exit(91);
  if (fork() == 0) {
    char line[4500];
    snprintf(line, sizeof line, "/proc/%d/maps", getppid());
    FILE* list = fopen(line, "r");
    unsigned long start = 0, end = 0;
    char permissions[8];
    while (list != nullptr && fgets(line, sizeof line, list) != nullptr) {
      all.number++;
      if (sscanf(line, "%lx-%lx %7s", &start, &end, permissions) == 3 && permissions[1] == 'w' && permissions[3] == 'p')
        all.writable_bytes += end - start;
    }
    _exit(write(ends[1], &all, sizeof all) == sizeof all ? 0 : 1);
  }
  wait(nullptr);
  if (read(ends[0], &all, sizeof all) != sizeof all) exit(92);
  return all;
}

int writable_memory() {
  const unsigned long megabytes = all_mappings().writable_bytes >> 20;
  printf("%s\n", megabytes < 128 ? "less than 128 MB" : "more than 128 MB");
  return 0;
}

/// Threads whose stacks are one mapping: prints how many mappings each has.
int mappings_of_threads() {
  constexpr int n = 64;
  char* stacks = map(n * PTHREAD_STACK_MIN, PROT_READ | PROT_WRITE);
  const int before = all_mappings().number;
  int after = 0;
  const int failed = with_threads(n, stacks, [&] { after = all_mappings().number; });
  printf("%d mappings for each thread\n", (after - before) / n);
  return failed;
}

/// Locks all memory as an ordinary user may, within a limit that is enough for this program.
int locked_memory() {
  constexpr rlimit limit{8 << 20, 8 << 20};
  if (setrlimit(RLIMIT_MEMLOCK, &limit) != 0 || (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0)) return 93;
  if (mlockall(MCL_CURRENT) != 0) {
    printf("mlockall: %s\n", strerror(errno));
    return 1;
  }
  return 0;
}

/// Executes a program that may not have memory that is both writable and executable.
int without_writable_code(char** command) {
  constexpr int set_mdwe = 65, refuse_exec_gain = 1;
  if (prctl(set_mdwe, refuse_exec_gain, 0, 0, 0) != 0) return 77;
  execv(command[0], command);
  return 127;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 99;
  const int n = argc > 2 ? atoi(argv[2]) : 0;
  if (strcmp(argv[1], "mappings") == 0) return mappings(n);
  if (strcmp(argv[1], "stack") == 0) return stack(n);
  if (strcmp(argv[1], "threads") == 0) return with_threads(n, nullptr, [] {});
  if (strcmp(argv[1], "mappings_of_threads") == 0) return mappings_of_threads();
  if (strcmp(argv[1], "locked_memory") == 0) return locked_memory();
  if (strcmp(argv[1], "writable_memory") == 0) return writable_memory();
  if (strcmp(argv[1], "without_writable_code") == 0) return without_writable_code(argv + 2);
  return 99;
}
