// Code changes when mappings change, or it is in memory that nobody may protect. The argument selects the case; exit
// code 0 means that the current code was executed everywhere, 77 that this kernel does not support it.
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <initializer_list>

namespace {

using Byte = unsigned char;
constexpr int both = PROT_READ | PROT_WRITE, run = PROT_READ | PROT_EXEC, all = both | PROT_EXEC;
constexpr size_t page = 4096;
constexpr int missing = 77;
constexpr int guard_install = 102, guard_remove = 103, dontneed_locked = 24;

/// mov $value, %eax; ret
void put(Byte* at, int value) {
  Byte code[6] = {0xb8, 0, 0, 0, 0, 0xc3};
  memcpy(code + 1, &value, sizeof value);
  memcpy(at, code, sizeof code);
}

/// Calls it with a zero in %rax: zeros are `add %al, (%rax)`.
int call(const void* at) {
  int result = 0;
  asm volatile("call *%1"
               : "=a"(result)
               : "r"(at), "0"(0)
               : "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
  return result;
}

sigjmp_buf out;
void faulted(int) { siglongjmp(out, 1); }

/// The return value of the code; -1 if it faults.
int try_call(const void* at) {
  signal(SIGSEGV, faulted);
  signal(SIGBUS, faulted);
  return sigsetjmp(out, 1) == 0 ? call(at) : -1;
}

Byte* map(size_t bytes, int protection, int flags = MAP_PRIVATE | MAP_ANONYMOUS, int file = -1, off_t offset = 0) {
  void* at = mmap(nullptr, bytes, protection, flags, file, offset);
  if (at == MAP_FAILED) exit(90);
  return static_cast<Byte*>(at);
}

int memory_file(size_t bytes) {
  const int file = memfd_create("code", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) exit(91);
  return file;
}

/// A sealed page may still be written, but not protected.
int sealed() {
  Byte* at = map(16 * page, all);
  put(at + page, 7);
  if (call(at + page) != 7) return 1;  // an engine has protected it by now
  if (syscall(462 /* mseal */, at, 16 * page, 0) != 0) return errno == ENOSYS ? missing : 2;
  for (int i = 0; i < 1000; ++i) {
    put(at, i);
    put(at + page, 2 * i);
    if (call(at) != i || call(at + page) != 2 * i) return 3;
  }
  return mprotect(at, page, PROT_READ) == 0 || call(at) != 999 ? 4 : 0;
}

/// The pages of shared code are exchanged.
int other_pages() {
  const int file = memory_file(2 * page);
  Byte* writable = map(2 * page, both, MAP_SHARED, file);
  put(writable, 1);
  put(writable + page, 2);
  Byte* at = map(2 * page, run, MAP_SHARED, file);
  if (call(at) != 1 || call(at + page) != 2) return 1;
  for (size_t i = 0; i < 20; ++i) {
    if (syscall(SYS_remap_file_pages, at, page, 0, (i + 1) % 2, 0) != 0) return errno == ENOSYS ? missing : 2;
    if (call(at) != (i % 2 == 0 ? 2 : 1) || call(at + page) != 2) return 3;
    // Writes are visible at the new address.
    put(writable + page, 2);
    put(writable, 1);
    if (call(at) != (i % 2 == 0 ? 2 : 1)) return 4;
  }
  return 0;
}

int guarded() {
  for (const int protection : {all, run}) {
    Byte* at = map(page, both);
    put(at, 7);
    mprotect(at, page, protection);
    if (call(at) != 7) return 1;
    if (madvise(at, page, guard_install) != 0) return errno == EINVAL ? missing : 2;
    if (try_call(at) != -1) return 3;
    if (madvise(at, page, guard_remove) != 0 || try_call(at) != -1 || at[0] != 0) return 4;
    mprotect(at, page, all);
    put(at, 8);
    if (call(at) != 8) return 5;
  }
  return 0;
}

/// Discarded code reads as zeros.
int emptied() {
  for (int how = 0; how < 3; ++how) {
    Byte* at = map(page, both);
    put(at, 7);
    mprotect(at, page, run);
    if (call(at) != 7) return 1;
    long done = 0;
    iovec discarded = {at, page};
    if (how == 0) done = madvise(at, page, MADV_DONTNEED);
    if (how == 1) done = madvise(at, page, dontneed_locked);
    if (how == 2) {
      const int self = static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0));
      done = syscall(440 /* process_madvise */, self, &discarded, 1, MADV_DONTNEED, 0);
    }
    if (done < 0) continue;  // an older kernel
    if (at[0] != 0 || try_call(at) != -1) return 2 + how;
  }
  return 0;
}

