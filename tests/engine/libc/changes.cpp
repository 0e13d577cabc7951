// Code that changes while a program runs, each in one of the ways that programs use. The argument selects it; exit code
// 0 means that every function returned the value that was written last.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using Byte = unsigned char;
constexpr int both = PROT_READ | PROT_WRITE, run = PROT_READ | PROT_EXEC, all = both | PROT_EXEC;
constexpr size_t page = 4096;

struct Code {
  Byte bytes[6] = {0xb8, 0, 0, 0, 0, 0xc3};  // mov $value, %eax; ret
  explicit Code(int value) { memcpy(bytes + 1, &value, sizeof value); }
};

void put(Byte* at, int value) {
  const Code code(value);
  memcpy(at, code.bytes, sizeof code.bytes);
}

int call(const void* at) { return reinterpret_cast<int (*)()>(const_cast<void*>(at))(); }

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

/// A file with a unique name.
int named_file(size_t bytes, bool keep_name) {
  // Not by mkstemp: that sometimes asks for another random number.
  char name[] = "/tmp/tally-changes-0000000000";
  unsigned pid = static_cast<unsigned>(getpid());
  for (char* digit = name + sizeof name - 2; *digit == '0'; --digit, pid /= 10)
    *digit = static_cast<char>('0' + pid % 10);
  const int file = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) exit(92);
  if (!keep_name) unlink(name);
  return file;
}

/// Writes through one address, runs at another; several functions on one page, some older than the last write.
int write_and_run(Byte* writable, const Byte* executable, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    put(writable + 64 * (i % 32), i);
    if (call(executable + 64 * (i % 32)) != i) return 1;
    if (i >= 7 && call(executable + 64 * ((i - 7) % 32)) != i - 7) return 2;
  }
  return 0;
}

int over_and_over() {
  Byte* at = map(page, all);
  for (int i = 0; i < 20000; ++i) {
    put(at, i);
    if (call(at) != i) return 1;
  }
  return 0;
}

int dual_memory_file() {
  const int file = memory_file(page);
  Byte* writable = map(page, both, MAP_SHARED, file);
  return write_and_run(writable, map(page, run, MAP_SHARED, file), 1000);
}

int dual_late() {
  // The writable alias is mapped, and made writable, after the code has run; and it is unmapped and mapped again.
  const int file = memory_file(2 * page);
  Byte* executable = map(page, run, MAP_SHARED, file, page);
  if (pwrite(file, Code(5).bytes, 6, page) != 6) return 3;
  if (call(executable) != 5) return 4;
  for (int i = 0; i < 20; ++i) {
    Byte* writable = map(2 * page, PROT_READ, MAP_SHARED, file);
    if (mprotect(writable + page, page, both) != 0) return 5;
    if (const int failed = write_and_run(writable + page, executable, 100)) return failed;
    munmap(writable, 2 * page);
  }
  return 0;
}

int dual_protected() {
  // Mapped writable twice; one of the two becomes executable later.
  const int file = memory_file(page);
  Byte* writable = map(page, both, MAP_SHARED, file);
  Byte* executable = map(page, both, MAP_SHARED, file);
  for (int i = 0; i < 100; ++i) {
    put(executable, -1);
    mprotect(executable, page, run);
    if (call(executable) != -1) return 3;
    put(writable, i);
    if (call(executable) != i) return 4;
    mprotect(executable, page, both);
  }
  return 0;
}

int dual_unlinked_file() {
  const int file = named_file(page, false);
  Byte* writable = map(page, both, MAP_SHARED, file);
  return write_and_run(writable, map(page, run, MAP_SHARED, file), 1000);
}

/// A private mapping shows what is written to the file until its own pages are written.
int dual_private() {
  const int file = memory_file(page);
  Byte* writable = map(page, both, MAP_SHARED, file);
  return write_and_run(writable, map(page, run, MAP_PRIVATE, file), 1000);
}

int dual_by_remap() {
  Byte* writable = map(page, both, MAP_SHARED | MAP_ANONYMOUS);
  auto* executable = static_cast<Byte*>(mremap(writable, 0, page, MREMAP_MAYMOVE));
  if (executable == MAP_FAILED || mprotect(executable, page, run) != 0) return 3;
  return write_and_run(writable, executable, 1000);
}

