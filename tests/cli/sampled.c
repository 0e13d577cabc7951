// A program whose page faults and time are known by function.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

enum { page = 4096 };
static volatile uint64_t sink;

/// Touches N untouched pages: N faults.
NOINLINE static void touch(volatile char* pages, long count) {
  for (long i = 0; i < count; ++i) pages[i * page] = 1;
}

// Pages of their own size each, so that no fault maps several at once.
static char* fresh(long count) {
  char* const pages = mmap(NULL, (size_t)count * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) exit(2);
  madvise(pages, (size_t)count * page, MADV_NOHUGEPAGE);
  return pages;
}

static void touch_fresh(long count) {
  char* const pages = fresh(count);
  touch(pages, count);
  munmap(pages, (size_t)count * page);
}

static void* in_thread(void* count) {
  touch_fresh((long)(intptr_t)count);
  return NULL;
}

NOINLINE static void one_third(long n) {
  uint64_t x = 1;
  for (long i = 0; i < n; ++i) x = x * 6364136223846793005u + 1442695040888963407u;
  sink += x;
}
NOINLINE static void two_thirds(long n) {
  uint64_t x = 2;
  for (long i = 0; i < n; ++i) x = x * 6364136223846793005u + 1442695040888963407u;
  sink += x;
}

NOINLINE static void recurse(int depth, char* pages, long count) {
  if (depth > 0)
    recurse(depth - 1, pages, count);
  else
    touch(pages, count);
  sink++;
}

/// Unmaps the data that the vdso's clock reads: all mappings of that name.
static int unmap_clock(void) {
  FILE* const maps = fopen("/proc/self/maps", "r");
  char line[4096];
  unsigned long start = 0, end = 0, first = 0;
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    if (strstr(line, "[vvar") == NULL || sscanf(line, "%lx-%lx", &start, &end) != 2) continue;
    if (first == 0) first = start;
  }
  return first == 0 ? 3 : munmap((void*)first, end - first) == 0 ? 0 : 2;
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "touch";
  const long count = argc > 2 ? atol(argv[2]) : 1000;
  if (strcmp(what, "touch") == 0) touch_fresh(count);
  if (strcmp(what, "threads") == 0) {
    pthread_t threads[2];
    for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, in_thread, (void*)(intptr_t)count);
    for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  }
  if (strcmp(what, "fork") == 0) {
    for (int i = 0; i < 2; ++i) {
      if (fork() != 0) continue;
      touch_fresh(count);
      _exit(0);
    }
    while (wait(NULL) > 0) continue;
  }
  if (strcmp(what, "spin") == 0)
    for (long i = 0; i < count; ++i) {
      one_third(300000);
      two_thirds(600000);
    }
  if (strcmp(what, "clockless") == 0) {
    const int failed = unmap_clock();
    if (failed != 0) return failed;
    one_third(count);
  }
  if (strcmp(what, "recurse") == 0) {
    char* const pages = fresh(count);
    recurse(20, pages, count);
  }
  // Runs for some seconds, for an attaching command.
  if (strcmp(what, "serve") == 0)
    for (int i = 0; i < 300; ++i) {
      touch_fresh(100);
      usleep(10000);
    }
  return 0;
}