/// Through another address of the same bytes.
int emptied_elsewhere() {
  const int file = memory_file(page);
  Byte* writable = map(page, both, MAP_SHARED, file);
  const Byte* at = map(page, run, MAP_SHARED, file);
  for (int i = 0; i < 20; ++i) {
    put(writable, i);
    if (call(at) != i) return 1;
    if (madvise(writable, page, MADV_REMOVE) != 0 || try_call(at) != -1) return 2;
  }
  return 0;
}

/// In a fork's child the code is unmapped, or empty.
int not_in_child() {
  for (const int advice : {MADV_WIPEONFORK, MADV_DONTFORK}) {
    for (const int protection : {run, all}) {
      Byte* at = map(page, both);
      put(at, 7);
      mprotect(at, page, protection);
      if (call(at) != 7) return 1;
      if (madvise(at, page, advice) != 0) return 2;
      if (call(at) != 7) return 3;
      const pid_t child = fork();
      if (child == 0) _exit(try_call(at) == -1 ? 5 : 6);
      int status = 0;
      if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 5) return 4;
      if (call(at) != 7) return 5;
    }
  }
  return 0;
}

int attached_over() {
  const int segment = shmget(IPC_PRIVATE, page, 0700);
  auto* writable = static_cast<Byte*>(shmat(segment, nullptr, 0));
  Byte* at = map(page, all);
  for (int i = 0; i < 20; ++i) {
    put(at, i);
    put(writable, 1000 + i);
    if (call(at) != i) return 1;
    if (shmat(segment, at, SHM_RDONLY | SHM_EXEC | SHM_REMAP) != at || call(at) != 1000 + i) return 2;
    if (mmap(at, page, all, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != at) return 3;
  }
  shmctl(segment, IPC_RMID, nullptr);
  return 0;
}

/// Writable and executable at two addresses.
int both_writable() {
  const int file = memory_file(page);
  Byte* one = map(page, all, MAP_SHARED, file);
  Byte* other = map(page, all, MAP_SHARED, file);
  for (int i = 0; i < 1000; ++i) {
    put(i % 3 == 0 ? one : other, i);
    if (call(one) != i || call(other) != i) return 1;
  }
  return 0;
}

/// A process has a limited number of mappings, and a protected page in the middle of one makes three of it.
int many_mappings() {
  Byte* at = map(3 * page, all);
  put(at, 1);
  if (call(at) != 1) return 1;
  constexpr size_t pages = 1 << 18;
  Byte* many = map(pages * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);
  size_t n = 0;
  while (n < pages && mprotect(many + n * page, page, PROT_READ) == 0) n += 2;
  if (n >= pages) return missing;
  int wrong = 0;
  for (int i = 0; i < 1000; ++i) {
    put(at + page, i);
    wrong += call(at + page) != i;
  }
  munmap(many, pages * page);
  return wrong != 0;
}

/// When memory may not become executable any more, protections cannot be removed.
int denied() {
  Byte* at = map(page, all);
  put(at, 1);
  if (call(at) != 1) return 1;
  if (prctl(65 /* PR_SET_MDWE */, 1, 0, 0, 0) != 0) return missing;
  for (int i = 0; i < 1000; ++i) {
    put(at, i);
    if (call(at) != i) return 2;
  }
  return 0;
}

/// Writes to data next to code, and sometimes to the code itself: often, seldom, and often again.
int data_next_to_code() {
  Byte* at = map(page, all);
  put(at, 0);
  long sum = 0;
  for (int i = 0; i < 200000; ++i) {
    *reinterpret_cast<volatile int*>(at + 2048) = i;
    if (i % 50000 > 25000 && i % 1000 == 0) put(at, i);
    sum += call(at);
  }
  long expected = 0;
  for (int i = 0, now = 0; i < 200000; ++i) {
    if (i % 50000 > 25000 && i % 1000 == 0) now = i;
    expected += now;
  }
  return sum != expected;
}

/// A call whose effects do not follow from its arguments fails while there is code that an engine may protect.
int refused() {
  Byte* at = map(page, all);
  put(at, 1);
  if (call(at) != 1) return 1;
  long* nowhere = nullptr;
  return ioctl(memory_file(page), FS_IOC_GETFLAGS, nowhere) == 0 || errno != EFAULT ? missing : 0;
}

// --- userfaultfd -----------------------------------------------------------------------------------------------------

int faults;
Byte* area;
volatile int served;
constexpr size_t area_pages = 64;

int value_of(size_t index) { return static_cast<int>(index) * 10 + served % 3; }

void* serve(void*) {
  alignas(page) static Byte content[page];
  for (;;) {
    pollfd one{faults, POLLIN, 0};
    poll(&one, 1, -1);
    uffd_msg message;
    if (read(faults, &message, sizeof message) != sizeof message) continue;
    auto* at = reinterpret_cast<Byte*>(message.arg.pagefault.address & ~(page - 1));
    memset(content, 0x90, page);
    put(content, value_of(static_cast<size_t>(at - area) / page));
    served = served + 1;
    uffdio_copy copy{};
    copy.dst = reinterpret_cast<unsigned long>(at);
    copy.src = reinterpret_cast<unsigned long>(content);
    copy.len = page;
    ioctl(faults, UFFDIO_COPY, &copy);
  }
}

bool register_area(int protection) {
  faults = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK));
  uffdio_api api{};
  api.api = UFFD_API;
  if (faults < 0 || ioctl(faults, UFFDIO_API, &api) != 0) return false;
  area = map(area_pages * page, protection);
  uffdio_register wanted{};
  wanted.range = {reinterpret_cast<unsigned long>(area), area_pages * page};
  wanted.mode = UFFDIO_REGISTER_MODE_MISSING;
  return ioctl(faults, UFFDIO_REGISTER, &wanted) == 0;
}