int dual_system_v() {
  const int segment = shmget(IPC_PRIVATE, page, 0700);
  auto* writable = static_cast<Byte*>(shmat(segment, nullptr, 0));
  auto* executable = static_cast<Byte*>(shmat(segment, nullptr, SHM_RDONLY | SHM_EXEC));
  shmctl(segment, IPC_RMID, nullptr);
  const int failed = write_and_run(writable, executable, 1000);
  shmdt(executable);
  return failed;
}

/// The kernel writes into the other mapping: it must be able to.
int dual_read() {
  const int file = memory_file(page);
  Byte* writable = map(page, both, MAP_SHARED, file);
  const Byte* executable = map(page, run, MAP_SHARED, file);
  int ends[2];
  if (pipe(ends) != 0) return 1;
  for (int i = 0; i < 300; ++i) {
    if (write(ends[1], Code(i).bytes, 6) != 6 || read(ends[0], writable, 6) != 6) return 2;
    if (call(executable) != i) return 3;
  }
  return 0;
}

/// A file that everybody can open.
int dual_named_file() {
  const int file = named_file(page, true);
  Byte* writable = map(page, both, MAP_SHARED, file);
  const int failed = write_and_run(writable, map(page, run, MAP_SHARED, file), 1000);
  char link[64];
  char name[256] = {};
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  if (readlink(link, name, sizeof name - 1) > 0) unlink(name);
  return failed;
}

/// pwrite and similar calls on the mapped file.
int written_file() {
  const int file = memory_file(page);
  const Byte* shared = map(page, run, MAP_SHARED, file);
  const Byte* own = map(page, run, MAP_PRIVATE, file);
  for (int i = 0; i < 300; ++i) {
    Code code(i);
    iovec vector = {code.bytes, sizeof code.bytes};
    ssize_t n = 0;
    switch (i % 4) {
      case 0: n = pwrite(file, code.bytes, 6, 0); break;
      case 1: n = pwritev(file, &vector, 1, 0); break;
      case 2:
        lseek(file, 0, SEEK_SET);
        n = write(file, code.bytes, 6);
        break;
      default:
        lseek(file, 0, SEEK_SET);
        n = writev(file, &vector, 1);
        break;
    }
    if (n != 6 || call(shared) != i || call(own) != i) return 1;
  }
  return 0;
}

/// Truncated and extended again: zeros, then new code; and copied in by the kernel from another file.
int truncated_file() {
  const int file = memory_file(page);
  const int source = memory_file(page);
  Byte* at = map(page, run, MAP_SHARED, file);
  for (int i = 0; i < 100; ++i) {
    if (pwrite(file, Code(i).bytes, 6, 0) != 6 || call(at) != i) return 1;
    if (ftruncate(file, 0) != 0 || ftruncate(file, page) != 0 || at[0] != 0) return 2;
    if (pwrite(source, Code(1000 + i).bytes, 6, 0) != 6) return 3;
    off_t from = 0, to = 0;
    if (copy_file_range(source, &from, file, &to, 6, 0) != 6 || call(at) != 1000 + i) return 4;
  }
  return 0;
}

/// /proc/self/mem writes even to protected memory.
int written_memory() {
  const int memory = open("/proc/self/mem", O_RDWR);
  if (memory < 0) return 1;
  Byte* at = map(page, both);
  put(at, -1);
  mprotect(at, page, run);
  for (int i = 0; i < 100; ++i) {
    if (pwrite(memory, Code(i).bytes, 6, reinterpret_cast<off_t>(at)) != 6) return 2;
    if (call(at) != i) return 3;
  }
  return 0;
}

/// Every way in which the kernel stores what a program receives.
int received() {
  Byte* at = map(page, all);
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 1;
  for (int i = 0; i < 300; ++i) {
    Code code(i);
    iovec from = {code.bytes, sizeof code.bytes}, to = {at, sizeof code.bytes};
    ssize_t n = 0;
    if (i % 4 != 3 && write(ends[1], code.bytes, 6) != 6) return 2;
    msghdr message{};
    message.msg_iov = &to;
    message.msg_iovlen = 1;
    switch (i % 4) {
      case 0: n = recv(ends[0], at, 6, 0); break;
      case 1: n = recvmsg(ends[0], &message, 0); break;
      case 2: n = readv(ends[0], &to, 1); break;
      default: n = process_vm_writev(getpid(), &from, 1, &to, 1, 0); break;
    }
    if (n != 6 || call(at) != i) return 3;
  }
  return 0;
}

