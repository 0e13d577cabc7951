// A program that attaches to a child of its own, which has run for long, and prints what it sees of it.
//
//     tracers calls|fault|registers|threads|seize|executes|writes|memory
//     tracers seize_stopped|attach_stopped|seize_computing|attach_computing
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

struct Shared {
  volatile int go, handled, ready;
};
Shared* shared;
int pipe_ends[2];

void on_fault(int) {
  shared->handled = shared->handled + 1;
  signal(SIGSEGV, SIG_DFL);
}

void* sleep_in_read(void*) {
  char byte = 0;
  __atomic_add_fetch(&shared->ready, 1, __ATOMIC_SEQ_CST);
  if (read(pipe_ends[0], &byte, 1) != 1) _exit(81);
  return nullptr;
}

void* compute(void*) {
  __atomic_add_fetch(&shared->ready, 1, __ATOMIC_SEQ_CST);
  while (shared->go < 2) asm volatile("pause");
  return nullptr;
}

/// Code that another process will change: `mov eax, 1; ret`.
unsigned char* code;

[[noreturn]] void run_written_code() {
  const auto function = reinterpret_cast<int (*)()>(code);
  int sum = 0;
  for (int i = 0; i < 100; i++) sum += function();
  shared->ready = 1;
  while (shared->go == 0) usleep(1000);
  _exit(sum == 100 ? function() : 80);
}

/// Makes it return 9.
void write_code(pid_t child, bool by_file) {
  unsigned char value = 9;
  const iovec here{&value, 1}, there{code + 1, 1};
  if (!by_file) {
    printf("written %zd\n", process_vm_writev(child, &here, 1, &there, 1, 0));
    return;
  }
  char name[64];
  snprintf(name, sizeof name, "/proc/%d/mem", child);
  const int file = open(name, O_RDWR);
  printf("written %zd\n", pwrite(file, &value, 1, static_cast<off_t>(reinterpret_cast<uintptr_t>(there.iov_base))));
  close(file);
}

[[noreturn]] void be_child(const char* what) {
  if (strcmp(what, "threads") == 0) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], nullptr, i % 2 == 0 ? sleep_in_read : compute, nullptr);
    for (pthread_t& thread : threads) pthread_join(thread, nullptr);
    _exit(5);
  }
  if (strcmp(what, "writes") == 0 || strcmp(what, "memory") == 0) run_written_code();
  shared->ready = 1;
  while (shared->go == 0) usleep(1000);
  if (strcmp(what, "calls") == 0) {
    for (int i = 0; i < 10; i++) syscall(SYS_geteuid);
  } else if (strcmp(what, "fault") == 0) {
    signal(SIGSEGV, on_fault);
    *reinterpret_cast<volatile int*>(8) = 1;
  } else if (strcmp(what, "executes") == 0) {
    execl("/bin/true", "true", nullptr);
  } else {
    shared->handled = 1;
    register long mark asm("r15") = 0x1234567;
    asm volatile("1: pause; jmp 1b" ::"r"(mark));
  }
  _exit(7);
}

bool in_program(uint64_t address) {
  const auto here = reinterpret_cast<uint64_t>(&be_child);
  return address > here - (1 << 20) && address < here + (1 << 20);
}

int wait_for(pid_t child) {
  int status = 0;
  return waitpid(child, &status, __WALL) == child ? status : -1;
}

void print_registers(pid_t child) {
  user_regs_struct r{};
  ptrace(PTRACE_GETREGS, child, nullptr, &r);
  errno = 0;
  const long word = ptrace(PTRACE_PEEKTEXT, child, r.rip, nullptr);
  printf("r15 %llx, in the program %d, its code %lx, gs %llx\n", r.r15, in_program(r.rip), word & 0xff, r.gs_base);
}

void trace_calls(pid_t child) {
  int status = 0, calls = 0;
  for (;;) {
    if (ptrace(PTRACE_SYSCALL, child, nullptr, nullptr) != 0) break;
    status = wait_for(child);
    if (!WIFSTOPPED(status)) break;
    user_regs_struct r{};
    ptrace(PTRACE_GETREGS, child, nullptr, &r);
    const auto number = static_cast<long>(r.orig_rax);
    if (number == SYS_geteuid)
      calls++;
    else if (number != SYS_clock_nanosleep && number != SYS_restart_syscall && number != SYS_exit_group)
      printf("also %ld\n", number);
  }
  printf("%d stops, exit code %d\n", calls, WEXITSTATUS(status));
}

void continue_to_end(pid_t child) {
  for (int stops = 0, status = 0x137f; WIFSTOPPED(status) && stops < 10; stops++) {
    const int signal = WSTOPSIG(status) == SIGSTOP || WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
    ptrace(PTRACE_CONT, child, nullptr, signal);
    status = wait_for(child);
    printf("%x, handler ran %d\n", static_cast<unsigned>(status), shared->handled);
  }
}

