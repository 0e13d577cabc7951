// Reads one source of differences, by its name: each in a function of its own.
#define _GNU_SOURCE
#include <cpuid.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define SEPARATE __attribute__((noinline, noclone))

static volatile uint64_t sink;
static uint32_t word;

SEPARATE void query_processor(void) {
  unsigned a, b, c, d;
  __cpuid_count(7, 0, a, b, c, d);
  sink += a + b + c + d;
}

SEPARATE void read_time_stamp(void) { sink += __builtin_ia32_rdtsc(); }

SEPARATE void read_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  sink += (uint64_t)now.tv_nsec;
}

SEPARATE void read_host(void) {
  struct utsname names;
  uname(&names);
  sink += (uint64_t)names.nodename[0];
}

SEPARATE void read_release(void) {
  const int file = open("/proc/sys/kernel/osrelease", O_RDONLY);
  sink += (uint64_t)file;
  close(file);
}

SEPARATE void read_pid(void) { sink += (uint64_t)getpid(); }

SEPARATE void read_random(void) {
  uint64_t number = 0;
  sink += (uint64_t)getrandom(&number, sizeof number, 0);
}

SEPARATE void open_random(void) {
  const int file = open("/dev/urandom", O_RDONLY);
  sink += (uint64_t)file;
  close(file);
}

SEPARATE void open_uuid(void) {
  const int file = open("/proc/sys/kernel/random/uuid", O_RDONLY);
  sink += (uint64_t)file;
  close(file);
}

SEPARATE void read_own_link(void) {
  struct stat own;
  sink += (uint64_t)stat("/proc/self", &own);
}

SEPARATE void list_directory(void) {
  DIR* const directory = opendir("/");
  while (readdir(directory) != NULL) sink++;
  closedir(directory);
}

SEPARATE void* wake(void* unused) {
  syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0);
  return unused;
}

SEPARATE void share_futex(void) {
  pthread_t other;
  wake(NULL);
  pthread_create(&other, NULL, wake, NULL);
  pthread_join(other, NULL);
}

static void handle(int number) { sink += (uint64_t)number; }

SEPARATE void await_alarm(void) {
  signal(SIGALRM, handle);
  signal(SIGUSR1, handle);
  raise(SIGUSR1);  // the program's own
  alarm(1);
  pause();
}

static const struct {
  const char* name;
  void (*read)(void);
} sources[] = {{"cpuid", query_processor},   {"rdtsc", read_time_stamp},    {"clock", read_clock},
               {"host", read_host},          {"release", read_release},     {"pid", read_pid},
               {"getrandom", read_random},   {"/dev/urandom", open_random}, {"file listing", list_directory},
               {"thread race", share_futex}, {"signal", await_alarm},       {"uuid", open_uuid},
               {"/proc", read_own_link}};

// Prints random numbers of all kinds, and addresses on the stack.
static void print_numbers(char** arguments) {
  const int file = open("/dev/urandom", O_RDONLY);
  uint64_t number[3] = {0};
  memcpy(&number[0], (const void*)getauxval(AT_RANDOM), 8);
  if (getrandom(&number[1], 8, 0) != 8 || read(file, &number[2], 8) != 8) exit(1);
  if (__builtin_cpu_supports("rdrnd")) {
    uint64_t from_processor = 0;
    __asm__ volatile("rdrand %0" : "=r"(from_processor)::"cc");
    number[2] ^= from_processor;
  }
  printf("%lx %lx %lx %p %p\n", number[0], number[1], number[2], (void*)number, (void*)arguments[1]);
}

static void print_host(void) {
  struct utsname names;
  uname(&names);
  char name[64] = "", release[64] = "", version[256] = "";
  gethostname(name, sizeof name);
  FILE* file = fopen("/proc/sys/kernel/osrelease", "r");
  if (file == NULL || fgets(release, sizeof release, file) == NULL) exit(1);
  fclose(file);
  file = fopen("/proc/version", "r");
  if (file == NULL || fgets(version, sizeof version, file) == NULL) exit(1);
  fclose(file);
  printf("%s %s %s %s %s %s\n%s\n%s%s", names.sysname, names.nodename, names.release, names.version, names.machine,
         names.domainname, name, release, version);
}

// Prints the types of the auxiliary vector.
static void print_entries(void) {
  char** end = environ;
  while (*end != NULL) end++;
  for (const uint64_t* entry = (const uint64_t*)(end + 1); entry[0] != AT_NULL; entry += 2) printf("%lu ", entry[0]);
  printf("\n");
}

// Prints the size of a block of a file in /proc, by each call that returns it.
static void print_block_size(void) {
  const char* const path = "/proc/version";
  struct stat file[3];
  struct statx extended;
  const int opened = open(path, O_RDONLY);
  if (syscall(SYS_stat, path, &file[0]) != 0 || syscall(SYS_lstat, path, &file[1]) != 0 ||
      fstat(opened, &file[2]) != 0 || statx(AT_FDCWD, path, 0, STATX_BASIC_STATS, &extended) != 0)
    exit(1);
  printf("%ld %ld %ld %u\n", (long)file[0].st_blksize, (long)file[1].st_blksize, (long)file[2].st_blksize,
         extended.stx_blksize);
}

// Prints whether each new mapping is directly below the last one, and whether one that cannot grow is moved there.
static void print_placement(void) {
  const size_t page = 4096;
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
  char* const first = mmap(NULL, page, PROT_READ, flags, -1, 0);
  char* const second = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, flags, -1, 0);
  munmap(first, page);
  char* const third = mmap(NULL, page, PROT_READ, flags, -1, 0);
  second[0] = 'a';
  mprotect(second, page, PROT_READ);  // so that the kernel cannot merge it with the next
  char* const moved = mremap(third, page, 3 * page, MREMAP_MAYMOVE);
  printf("%ld %ld %ld %c", (long)(first - second), (long)(second - third), (long)(third - moved), second[0]);
  munmap(moved, 3 * page);
  char* const again = mmap(NULL, 2 * page, PROT_READ, flags, -1, 0);
  const int file = open("/proc/self/exe", O_RDONLY);
  const void* const validated = mmap(NULL, page, PROT_READ, MAP_SHARED_VALIDATE, file, 0);
  printf(" %ld %d\n", (long)(moved - again), validated != MAP_FAILED);
}

// Any other name reads nothing.
int main(int count, char** arguments) {
  for (unsigned i = 0; count > 1 && i < sizeof sources / sizeof sources[0]; i++)
    if (strcmp(sources[i].name, arguments[1]) == 0) sources[i].read();
  if (count > 1 && strcmp(arguments[1], "numbers") == 0) print_numbers(arguments);
  if (count > 1 && strcmp(arguments[1], "names") == 0) print_host();
  if (count > 1 && strcmp(arguments[1], "placement") == 0) print_placement();
  if (count > 1 && strcmp(arguments[1], "entries") == 0) print_entries();
  if (count > 1 && strcmp(arguments[1], "block size") == 0) print_block_size();
  return 0;
}