int back_and_forth() {
  Byte* at = map(page, both);
  for (int i = 0; i < 10000; ++i) {
    put(at, i);
    mprotect(at, page, run);
    if (call(at) != i) return 1;
    mprotect(at, page, both);
  }
  return 0;
}

/// As LuaJIT does: an area becomes writable as a whole, but only one function changes, or gets its old value back.
int toggled() {
  constexpr int functions = 160, step = 70, pages = 3;
  Byte* const area = map(pages * page, both);
  int value[functions];
  for (int i = 0; i < functions; ++i) put(area + i * step, value[i] = i);
  for (int round = 0; round < 400; ++round) {
    mprotect(area, pages * page, both);
    const int changed = round / 2 * 7 % functions;
    put(area + changed * step, value[changed] = round % 2 == 0 ? 1000 + round : changed);
    mprotect(area, pages * page, run);
    for (int i = 0; i < functions; ++i)
      if (call(area + i * step) != value[i]) return 1;
  }
  return 0;
}

/// Code that the engine read after a jump, to find out whether the flags are needed there, changes too.
int looked_ahead() {
  Byte* from = map(page, both);
  Byte* to = map(page, both);
  const Byte head[] = {0x39, 0xff, 0x75, 0x00, 0xe9};  // cmp %edi, %edi; jne to its end; jmp to
  memcpy(from, head, sizeof head);
  const int distance = static_cast<int>(to - (from + sizeof head + 4));
  memcpy(from + sizeof head, &distance, 4);
  mprotect(from, page, run);
  const Byte overwrites[] = {0x31, 0xc0, 0xff, 0xc0, 0xc3};           // xor %eax, %eax; inc %eax; ret
  const Byte reads[] = {0x0f, 0x94, 0xc0, 0x0f, 0xb6, 0xc0, 0xc3};    // sete %al; movzx %al, %eax; ret
  const Byte inverts[] = {0x0f, 0x95, 0xc0, 0x0f, 0xb6, 0xc0, 0xc3};  // setne …
  for (int i = 0; i < 100; ++i) {
    mprotect(to, page, both);
    memcpy(to, overwrites, sizeof overwrites);
    mprotect(to, page, run);
    if (call(to) != 1 || call(from) != 1) return 1;
    mprotect(to, page, both);
    memcpy(to, i % 2 == 0 ? reads : inverts, sizeof reads);
    mprotect(to, page, run);
    if (call(from) != (i % 2 == 0 ? 1 : 0)) return 2;
  }
  return 0;
}

/// An instruction writes the next instruction, on its own page and through another address.
int next_instruction() {
  const Byte text[] = {0x40, 0x88, 0x3e,               // mov %dil, (%rsi)
                       0xb8, 0,    0,    0, 0, 0xc3};  // mov $0, %eax; ret
  Byte* at = map(page, all);
  const int file = memory_file(page);
  Byte* writable = map(page, both, MAP_SHARED, file);
  Byte* executable = map(page, run, MAP_SHARED, file);
  memcpy(at, text, sizeof text);
  memcpy(writable, text, sizeof text);
  for (int i = 0; i < 200; ++i) {
    if (reinterpret_cast<int (*)(int, Byte*)>(at)(i, at + 4) != i) return 1;
    if (reinterpret_cast<int (*)(int, Byte*)>(executable)(i, writable + 4) != i) return 2;
  }
  return 0;
}

/// Several threads, each with functions on pages of its own and on a shared one, patched and freed.
Byte* shared_page;
void* patch_and_free(void* argument) {
  const int own = static_cast<int>(reinterpret_cast<long>(argument));
  for (int i = 0; i < 500; ++i) {
    Byte* at = map(page, all);
    put(at, i);
    if (call(at) != i) return shared_page;
    put(at, i + 1);
    if (call(at) != i + 1) return shared_page;
    munmap(at, page);
    put(shared_page + 64 * own, i);
    if (call(shared_page + 64 * own) != i) return shared_page;
  }
  return nullptr;
}