/// Traces a child that has stopped: it stopped itself before system calls, or its parent stopped it anywhere.
int trace_stopped(bool seizes, bool computes) {
  const pid_t child = fork();
  if (child == 0 && computes) {
    shared->ready = 1;
    register long mark asm("r15") = 0x1234567;
    asm volatile("1: pause; jmp 1b" ::"r"(mark));
  }
  if (child == 0) {
    kill(getpid(), SIGSTOP);
    for (int i = 0; i < 2; i++) syscall(SYS_geteuid);
    _exit(7);
  }
  while (computes && shared->ready == 0) usleep(100);
  if (computes) usleep(2000);
  if (computes) kill(child, SIGSTOP);
  int status = 0;
  waitpid(child, &status, WUNTRACED);
  printf("%x\n", static_cast<unsigned>(status));
  if (ptrace(seizes ? PTRACE_SEIZE : PTRACE_ATTACH, child, nullptr,
             seizes ? reinterpret_cast<void*>(PTRACE_O_TRACESYSGOOD) : nullptr) != 0) {
    perror("attach");
    kill(child, SIGKILL);
    return 1;
  }
  for (int i = 0; i < 8 && WIFSTOPPED(status = wait_for(child)); i++) {
    user_regs_struct r{};
    ptrace(PTRACE_GETREGS, child, nullptr, &r);
    const bool at_call = WSTOPSIG(status) != SIGSTOP;
    printf("%x, call %lld, in the program %d\n", static_cast<unsigned>(status),
           at_call ? static_cast<long long>(r.orig_rax) : -1, in_program(r.rip) || !computes);
    if (computes) {
      printf("r15 %llx, gs %llx\n", r.r15, r.gs_base);
      break;
    }
    ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
  }
  printf("%x\n", static_cast<unsigned>(status));
  kill(child, SIGKILL);
  wait_for(child);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const char* const what = argv[1];
  shared = static_cast<Shared*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (pipe(pipe_ends) != 0) return 3;
  if (strstr(what, "_stopped") != nullptr || strstr(what, "_computing") != nullptr)
    return trace_stopped(what[0] == 's', strstr(what, "_computing") != nullptr);
  const bool by_file = strcmp(what, "memory") == 0;
  if (by_file || strcmp(what, "writes") == 0) {
    code = static_cast<unsigned char*>(
        mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    memcpy(code, "\xb8\1\0\0\0\xc3", 6);
    const pid_t child = fork();
    if (child == 0) be_child(what);
    while (shared->ready == 0) usleep(100);
    write_code(child, by_file);
    shared->go = 1;
    printf("%x\n", static_cast<unsigned>(wait_for(child)));
    return 0;
  }
  const bool threads = strcmp(what, "threads") == 0, seizes = strcmp(what, "seize") == 0;
  const pid_t child = fork();
  if (child == 0) be_child(what);
  while (shared->ready < (threads ? 4 : 1)) usleep(100);
  if (seizes || strcmp(what, "registers") == 0) shared->go = 1;
  while (seizes && shared->handled == 0) usleep(100);
  if (seizes || threads) usleep(2000);
  if (ptrace(seizes ? PTRACE_SEIZE : PTRACE_ATTACH, child, nullptr, nullptr) != 0) {
    perror("attach");
    kill(child, SIGKILL);
    return 1;
  }
  if (seizes) ptrace(PTRACE_INTERRUPT, child, nullptr, nullptr);
  printf("stop %x\n", static_cast<unsigned>(wait_for(child)));
  if (strcmp(what, "registers") == 0) {
    // It may not have reached its loop yet.
    ptrace(PTRACE_CONT, child, nullptr, nullptr);
    while (shared->handled == 0) usleep(100);
    usleep(1000);
    kill(child, SIGSTOP);
    wait_for(child);
  }
  shared->go = 1;
  if (seizes || strcmp(what, "registers") == 0) {
    print_registers(child);
    kill(child, SIGKILL);
    wait_for(child);
  } else if (threads) {
    // A thread that slept in a system call still sleeps in it, and receives what it waits for.
    user_regs_struct r{};
    ptrace(PTRACE_GETREGS, child, nullptr, &r);
    printf("gs %llx\n", r.gs_base);
    ptrace(PTRACE_DETACH, child, nullptr, nullptr);
    shared->go = 2;
    if (write(pipe_ends[1], "ab", 2) != 2) return 4;
    printf("%x\n", static_cast<unsigned>(wait_for(child)));
  } else if (strcmp(what, "calls") == 0) {
    trace_calls(child);
  } else {
    continue_to_end(child);
  }
  return 0;
}
