// Takes a path that depends on one source of differences, by its name: each in a function of its own.
#define _GNU_SOURCE
#include <cpuid.h>
#include <dirent.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define SEPARATE __attribute__((noinline, noclone))

static volatile uint64_t sink;

/// Executes `times` rounds of a few instructions.
SEPARATE void work(uint64_t times) {
  for (uint64_t i = 0; i < times; i++) sink += i;
}

SEPARATE void seed_by_pid(const char* unused) {
  (void)unused;
  work((uint64_t)getpid() % 997);
}

SEPARATE void hash_with_clock(const char* unused) {
  (void)unused;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  work((uint64_t)now.tv_nsec % 997);
}

SEPARATE void seed_by_second(const char* unused) {
  (void)unused;
  work((uint64_t)time(NULL) % 997);
}

SEPARATE void seed_by_random(const char* unused) {
  (void)unused;
  uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) == sizeof number) work(number % 997);
}

SEPARATE void choose_by_processor(const char* unused) {
  (void)unused;
  unsigned a, b, c, d;
  __cpuid_count(7, 0, a, b, c, d);
  work(b >> 5 & 1 ? 10 : 20);  // AVX2
}

SEPARATE void choose_by_variable(const char* unused) {
  (void)unused;
  work(getenv("TALLY_TEST_CHOICE") != NULL ? 10 : 20);
}

SEPARATE void work_as_chosen(const char* unused) {
  (void)unused;
  const char* const choice = getenv("TALLY_TEST_CHOICE");
  work(choice == NULL ? 0 : 1000 * (uint64_t)atoi(choice));
}

SEPARATE void read_input(const char* unused) {
  (void)unused;
  char byte;
  while (read(0, &byte, 1) == 1) work(100);
}

SEPARATE void hash_in_order(const char* directory) {
  DIR* const opened = opendir(directory);
  if (opened == NULL) return;
  for (struct dirent* one; (one = readdir(opened)) != NULL;)
    if (one->d_name[0] != '.') work((uint64_t)one->d_name[0]);
  closedir(opened);
}

SEPARATE void order_by_address(const char* unused) {
  (void)unused;
  int local = 0;
  work(((uintptr_t)&local >> 12) % 997);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

SEPARATE void* share_lock(void* unused) {
  for (int i = 0; i < 2000; i++) {
    pthread_mutex_lock(&mutex);
    work(100);
    pthread_mutex_unlock(&mutex);
  }
  return unused;
}

SEPARATE void race_for_lock(const char* unused) {
  (void)unused;
  pthread_t other;
  pthread_create(&other, NULL, share_lock, NULL);
  share_lock(NULL);
  pthread_join(other, NULL);
}

static const struct {
  const char* name;
  void (*run)(const char* argument);
} differences[] = {{"pid", seed_by_pid},
                   {"clock", hash_with_clock},
                   {"second", seed_by_second},
                   {"random", seed_by_random},
                   {"processor", choose_by_processor},
                   {"variable", choose_by_variable},
                   {"choice", work_as_chosen},
                   {"input", read_input},
                   {"listing", hash_in_order},
                   {"addresses", order_by_address},
                   {"lock", race_for_lock},
                   {"none", NULL}};

/// strcmp() takes paths that depend on the addresses of its strings.
static int is_same(const char* left, const char* right) {
  while (*left == *right && *left != '\0') {
    left++;
    right++;
  }
  return *left == *right;
}

/// parting NAME [ARGUMENT]
int main(int count, char** arguments) {
  if (count < 2) return 2;
  for (size_t i = 0; i < sizeof differences / sizeof differences[0]; i++) {
    if (!is_same(arguments[1], differences[i].name)) continue;
    work(20000);
    if (differences[i].run != NULL) differences[i].run(arguments[2]);
    work(20000);
    return 0;
  }
  return 2;
}