int threads_patch() {
  shared_page = map(page, all);
  pthread_t threads[4];
  for (long i = 0; i < 4; ++i) pthread_create(&threads[i], nullptr, patch_and_free, reinterpret_cast<void*>(i));
  int failures = 0;
  for (pthread_t thread : threads) {
    void* failed = nullptr;
    pthread_join(thread, &failed);
    failures += failed != nullptr;
  }
  return failures;
}

/// One thread patches what another runs, in step: the other serialises, as the manual asks, and sees it.
Byte* crossed;
volatile int written, seen;
void* run_crossed(void*) {
  for (int i = 1; i <= 1000; ++i) {
    // Waits until `written` is i, serialises, runs what was written: all in straight-line code.
    int value = 0;
    unsigned a = 0, b = 0, c = 0, d = 0;
    while (written != i) sched_yield();
    asm volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d)::"memory");
    value = call(crossed);
    if (value != i) return crossed;
    seen = i;
  }
  return nullptr;
}

int crossing() {
  crossed = map(page, all);
  pthread_t thread;
  pthread_create(&thread, nullptr, run_crossed, nullptr);
  for (int i = 1; i <= 1000; ++i) {
    put(crossed, i);
    written = i;
    while (seen != i) {
      if (pthread_tryjoin_np(thread, nullptr) == 0) return i == 1000 ? 0 : 1;
      sched_yield();
    }
  }
  void* failed = nullptr;
  pthread_join(thread, &failed);
  return failed == nullptr ? 0 : 1;
}

/// Code on the stack is executed.
int on_the_stack() {
  Byte room[2 * page];
  Byte* at = room + page - reinterpret_cast<unsigned long>(room) % page;
  if (mprotect(at, page, all) != 0) return 1;
  for (int i = 0; i < 200; ++i) {
    put(at, i);
    if (call(at) != i) return 2;
  }
  return 0;
}

/// A vfork child patches what its parent runs: they share the memory.
int vfork_patches() {
  Byte* at = map(page, all);
  for (int i = 0; i < 100; ++i) {
    put(at, -1);
    if (call(at) != -1) return 1;
    const pid_t child = vfork();
    if (child == 0) {
      put(at, i);
      if (call(at) != i) _exit(1);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0 || call(at) != i) return 2;
  }
  return 0;
}

/// A fork's child patches its copy while the parent patches and runs its own.
int fork_patches() {
  Byte* at = map(page, all);
  put(at, 7);
  if (call(at) != 7) return 1;
  for (int k = 0; k < 10; ++k) {
    const pid_t child = fork();
    const int base = child == 0 ? 1000 : 2000;
    for (int i = base; i < base + 300; ++i) {
      put(at, i);
      if (call(at) != i) {
        if (child == 0) _exit(1);
        return 2;
      }
    }
    if (child == 0) _exit(0);
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) return 3;
  }
  return 0;
}

/// A forked child writes what its parent runs.
int run_what_child_writes(Byte* executable, Byte* (*map_writable)(Byte*, int), int file) {
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      put(map_writable(executable, file), i);
      _exit(0);
    }
    waitpid(child, nullptr, 0);
    if (call(executable) != i) return 1;
  }
  return 0;
}

int child_patches() {
  Byte* at = map(page, all, MAP_SHARED | MAP_ANONYMOUS);
  put(at, -1);
  if (call(at) != -1) return 2;
  return run_what_child_writes(
      at, [](Byte* same, int) { return same; }, -1);
}

/// Parent and child map the file after the fork.
int child_patches_file() {
  const int file = memory_file(page);
  const pid_t first = fork();
  if (first == 0) _exit(0);
  waitpid(first, nullptr, 0);
  return run_what_child_writes(
      map(page, run, MAP_PRIVATE, file), [](Byte*, int of) { return map(page, both, MAP_SHARED, of); }, file);
}

/// Executed by the two functions below: writes code in a file, one function for each number that it receives.
int write_on_request(int socket, int file) {
  Byte* at = nullptr;
  for (;;) {
    int value = 0;
    iovec vector = {&value, sizeof value};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof file)];
    msghdr message{};
    message.msg_iov = &vector;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    if (recvmsg(socket, &message, 0) != sizeof value) return 0;
    if (const cmsghdr* head = CMSG_FIRSTHDR(&message)) memcpy(&file, CMSG_DATA(head), sizeof file);
    if (at == nullptr) at = map(page, both, MAP_SHARED, file);
    put(at, value);
    if (write(socket, &value, sizeof value) != sizeof value) return 1;
  }
}