/// Code that another thread supplies when it is first executed, again and again.
int absent(int protection) {
  if (!register_area(protection)) return missing;
  pthread_t thread;
  pthread_create(&thread, nullptr, serve, nullptr);
  for (size_t i = 0; i < area_pages; ++i) {
    const int value = value_of(i);
    if (call(area + i * page) != value) return 1;
  }
  for (int k = 0; k < 100; ++k) {
    madvise(area + 40 * page, page, MADV_DONTNEED);
    const int value = value_of(40);
    if (call(area + 40 * page) != value) return 2;
  }
  return served == area_pages + 100 ? 0 : 3;
}
int absent_writable() { return absent(all); }
int absent_constant() { return absent(run); }

/// Nobody supplies it: a signal's handler runs all the same, and one without a handler ends the process.
volatile sig_atomic_t alarms;
void alarmed(int) {
  alarms = alarms + 1;
  siglongjmp(out, 1);
}
int never_there() {
  if (!register_area(all)) return missing;
  signal(SIGALRM, alarmed);
  if (sigsetjmp(out, 1) == 0) {
    ualarm(1000, 0);
    call(area);
    return 1;
  }
  if (alarms != 1) return 2;
  signal(SIGALRM, SIG_DFL);
  ualarm(1000, 0);
  return call(area + page);
}

struct Case {
  const char* name;
  int (*run)();
};

const Case cases[] = {{"sealed", sealed},
                      {"other_pages", other_pages},
                      {"guarded", guarded},
                      {"emptied", emptied},
                      {"emptied_elsewhere", emptied_elsewhere},
                      {"not_in_child", not_in_child},
                      {"attached_over", attached_over},
                      {"both_writable", both_writable},
                      {"many_mappings", many_mappings},
                      {"denied", denied},
                      {"data_next_to_code", data_next_to_code},
                      {"refused", refused},
                      {"absent_writable", absent_writable},
                      {"absent_constant", absent_constant},
                      {"never_there", never_there}};

}  // namespace

int main(int argc, char** argv) {
  for (const Case& one : cases) {
    if (argc > 1 && strcmp(argv[1], one.name) == 0) return one.run();
  }
  if (argc == 1) {
    for (const Case& one : cases) printf("%s\n", one.name);
  }
  return argc == 1 ? 0 : 99;
}
