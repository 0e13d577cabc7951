// Reads the list of its own mappings. The argument selects the case; what is printed must be the same natively.
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <initializer_list>

namespace {

constexpr size_t page = 4096, most = 1 << 20;
char text[most], other[most];

size_t read_all(const char* path, char* to, size_t part = most) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  size_t bytes = 0;
  for (ssize_t n = 1; file >= 0 && n > 0; bytes += static_cast<size_t>(n)) {
    const size_t room = most - bytes;
    n = read(file, to + bytes, part < room ? part : room);
    if (n < 0) exit(90);
  }
  close(file);
  return bytes;
}

void show(const char* when) {
  const size_t bytes = read_all("/proc/self/maps", text);
  printf("%s:\n", when);
  fflush(stdout);
  if (write(1, text, bytes) != static_cast<ssize_t>(bytes)) exit(91);
}

/// Executes code that it wrote into the page.
int execute(unsigned char* at, int value) {
  unsigned char code[6] = {0xb8, 0, 0, 0, 0, 0xc3};  // mov $value, %eax; ret
  memcpy(code + 1, &value, sizeof value);
  memcpy(at, code, sizeof code);
  int result = 0;
  for (int i = 0; i < 100; ++i) result = reinterpret_cast<int (*)()>(at)();
  return result;
}