int run_what_other_program_writes(bool sends) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 1;
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  const int file = memory_file(page);
  if (!sends) fcntl(file, F_SETFD, 0);
  char socket[16], inherited[16];
  snprintf(socket, sizeof socket, "%d", ends[1]);
  snprintf(inherited, sizeof inherited, "%d", sends ? -1 : file);
  const Byte* at = map(page, run, MAP_SHARED, file);
  if (pwrite(file, Code(-1).bytes, sizeof(Code), 0) != sizeof(Code) || call(at) != -1) return 2;
  if (vfork() == 0) {
    execl("/proc/self/exe", "changes", "write_on_request", socket, inherited, nullptr);
    _exit(127);
  }
  for (int i = 0; i < 20; ++i) {
    iovec vector = {&i, sizeof i};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof file)] = {};
    msghdr message{};
    message.msg_iov = &vector;
    message.msg_iovlen = 1;
    if (sends && i == 0) {
      message.msg_control = control;
      message.msg_controllen = sizeof control;
      *CMSG_FIRSTHDR(&message) = {CMSG_LEN(sizeof file), SOL_SOCKET, SCM_RIGHTS};
      memcpy(CMSG_DATA(CMSG_FIRSTHDR(&message)), &file, sizeof file);
    }
    int done = -1;
    if (sendmsg(ends[0], &message, 0) != sizeof i || read(ends[0], &done, sizeof done) != sizeof done) return 3;
    if (call(at) != i) return 4;
  }
  close(ends[0]);
  int status = 0;
  wait(&status);
  return status;
}

int sent_file() { return run_what_other_program_writes(true); }
int inherited_file() { return run_what_other_program_writes(false); }

/// Memory that is discarded and used again.
int thrown_away() {
  Byte* at = map(page, all);
  for (int i = 0; i < 100; ++i) {
    put(at, i);
    if (call(at) != i) return 1;
    madvise(at, page, MADV_DONTNEED);
    if (at[0] != 0) return 2;
  }
  return 0;
}

volatile sig_atomic_t faults;
void skip(int, siginfo_t*, void* context) {
  faults = faults + 1;
  auto* registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  registers[REG_RIP] = *reinterpret_cast<long*>(registers[REG_RSP]);
  registers[REG_RSP] += 8;
}

/// Removed code faults at its address: unmapped, detached, no longer executable, discarded.
int removed() {
  struct sigaction action {};
  action.sa_sigaction = skip;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);
  int expected = 0;
  for (int i = 0; i < 50; ++i) {
    Byte* at = map(2 * page, all);
    put(at, i);
    put(at + page, i);
    if (call(at) != i || call(at + page) != i) return 1;
    mprotect(at, page, both);
    call(at);
    if (faults != ++expected) return 2;
    munmap(at, 2 * page);
    call(at + page);
    if (faults != ++expected) return 3;
    const int segment = shmget(IPC_PRIVATE, page, 0700);
    at = static_cast<Byte*>(shmat(segment, nullptr, SHM_EXEC));
    shmctl(segment, IPC_RMID, nullptr);
    put(at, i);
    if (call(at) != i) return 4;
    shmdt(at);
    call(at);
    if (faults != ++expected) return 5;
  }
  return 0;
}

/// Functions, and jumps to them through a pointer: a page of code, one between, two with pointers (in either of them,
/// or across both), one that is always written.
struct Pointers {
  Byte* code = map(5 * page, all);
  int place;

  explicit Pointers(int where) : place(where) {
    put(code + 512, 1);
    put(code + 768, 2);
  }
  Byte* slot() const { return pages() + page + (place - 1) * 16 - 4; }
  Byte* pages() const { return code + 2 * page; }

