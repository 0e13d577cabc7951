// Instructions that compilers do not generate, in a page of their own: the effects of each, or what the handler of its
// fault is shown. Standard output must be the same natively and under the engine, on every processor.
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdint>
#include <initializer_list>

namespace {

struct Form {
  const char* name;
  const char* code;  ///< hexadecimal; the code returns after it
};

// Each begins with `cmp eax, eax` or `cmp eax, -1`, whose flags are needed after it.
constexpr Form forms[] = {
    {"xbegin to the next instruction", "39c0 c7f800000000"},
    {"xbegin over an instruction", "39c0 c7f802000000 b107 90"},
    {"xbegin with a displacement of 16 bits", "39c0 66c7f80200 b107 90"},
    {"xbegin with REX.W", "39c0 48c7f800000000"},
    {"xbegin to an address of the kernel", "39c0 c7f800000080"},
    {"jmp to an address of the kernel", "39c0 e900000080"},
    {"jz to an address of the kernel", "39c0 0f8400000080"},
    {"call of an address of the kernel", "39c0 e800000080"},
    {"xend outside of a transaction", "39c0 0f01d5"},
    {"xtest outside of a transaction", "83f8ff 0f01d6"},
    {"xabort outside of a transaction", "39c0 c6f803"},
    {"jkzd", "39c0 c5f88400000000"},
    {"jknzd over an instruction", "39c0 c5f88502000000 b107"},
    {"loop with an operand size prefix", "39c0 66e200"},
    {"loope with an operand size prefix", "39c0 66e100"},
    {"jrcxz with an operand size prefix", "31c9 66e300"},
    {"jecxz with both prefixes", "31c9 6667e300"},
    {"jz with an operand size prefix", "39c0 66740090"},
    {"jz near with an operand size prefix", "39c0 660f8400009090"},
    {"jmp with an operand size prefix", "39c0 66eb0090"},
    {"call with an operand size prefix", "39c0 66e800009090"},
    {"loop with REX.W and an operand size prefix", "39c0 6648e20090"},
    {"vmfunc", "39c0 0f01d4"},
    {"vmlaunch", "39c0 0f01c2"},
    {"vmxoff", "39c0 0f01c4"},
    {"vmread", "39c0 0f78c1"},
    {"invept", "39c0 660f388006"},
    {"vmptrld", "39c0 0fc737"},
    {"enclu", "39c0 0f01d7"},
    {"encls", "39c0 0f01cf"},
    {"getsec", "39c0 0f37"},
    {"rdsspq", "39c0 f3480f1ec8"},
    {"incsspq", "39c0 f3480faee8"},
    {"saveprevssp", "39c0 f30f01ea"},
    {"setssbsy", "39c0 f30f01e8"},
    {"clui", "39c0 f30f01ee"},
    {"testui", "39c0 f30f01ed"},
    {"serialize", "39c0 0f01e8"},
    {"lar of nothing", "39c0 31d2 0f02c2"},
    {"verr of nothing", "31d2 39c0 0f00e2"},
    {"verw of the stack's segment", "8cd2 83f800 0f00ea"},
    {"arpl's opcode", "39c0 63c8"},
    {"hlt", "39c0 f4"},
    {"cli", "39c0 fa"},
    {"iretq", "488d0d1f000000 4989e4 6a2b 4154 9c 6a33 51 39c0 48cf 9090909090909090909090909090909090 90"},
    {"iretq in a nested task",
     "488d0d29000000 4989e4 9c 810c2400400000 9d 6a2b 4154 9c 6a33 51 39c0 48cf "
     "90909090909090909090909090909090909090"},
    {"iret of 32 bits in a nested task", "9c 810c2400400000 9d 39c0 cf"},
    {"lretq in a nested task", "488d0d1b000000 9c 810c2400400000 9d 6a33 51 48cb 9090909090909090909090909090909090"},
    {"a nested task's flag over an instruction that faults", "9c 810c2400400000 9d 39c0 8b0425f0ffffff"},
};

// Calls of the hypervisor, after ZF and after CF. The call of the other vendor's processors is left out: some
// hypervisors overwrite it with the right form, if they can.
constexpr Form intel_forms[] = {{"vmcall after ZF", "39c0 0f01c1"}, {"vmcall after CF", "83f801 f9 0f01c1"}};
constexpr Form amd_forms[] = {{"vmmcall after ZF", "39c0 0f01d9"}, {"vmmcall after CF", "83f801 f9 0f01d9"}};

constexpr uint64_t nested_task = 0x4000, shown_flags = 0x240cd5 | nested_task, page = 4096;
constexpr unsigned long code_at = 0x10000000, data_at = 0x20000000;
sigjmp_buf after;

struct Fault {
  int signal, code;
  long trap, error;
  uint64_t address, ip, flags;
} fault;

void on_fault(int signal, siginfo_t* info, void* context) {
  const auto& reg = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  fault = {signal,
           info->si_code,
           static_cast<long>(reg[REG_TRAPNO]),
           static_cast<long>(reg[REG_ERR]),
           reinterpret_cast<uint64_t>(info->si_addr),
           static_cast<uint64_t>(reg[REG_RIP]),
           static_cast<uint64_t>(reg[REG_EFL])};
  siglongjmp(after, 1);
}

unsigned char digit(char c) { return static_cast<unsigned char>(c <= '9' ? c - '0' : c - 'a' + 10); }

unsigned char* assemble(const char* text, unsigned char* to) {
  while (*text != 0) {
    if (*text == ' ') {
      ++text;
      continue;
    }
    *to++ = static_cast<unsigned char>(digit(text[0]) << 4 | digit(text[1]));
    text += 2;
  }
  return to;
}

struct Registers {
  uint64_t a = 0x1122334455667788, c = 3, d = 0, b = 5, flags = 0;
};

__attribute__((noinline)) void call(Registers& r) {
  register uint64_t* const flags asm("r9") = &r.flags;
  asm volatile(
      "push %%rbp; mov %%rsp, %%rbp; mov %5, %%r11d; mov %6, %%edi; mov %6, %%esi; call *%%r11; pushfq; pop %%r8;"
      "mov %%rbp, %%rsp; pop %%rbp; cld; mov %%r8, (%%r9)"
      : "+a"(r.a), "+c"(r.c), "+d"(r.d), "+b"(r.b)
      : "r"(flags), "i"(code_at + 64), "i"(data_at)
      : "rdi", "rsi", "r8", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc");
}

void run(const Form& form) {
  auto* const code = reinterpret_cast<unsigned char*>(code_at);
  mprotect(code, page, PROT_READ | PROT_WRITE);
  memset(code, 0xcc, page);
  *assemble(form.code, code + 64) = 0xc3;
  mprotect(code, page, PROT_READ | PROT_EXEC);
  fault = {};
  Registers r;
  if (sigsetjmp(after, 1) == 0) {
    call(r);
    printf("%s: rax %lx rcx %lx rdx %lx rbx %lx flags %lx\n", form.name, r.a, r.c, r.d, r.b, r.flags & shown_flags);
  } else {
    printf("%s: signal %d code %d trap %ld error %lx address %lx ip %lx flags %lx\n", form.name, fault.signal,
           fault.code, fault.trap, fault.error, fault.address, fault.ip, fault.flags & shown_flags);
  }
  asm volatile("pushfq; andq $~0x4000, (%%rsp); popfq" ::: "cc", "memory");  // no handler's return clears it
  fflush(stdout);
}

}  // namespace

int main() {
  static unsigned char stack[1 << 17];
  const stack_t alternate = {stack, 0, sizeof stack};
  sigaltstack(&alternate, nullptr);
  struct sigaction action = {};
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  action.sa_sigaction = on_fault;
  for (const int signal : {SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV}) sigaction(signal, &action, nullptr);
  for (const unsigned long at : {code_at, data_at})
    mmap(reinterpret_cast<void*>(at), page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  for (const Form& form : forms) run(form);
  for (const Form& form : __builtin_cpu_is("intel") ? intel_forms : amd_forms) run(form);
}