int moments() {
  show("at the start");
  constexpr int both = PROT_READ | PROT_WRITE, all = both | PROT_EXEC;
  auto* const plain = static_cast<char*>(mmap(nullptr, 8 * page, both, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mprotect(plain + 2 * page, page, PROT_READ);
  munmap(plain + 5 * page, page);
  show("mapped, protected, unmapped");
  // The engine protects the pages whose code it translated.
  auto* const code = static_cast<unsigned char*>(mmap(nullptr, 8 * page, all, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (execute(code, 1) != 1 || execute(code + 3 * page, 2) != 2 || execute(code + 4 * page, 3) != 3) return 1;
  show("with writable code");
  if (execute(code + 3 * page, 4) != 4) return 2;
  mprotect(code + 5 * page, page, PROT_READ);
  show("with changed code");
  const int file = open("/proc/self/exe", O_RDONLY);
  auto* const mapped = static_cast<unsigned char*>(mmap(nullptr, 3 * page, all, MAP_PRIVATE, file, 0));
  if (mapped == MAP_FAILED || execute(mapped + page, 5) != 5) return 3;
  show("with writable code of a file");
  close(file);
  return 0;
}

int threads() {
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    show("in a child");
    exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  pthread_t thread;
  pthread_create(
      &thread, nullptr,
      [](void*) -> void* {
        char path[64];
        show("in a thread");
        snprintf(path, sizeof path, "/proc/%ld/maps", syscall(SYS_gettid));
        const size_t bytes = read_all(path, other);
        puts(bytes != 0 && strcmp(text, other) == 0 ? "same by the thread's number" : "differs");
        return nullptr;
      },
      nullptr);
  pthread_join(thread, nullptr);
  return status;
}

/// The sum of the bytes, to compare many parts.
unsigned sum_of(const char* bytes, ssize_t n) {
  unsigned sum = 0;
  for (ssize_t i = 0; i < n; ++i) sum = sum * 31 + static_cast<unsigned char>(bytes[i]);
  return sum;
}

int parts() {
  // More mappings than fit into one read.
  constexpr size_t pages = 300;
  auto* const many = static_cast<char*>(mmap(nullptr, pages * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  for (size_t i = 0; i < pages; i += 2) mprotect(many + i * page, page, PROT_NONE);
  const int file = open("/proc/self/maps", O_RDONLY);
  for (const size_t part : {1ul, 7ul, 100ul, 1000ul, 1024ul, 4095ul, 4096ul, 5000ul, 65536ul}) {
    lseek(file, 0, SEEK_SET);
    for (ssize_t n = 1; n > 0;) {
      n = read(file, text, part);
      if (part > 50) printf("%zu: %zd %x at %ld\n", part, n, sum_of(text, n), lseek(file, 0, SEEK_CUR));
    }
  }
  for (const long at : {0l, 1l, 73l, 500l, 1500l, 1l << 40})
    for (const size_t part : {10ul, 600ul, 4096ul}) {
      const ssize_t n = pread(file, text, part, at);
      printf("%zu from %ld: %zd %x\n", part, at, n, n > 0 ? sum_of(text, n) : 0);
    }
  lseek(file, 10, SEEK_SET);
  const iovec vectors[] = {{text, 20}, {other, 0}, {other, 30}, {text + 20, 5000}, {other, 100}};
  printf("vectors: %zd", readv(file, vectors, 5));
  printf(" %zd", preadv(file, vectors, 5, 3));
  printf(" at %ld\n", lseek(file, 0, SEEK_CUR));
  lseek(file, 0, SEEK_SET);
  printf("nowhere: %ld\n", syscall(SYS_read, file, nullptr, 100));
  // The list is that of the time when it is read.
  mmap(nullptr, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  lseek(file, 0, SEEK_SET);
  const ssize_t n = read(file, text, page);
  printf("after another mapping: %zd %x\n", n, sum_of(text, n));
  const int twice = dup(file);
  const ssize_t rest = read(twice, text, page);
  printf("by a copy: %zd %x at %ld\n", rest, sum_of(text, rest), lseek(file, 0, SEEK_CUR));
  return 0;
}

int names() {
  char paths[8][128];
  const int pid = getpid();
  read_all("/proc/self/maps", text);
  snprintf(paths[0], 128, "/proc/%d/maps", pid);
  snprintf(paths[1], 128, "/proc/thread-self/maps");
  snprintf(paths[2], 128, "/proc/self/task/%d/maps", pid);
  snprintf(paths[3], 128, "/proc/self/../%d/maps", pid);
  snprintf(paths[4], 128, "/proc/self/root/proc/self/maps");
  snprintf(paths[5], 128, "/tmp/own_maps_%d", pid);
  if (symlink("/proc/self/maps", paths[5]) != 0) return 1;
  const int file = open(paths[0], O_RDONLY);
  snprintf(paths[6], 128, "/proc/self/fd/%d", file);
  for (int i = 0; i < 7; ++i) {
    memset(other, 0, most);
    const size_t bytes = read_all(paths[i], other, i == 3 ? 100 : most);
    printf("name %d: %s\n", i, bytes != 0 && strcmp(text, other) == 0 ? "same" : "differs");
  }
  unlink(paths[5]);
  for (const char* const path : {"/proc/self/smaps", "/proc/self/numa_maps"}) {
    memset(other, 0, most);
    if (read_all(path, other) == 0) continue;
    for (char* line = strtok(other, "\n"); line != nullptr; line = strtok(nullptr, "\n"))
      if (strstr(path, "numa") != nullptr)
        printf("%.20s\n", line);
      else if (*line >= 'a' || *line <= '9' || strncmp(line, "Size", 4) == 0)
        puts(line);
  }
  return 0;
}

/// As the start of every program in Rust.
int stack() {
  pthread_attr_t attributes;
  void* start = nullptr;
  size_t bytes = 0, guard = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 1;
  pthread_attr_getstack(&attributes, &start, &bytes);
  pthread_attr_getguardsize(&attributes, &guard);
  printf("%p %zu %zu\n", start, bytes, guard);
  pthread_attr_destroy(&attributes);
  return 0;
}

/// The number in a line of /proc/self/status.
long in_status(const char* key) {
  const size_t bytes = read_all("/proc/self/status", text);
  text[bytes] = 0;
  const char* const line = strstr(text, key);
  return line != nullptr ? atol(line + strlen(key)) : -1;
}

long word_of(const char* from, int number) {
  for (; number > 0; --number) from = strchr(from, ' ') + 1;
  return atol(from);
}

void show_sizes(const char* when) {
  // The engine does not know its own size at the time of the peak.
  const long size = in_status("VmSize:"), peak = in_status("VmPeak:");
  printf("%s: size %ld peak %s data %ld lib %ld", when, size,
         peak >= size && peak < size + 100'000 ? "plausible" : "wrong", in_status("VmData:"), in_status("VmLib:"));
  // In parts.
  read_all("/proc/self/status", text, 100);
  printf(" status %.5s", text);
  size_t bytes = read_all("/proc/thread-self/statm", other);
  other[bytes] = 0;
  printf(" statm %ld %ld", word_of(other, 0), word_of(other, 5));
  bytes = read_all("/proc/self/stat", other, 7);
  other[bytes] = 0;
  const char* const fields = strrchr(other, ')') + 2;
  printf(" stat %ld after it %ld\n", word_of(fields, 20), word_of(fields, 22));
}

/// The signals that it ignores and handles.
int signals() {
  const auto handler = [](int) {};
  for (const int number : {SIGSEGV, SIGUSR1, SIGRTMAX}) signal(number, handler);
  signal(SIGUSR2, SIG_IGN);
  text[read_all("/proc/self/status", text)] = 0;
  char* const line = strstr(text, "SigIgn:");
  *strstr(line, "CapInh:") = 0;
  other[read_all("/proc/self/stat", other)] = 0;
  const char* const fields = strrchr(other, ')') + 2;
  printf("%sstat %ld %ld\n", line, word_of(fields, 30), word_of(fields, 31));
  return 0;
}

/// The sizes of its mappings, and their files.
int sizes() {
  show_sizes("at the start");
  constexpr int both = PROT_READ | PROT_WRITE;
  auto* const plain = static_cast<char*>(mmap(nullptr, 4000 * page, both, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  show_sizes("mapped");
  munmap(plain, 3000 * page);
  show_sizes("unmapped");
  auto* const code =
      static_cast<unsigned char*>(mmap(nullptr, 8 * page, both | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (execute(code, 1) != 1) return 1;
  show_sizes("with writable code");
  DIR* const directory = opendir("/proc/self/map_files");
  if (directory == nullptr) return 2;
  while (const dirent* const entry = readdir(directory)) puts(entry->d_name);
  closedir(directory);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  struct {
    const char* name;
    int (*run)();
  } const programs[] = {{"moments", moments}, {"threads", threads}, {"parts", parts}, {"names", names},
                        {"sizes", sizes},     {"signals", signals}, {"stack", stack}};
  for (const auto& program : programs)
    if (argc > 1 && strcmp(argv[1], program.name) == 0) return program.run();
  return 99;
}