  void instruction(Byte* at, Byte opcode, Byte modrm, const Byte* operand) const {
    const int distance = static_cast<int>(operand - (at + 6));
    at[0] = opcode;
    at[1] = modrm;
    memcpy(at + 2, &distance, 4);
  }
  void write_code() const {
    instruction(code, 0xff, 0x25, slot());  // jmp *slot(%rip)
    const Byte to_jump[] = {0xe8, 0xdb, 0xff, 0xff, 0xff, 0xc3};
    memcpy(code + 32, to_jump, sizeof to_jump);  // call the jump; ret
    instruction(code + 64, 0xff, 0x15, slot());  // call *slot(%rip); ret
    code[70] = 0xc3;
  }
  void set(int value) const {
    const Byte* to = code + 256 + 256 * value;
    memcpy(slot(), &to, 8);
  }
  bool lead_to(int value) const { return call(code) == value && call(code + 32) == value && call(code + 64) == value; }
};

void unprotect(const Pointers& p, int value) {
  mprotect(p.pages(), 2 * page, both);
  p.set(value);
}
void map_again(const Pointers& p, int value) {
  mmap(p.pages(), 2 * page, both, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  p.set(value);
}
void unmap(const Pointers& p, int value) {
  munmap(p.pages(), 2 * page);
  map_again(p, value);
}
void move_there(const Pointers& p, int value) {
  Byte* other = map(2 * page, both);
  mremap(other, 2 * page, 2 * page, MREMAP_MAYMOVE | MREMAP_FIXED, p.pages());
  p.set(value);
}
void throw_away(const Pointers& p, int value) {
  madvise(p.pages(), 2 * page, MADV_DONTNEED);
  unprotect(p, value);
}
void write_memory(const Pointers& p, int value) {
  static const int file = open("/proc/self/mem", O_RDWR);
  const Byte* to = p.code + 256 + 256 * value;
  if (pwrite(file, &to, 8, reinterpret_cast<off_t>(p.slot())) != 8) exit(93);
}

/// Jumps and calls through pointers in read-only memory, as those between libraries, that sometimes changes.
int pointers() {
  void (*const ways[])(const Pointers&, int) = {unprotect, map_again, unmap, move_there, throw_away, write_memory};
  for (int place = 0; place < 3; ++place) {
    const Pointers p(place);
    p.write_code();
    for (int i = 0; i < 60; ++i) {
      const int value = 1 + i / 6 % 2;
      ways[i % 6](p, value);
      if (i % 4 != 0 && mprotect(p.pages(), 2 * page, PROT_READ) != 0) return 1;
      for (int k = 0; k < 3; ++k)
        if (!p.lead_to(value)) return 2 + i % 6;
    }
  }
  return 0;
}

/// Only the half of a pointer that is on the second page changes.
int pointers_half() {
  const Pointers p(1);
  p.write_code();
  p.set(1);
  mprotect(p.pages(), 2 * page, PROT_READ);
  if (!p.lead_to(1)) return 1;
  Byte* there = p.code - (1ll << 32);
  if (mmap(there, page, all, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != there) return 2;
  put(there + 512, 3);
  mprotect(p.pages() + page, page, both);
  --*reinterpret_cast<int*>(p.pages() + page);
  mprotect(p.pages() + page, page, PROT_READ);
  return p.lead_to(3) ? 0 : 3;
}

/// The same bytes may be written through another address.
int pointers_shared() {
  const int file = memory_file(page);
  Byte* write = map(page, both, MAP_SHARED, file);
  const Pointers p(2);
  p.write_code();
  mmap(p.pages() + page, page, PROT_READ, MAP_SHARED | MAP_FIXED, file, 0);
  mprotect(p.pages() + page, page, PROT_READ);
  for (int i = 0; i < 100; ++i) {
    const Byte* to = p.code + 512 + 256 * (i % 2);
    memcpy(write + 12, &to, 8);
    if (!p.lead_to(1 + i % 2)) return 1;
  }
  return 0;
}

/// The file shows through where written pages were discarded.
int pointers_thrown_away() {
  const int file = memory_file(page);
  const Pointers p(2);
  p.write_code();
  p.set(1);
  if (pwrite(file, p.pages() + page, page, 0) != page) return 1;
  mmap(p.pages() + page, page, both, MAP_PRIVATE | MAP_FIXED, file, 0);
  for (int i = 0; i < 20; ++i) {
    mprotect(p.pages(), 2 * page, both);
    p.set(2);
    mprotect(p.pages(), 2 * page, PROT_READ);
    if (!p.lead_to(2)) return 2;
    madvise(p.pages(), 2 * page, MADV_DONTNEED);
    if (!p.lead_to(1)) return 3;
  }
  return 0;
}

/// A thread sees in straight-line code that a pointer was changed, and jumps through it. On one processor: the kernel
/// stops it in the middle of that code while the other thread changes the pointer.
Pointers* followed;
void* follow_pointer(void*) {
  long wrong = 0;
  for (int i = 1; i <= 15; ++i) {
    wrong += reinterpret_cast<int (*)(int)>(followed->code + 1024)(i) != 1 + i % 2;
    seen = i;
  }
  return reinterpret_cast<void*>(wrong);
}
int pointers_in_step() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  sched_setaffinity(0, sizeof one, &one);
  const Pointers p(2);
  followed = const_cast<Pointers*>(&p);
  Byte* at = p.code + 1024;
  Byte* turn = p.code + 4 * page;
  for (int i = 0; i < 10; ++i) memcpy(at + 2 * i, "\xf3\x90", 2);  // pause
  p.instruction(at + 20, 0x3b, 0x3d, turn);                        // cmp turn(%rip), %edi
  memcpy(at + 26, "\x75\xe4", 2);                                  // jne at
  p.instruction(at + 28, 0xff, 0x25, p.slot());                    // jmp *slot(%rip)
  pthread_t thread;
  p.set(1);
  mprotect(p.pages(), 2 * page, PROT_READ);
  pthread_create(&thread, nullptr, follow_pointer, nullptr);
  for (int i = 1; i <= 15; ++i) {
    for (int k = 0; k < 10; ++k) sched_yield();  // the other one waits in the code
    mprotect(p.pages(), 2 * page, both);
    p.set(1 + i % 2);
    mprotect(p.pages(), 2 * page, PROT_READ);
    __atomic_store_n(reinterpret_cast<int*>(turn), i, __ATOMIC_RELEASE);
    while (seen != i) sched_yield();
  }
  void* wrong = nullptr;
  pthread_join(thread, &wrong);
  return wrong != nullptr;
}

struct Case {
  const char* name;
  int (*run)();
};

const Case cases[] = {{"over_and_over", over_and_over},
                      {"dual_memory_file", dual_memory_file},
                      {"dual_late", dual_late},
                      {"dual_protected", dual_protected},
                      {"dual_unlinked_file", dual_unlinked_file},
                      {"dual_private", dual_private},
                      {"dual_by_remap", dual_by_remap},
                      {"dual_system_v", dual_system_v},
                      {"dual_read", dual_read},
                      {"dual_named_file", dual_named_file},
                      {"written_file", written_file},
                      {"truncated_file", truncated_file},
                      {"written_memory", written_memory},
                      {"received", received},
                      {"back_and_forth", back_and_forth},
                      {"toggled", toggled},
                      {"looked_ahead", looked_ahead},
                      {"next_instruction", next_instruction},
                      {"threads_patch", threads_patch},
                      {"crossing", crossing},
                      {"on_the_stack", on_the_stack},
                      {"vfork_patches", vfork_patches},
                      {"fork_patches", fork_patches},
                      {"child_patches", child_patches},
                      {"child_patches_file", child_patches_file},
                      {"sent_file", sent_file},
                      {"inherited_file", inherited_file},
                      {"thrown_away", thrown_away},
                      {"removed", removed},
                      {"pointers", pointers},
                      {"pointers_half", pointers_half},
                      {"pointers_shared", pointers_shared},
                      {"pointers_thrown_away", pointers_thrown_away},
                      {"pointers_in_step", pointers_in_step}};

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && strcmp(argv[1], "write_on_request") == 0) return write_on_request(atoi(argv[2]), atoi(argv[3]));
  // Asynchronous input writes at any time.
  unsigned long context = 0;
  if (argc > 2 && strcmp(argv[2], "compared") == 0) syscall(SYS_io_setup, 1, &context);
  for (const Case& one : cases) {
    if (argc > 1 && strcmp(argv[1], one.name) == 0) return one.run();
  }
  if (argc == 1) {
    for (const Case& one : cases) printf("%s\n", one.name);
  }
  return argc == 1 ? 0 : 99;
}
