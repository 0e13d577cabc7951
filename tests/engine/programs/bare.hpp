// For programs without a C library: an entry point, system calls, signals and a check that reports its line.
#pragma once
#include <asm/unistd.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ucontext.h>

/// The program: returns 0 for success.
extern "C" int program(int argc, char** argv, char** envp);

asm(R"(
        .globl _start
_start: xorl %ebp, %ebp
        movl (%rsp), %edi
        leaq 8(%rsp), %rsi
        leaq 16(%rsp,%rdi,8), %rdx
        call program
        movl %eax, %edi
        movl $231, %eax
        syscall
        .globl restorer
restorer:
        movl $15, %eax
        syscall
)");

namespace bare {

inline long call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  long result;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

template <typename T>
long address(T* pointer) {
  return reinterpret_cast<long>(pointer);
}

[[noreturn]] inline void leave(int code) {
  for (;;) call(__NR_exit_group, code);
}

/// Ends the program with the line that failed.
inline void check(bool holds, int line = __builtin_LINE()) {
  if (holds) return;
  char text[] = "line 0000\n";
  for (int i = 8; i > 4; --i, line /= 10) text[i] = static_cast<char>('0' + line % 10);
  call(__NR_write, 2, address(text), sizeof text - 1);
  leave(1);
}

/// 16 hexadecimal digits and a line end to standard output; always the same number of instructions.
inline void print(uint64_t value) {
  static const char digits[] = "0123456789abcdef";
  char text[17];
  for (int i = 15; i >= 0; --i, value >>= 4) text[i] = digits[value & 15];
  text[16] = '\n';
  call(__NR_write, 1, address(text), sizeof text);
}

constexpr long prot_none = 0;
constexpr long prot_read = 1;
constexpr long prot_write = 2;
constexpr long prot_exec = 4;
constexpr size_t page = 4096;

inline uint8_t* map(size_t bytes, long protection) {
  constexpr long private_anonymous = 0x22;
  const long result = call(__NR_mmap, 0, static_cast<long>(bytes), protection, private_anonymous, -1, 0);
  check(result > 0 || result < -4095);
  return reinterpret_cast<uint8_t*>(result);
}

inline void protect(const void* at, size_t bytes, long protection) {
  check(call(__NR_mprotect, address(at), static_cast<long>(bytes), protection) == 0);
}

constexpr int sig_ill = 4;
constexpr int sig_trap = 5;
constexpr int sig_bus = 7;
constexpr int sig_fpe = 8;
constexpr int sig_usr1 = 10;
constexpr int sig_segv = 11;
constexpr int sig_usr2 = 12;
constexpr int sig_alrm = 14;
constexpr int sig_rt = 34;

constexpr uint64_t sa_siginfo = 4;
constexpr uint64_t sa_onstack = 0x08000000;
constexpr uint64_t sa_restorer = 0x04000000;
constexpr uint64_t sa_restart = 0x10000000;
constexpr uint64_t sa_nodefer = 0x40000000;
constexpr uint64_t sa_resethand = 0x80000000;

/// The beginning of the kernel's siginfo.
struct Info {
  int number, error, code, pad;
  union {
    void* fault;
    struct {
      int pid, uid;
      long value;
    } sender;
  };
};

using Handler = void(int, Info*, ucontext_t*);

struct Action {
  void* handler;
  uint64_t flags;
  void (*restorer)();
  uint64_t mask;
};

extern "C" void restorer();

inline Action action(int signal) {
  Action old{};
  check(call(__NR_rt_sigaction, signal, 0, address(&old), 8) == 0);
  return old;
}

inline void handle(int signal, Handler* handler, uint64_t flags = 0, uint64_t mask = 0) {
  const Action wanted{reinterpret_cast<void*>(handler), flags | sa_siginfo | sa_restorer, restorer, mask};
  check(call(__NR_rt_sigaction, signal, address(&wanted), 0, 8) == 0);
}

constexpr uint64_t bit(int signal) { return uint64_t{1} << (signal - 1); }

/// Blocks (0), unblocks (1) or sets (2) signals; returns the mask before.
inline uint64_t mask(int how, uint64_t set) {
  uint64_t old = 0;
  check(call(__NR_rt_sigprocmask, how, address(&set), address(&old), 8) == 0);
  return old;
}

inline void raise(int signal) { check(call(__NR_tgkill, call(__NR_getpid), call(__NR_gettid), signal) == 0); }

inline greg_t& reg(ucontext_t* context, int index) { return context->uc_mcontext.gregs[index]; }

/// Bits of CPUID leaf 7, EBX, if the system saves the vector state that they need: 5 is AVX2, 16 AVX-512F.
inline bool has(int feature) {
  uint32_t a = 1, b = 0, c = 0, d = 0;
  asm volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  constexpr uint32_t osxsave = 1u << 27;
  if ((c & osxsave) == 0) return false;
  uint32_t state = 0;
  asm volatile("xgetbv" : "=a"(state), "=d"(d) : "c"(0));
  const uint32_t needed = feature == 5 ? 0x06 : 0xe6;
  a = 7;
  c = 0;
  asm volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  return (b >> feature & 1) != 0 && (state & needed) == needed;
}

constexpr int avx2 = 5;
constexpr int avx512 = 16;

constexpr greg_t trap_flag = 0x100;

}  // namespace bare
