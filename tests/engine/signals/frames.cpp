// What the kernel checks when a handler returns (rt_sigreturn), field by field: a handler changes the frame; the
// program prints its state afterwards, or what the handler of the fault is shown. The argument names the rule.
#include <setjmp.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "log.hpp"

namespace {

using namespace signals;

constexpr uint64_t arithmetic = 0xcd5, nested_task = 0x4000, identification = 0x200000, alignment_check = 0x40000;
constexpr uint64_t shown_flags = arithmetic | nested_task | identification | alignment_check | 0x10000;
constexpr uint32_t usual_mxcsr = 0x1f80, other_mxcsr = 0x7f80;

sigjmp_buf back;
void (*edit)(ucontext_t*);
int faults;
volatile bool reports_marks;
uint64_t shown_at_faults = shown_flags;

/// struct sigcontext from its segments on, whose fields glibc does not name.
struct Segments {
  uint16_t cs, gs, fs, ss;
};
Segments& segments_of(ucontext_t* c) {
  void* const at = &c->uc_mcontext.gregs[REG_CSGSFS];
  return *static_cast<Segments*>(at);
}
uint16_t& code_segment(ucontext_t* c) { return segments_of(c).cs; }
uint16_t& stack_segment(ucontext_t* c) { return segments_of(c).ss; }
uint8_t* vectors(ucontext_t* c) { return reinterpret_cast<uint8_t*>(c->uc_mcontext.fpregs); }
template <class T>
T& field(ucontext_t* c, size_t offset) {
  return *reinterpret_cast<T*>(vectors(c) + offset);
}
// struct _fpx_sw_bytes, at the end of the legacy area; the header of XSAVE after it.
constexpr size_t mxcsr_at = 24, xmm0_at = 160, magic_at = 464, extended_at = 468, features_at = 472, size_at = 480,
                 header_at = 512;

void on_user(int, siginfo_t*, void* context) { edit(static_cast<ucontext_t*>(context)); }

void on_mark(int signal, siginfo_t* info, void*) {
  if (reports_marks) say("  handles %d code %d\n", signal, info->si_code);
}

void say_address(uint64_t ip) {
  const auto low = reinterpret_cast<uint64_t>(&say_address) & ~uint64_t{0xffffff};
  const bool in_code = ip - low < 0x2000000 || (ip >> 40) == 0x7f || (ip >> 40) == 0x55;
  if (in_code)
    say(" ip in code");
  else
    say(" ip %llx", static_cast<unsigned long long>(ip));
}

void on_fault(int signal, siginfo_t* info, void* context) {
  auto* c = static_cast<ucontext_t*>(context);
  const auto& reg = c->uc_mcontext.gregs;
  say("  signal %d code %d trap %lld error %llx address %lx", signal, info->si_code, reg[REG_TRAPNO], reg[REG_ERR],
      reinterpret_cast<unsigned long>(info->si_addr));
  say_address(static_cast<uint64_t>(reg[REG_RIP]));
  say(" rax %llx flags %llx cs %x ss %x mxcsr %x xmm0 %x mask %llx\n", reg[REG_RAX],
      static_cast<unsigned long long>(static_cast<uint64_t>(reg[REG_EFL]) & shown_at_faults), code_segment(c),
      stack_segment(c), field<uint32_t>(c, mxcsr_at), field<uint32_t>(c, xmm0_at),
      static_cast<unsigned long long>(mask_of(c)));
  if (++faults > 200) _exit(3);
  siglongjmp(back, 1);
}

struct State {
  uint64_t flags, rax;
  uint32_t xmm0, mxcsr;
  uint16_t control, ss;
};

/// A signal while xmm0, MXCSR and the x87 control word hold known values; and their values afterwards.
__attribute__((noinline)) void signalled(uint64_t flags_before, State& after) {
  static uint32_t pattern[4] = {0x11223344, 0x55667788, 1, 2}, mxcsr = other_mxcsr, usual = usual_mxcsr;
  static uint16_t control = 0x27f, usual_control = 0x37f;
  static uint32_t found[4];
  static uint32_t found_mxcsr;
  static uint16_t found_control, found_ss;
  uint64_t found_flags = 0, result = 0;
  const long process = getpid(), thread = syscall(SYS_gettid);
  asm volatile(
      "subq $256, %%rsp\n"
      "movups %[pattern], %%xmm0\n"
      "ldmxcsr %[mxcsr]\n"
      "fldcw %[control]\n"
      "pushq %[before]\n"
      "popfq\n"
      "syscall\n"
      "pushfq\n"
      "popq %[flags]\n"
      "pushq $0x202\n"
      "popfq\n"
      "cld\n"
      "movups %%xmm0, %[found]\n"
      "stmxcsr %[found_mxcsr]\n"
      "fnstcw %[found_control]\n"
      "movw %%ss, %[found_ss]\n"
      "ldmxcsr %[usual]\n"
      "fldcw %[usual_control]\n"
      "addq $256, %%rsp\n"
      : "=a"(result), [flags] "=&r"(found_flags), [found] "=m"(found), [found_mxcsr] "=m"(found_mxcsr),
        [found_control] "=m"(found_control), [found_ss] "=m"(found_ss)
      : "a"(SYS_tgkill), "D"(process), "S"(thread), "d"(SIGUSR1), [before] "r"(flags_before), [pattern] "m"(pattern),
        [mxcsr] "m"(mxcsr), [control] "m"(control), [usual] "m"(usual), [usual_control] "m"(usual_control)
      : "rcx", "r11", "xmm0", "memory", "cc");
  after = {found_flags, result, found[0], found_mxcsr, found_control, found_ss};
}

void reset_registers() {
  static const uint32_t usual = usual_mxcsr;
  asm volatile("pushq $0x202; popfq; fninit; ldmxcsr %0" ::"m"(usual) : "cc", "memory");
}

/// The handler of SIGUSR1 does this to its frame.
void with(const char* name, void (*change)(ucontext_t*), uint64_t flags_before = 0x202) {
  say("%s\n", name);
  edit = change;
  State state{};
  if (sigsetjmp(back, 1) == 0) {
    signalled(flags_before, state);
    say("  goes on: rax %llx flags %llx ss %x mxcsr %x xmm0 %x control %x mask %llx\n",
        static_cast<unsigned long long>(state.rax), static_cast<unsigned long long>(state.flags & shown_flags),
        state.ss, state.mxcsr, state.xmm0, state.control, static_cast<unsigned long long>(mask_now()));
  }
  reset_registers();
  change_mask(SIG_SETMASK, 0);
}

/// The same in a child, which may be killed by it, or which continues without the engine.
void in_child(const char* name, void (*change)(ucontext_t*)) {
  const pid_t child = fork();
  if (child == 0) {
    with(name, change);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  say("  child: %s %d\n", WIFSIGNALED(status) ? "killed by" : "exit",
      WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

uint8_t* two_pages() {
  static uint8_t* const at = [] {
    auto* made =
        static_cast<uint8_t*>(mmap(nullptr, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(made + 2 * 4096, 4096, PROT_NONE);
    return made;
  }();
  return at;
}

// --- flags ---

void flags() {
  with("nothing is changed", [](ucontext_t*) {});
  with("all flags are set but the trap flag", [](ucontext_t* c) { c->uc_mcontext.gregs[REG_EFL] = 0xfffffeff; });
  with("none is", [](ucontext_t* c) { c->uc_mcontext.gregs[REG_EFL] = 0; });
  const uint64_t kept = 0x202 | nested_task | identification;
  with(
      "none is, where ID and NT were", [](ucontext_t* c) { c->uc_mcontext.gregs[REG_EFL] = 0; }, kept);
  with(
      "nothing is changed, where ID and NT were", [](ucontext_t*) {}, kept);
  with("the alignment check is set", [](ucontext_t* c) { c->uc_mcontext.gregs[REG_EFL] |= alignment_check; });
  with("bits above 32 are set", [](ucontext_t* c) { c->uc_mcontext.gregs[REG_EFL] |= 0x7fffffff00000000; });
}

// --- segments ---

void segments() {
  with("the code segment without its privilege", [](ucontext_t* c) { code_segment(c) = 0x30; });
  with("the stack segment without its privilege", [](ucontext_t* c) { stack_segment(c) = 0x28; });
  with("other data segments are of no meaning", [](ucontext_t* c) { c->uc_mcontext.gregs[REG_CSGSFS] |= 0x2b2b0000; });
  with("no stack segment, and not strictly", [](ucontext_t* c) {
    c->uc_flags &= ~4ul;
    stack_segment(c) = 0;
  });
  with("a code segment for the stack, and not strictly", [](ucontext_t* c) {
    c->uc_flags = 0;
    stack_segment(c) = 0x33;
  });
  with("all flags of the frame are set", [](ucontext_t* c) { c->uc_flags = ~0ul; });
}

void other_segments() {
  in_child("no code segment", [](ucontext_t* c) { code_segment(c) = 0; });
  in_child("the kernel's code segment", [](ucontext_t* c) { code_segment(c) = 0x10; });
  in_child("a code segment beyond the table", [](ucontext_t* c) { code_segment(c) = 0xfff8; });
  in_child("a data segment for code", [](ucontext_t* c) { code_segment(c) = 0x2b; });
  in_child("no stack segment, strictly", [](ucontext_t* c) { stack_segment(c) = 0; });
  in_child("a code segment for the stack, strictly", [](ucontext_t* c) { stack_segment(c) = 0x33; });
  in_child("a stack segment of nothing, strictly", [](ucontext_t* c) { stack_segment(c) = 0x7f; });
}

/// mov eax, 1 and a 32-bit system call would be exit(2): ud2 shows that it was reached.
void narrow_code() {
  in_child("code of 32 bits", [](ucontext_t* c) {
    static auto* const code =
        static_cast<uint8_t*>(mmap(reinterpret_cast<void*>(0x10000000), 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
    static const uint8_t narrow[] = {0x48, 0x31, 0xc0, 0x48, 0x0f, 0x0b};  // of 32 bits: dec eax; xor eax, eax; dec eax
    memcpy(code, narrow, sizeof narrow);
    code_segment(c) = 0x23;
    c->uc_mcontext.gregs[REG_RIP] = reinterpret_cast<greg_t>(code);
  });
}

// --- state that the kernel keeps ---

/// Until the next trap every frame shows the last trap of the thread.
void last_trap() {
  const auto show = [](ucontext_t* c) {
    const auto& reg = c->uc_mcontext.gregs;
    say("  trap %lld error %llx address %llx\n", reg[REG_TRAPNO], reg[REG_ERR], reg[REG_CR2]);
  };
  const auto after = [](const char* name, void (*fail)()) {
    say("%s\n", name);
    if (sigsetjmp(back, 1) == 0) fail();
  };
  shown_at_faults &= ~arithmetic;  // flags that the instruction overwrites may be the engine's
  with("before any", show);
  after("a page fault", [] { *reinterpret_cast<volatile int*>(0x123000) = 1; });
  with("after it", show);
  after("an illegal instruction", [] { asm volatile("ud2"); });
  with("after it", show);
  after("an address that is none", [] { asm volatile("movb $1, (%0)" ::"r"(uint64_t{1} << 63) : "memory"); });
  with("after it", show);
  handle(SIGTRAP, on_mark);
  asm volatile("int3");
  with("after a breakpoint", show);
}

// --- the address to continue at ---

void addresses() {
  with("to address 0", [](ucontext_t* c) { c->uc_mcontext.gregs[REG_RIP] = 0; });
  with("to the kernel", [](ucontext_t* c) { c->uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(0xffff800000001000); });
  with("to data", [](ucontext_t* c) { c->uc_mcontext.gregs[REG_RIP] = 0x1000; });
}

// --- vector registers ---

void vector_registers() {
  with("no state", [](ucontext_t* c) { c->uc_mcontext.fpregs = nullptr; });
  with("MXCSR and xmm0 are changed", [](ucontext_t* c) {
    field<uint32_t>(c, mxcsr_at) = 0x1fa0;
    field<uint32_t>(c, xmm0_at) = 0x99;
  });
  with("reserved bits of MXCSR", [](ucontext_t* c) { field<uint32_t>(c, mxcsr_at) = 0xffff1f80; });
  with("the first magic number is wrong", [](ucontext_t* c) { field<uint32_t>(c, magic_at) = 0; });
  with("the second magic number is wrong",
       [](ucontext_t* c) { field<uint32_t>(c, field<uint32_t>(c, size_at)) = 0x1234; });
  with("a size that is too small", [](ucontext_t* c) { field<uint32_t>(c, size_at) = 512; });
  with("a size that is too large", [](ucontext_t* c) { field<uint32_t>(c, size_at) = 1u << 20; });
  with("a size beyond the extended one", [](ucontext_t* c) { field<uint32_t>(c, extended_at) = 600; });
  with("an extended size that is too large", [](ucontext_t* c) { field<uint32_t>(c, extended_at) = 1u << 20; });
  with("no features", [](ucontext_t* c) { field<uint64_t>(c, features_at) = 0; });
  with("all features", [](ucontext_t* c) { field<uint64_t>(c, features_at) = ~uint64_t{0}; });
  with("x87 alone", [](ucontext_t* c) { field<uint64_t>(c, features_at) = 1; });
  with("nothing is in use", [](ucontext_t* c) { field<uint64_t>(c, header_at) = 0; });
  with("unknown state is in use", [](ucontext_t* c) { field<uint64_t>(c, header_at) |= uint64_t{1} << 62; });
  with("a compact header", [](ucontext_t* c) { field<uint64_t>(c, header_at + 8) = uint64_t{1} << 63; });
  with("the rest of the header", [](ucontext_t* c) { field<uint64_t>(c, header_at + 24) = 1; });
}

void vector_addresses() {
  with("an address that is not aligned",
       [](ucontext_t* c) { c->uc_mcontext.fpregs = reinterpret_cast<fpregset_t>(vectors(c) + 8); });
  with("address 64", [](ucontext_t* c) { c->uc_mcontext.fpregs = reinterpret_cast<fpregset_t>(64); });
  with("an address of the kernel",
       [](ucontext_t* c) { c->uc_mcontext.fpregs = reinterpret_cast<fpregset_t>(0xffffffff80000000); });
  with("what is no address",
       [](ucontext_t* c) { c->uc_mcontext.fpregs = reinterpret_cast<fpregset_t>(0x8000000000000000); });
  with("the state elsewhere", [](ucontext_t* c) {
    uint8_t* const to = two_pages() + 64;
    memcpy(to, vectors(c), field<uint32_t>(c, extended_at));
    c->uc_mcontext.fpregs = reinterpret_cast<fpregset_t>(to);
  });
  with("the state up to the last byte that there is", [](ucontext_t* c) {
    uint8_t* const to = two_pages() + 2 * 4096 - 512;
    memcpy(to, vectors(c), 512);
    *reinterpret_cast<uint32_t*>(to + magic_at) = 0;
    c->uc_mcontext.fpregs = reinterpret_cast<fpregset_t>(to);
  });
  with("the state beyond it", [](ucontext_t* c) {
    uint8_t* const to = two_pages() + 2 * 4096 - 576;
    memcpy(to, vectors(c), 576);
    c->uc_mcontext.fpregs = reinterpret_cast<fpregset_t>(to);
  });
}

void forced() {
  in_child("a bad state, and SIGSEGV is blocked from then on", [](ucontext_t* c) {
    c->uc_mcontext.fpregs = reinterpret_cast<fpregset_t>(64);
    mask_of(c) |= bit(SIGSEGV);
  });
  in_child("a bad state, and SIGSEGV is ignored", [](ucontext_t* c) {
    ignore(SIGSEGV);
    c->uc_mcontext.fpregs = reinterpret_cast<fpregset_t>(64);
  });
  in_child("a bad state, and SIGSEGV is as by default", [](ucontext_t* c) {
    by_default(SIGSEGV);
    c->uc_mcontext.fpregs = reinterpret_cast<fpregset_t>(64);
  });
}

/// Other signals are delivered after it, and on top of it.
void forced_among_others() {
  handle(SIGUSR2, on_mark, SA_ONSTACK);
  handle(SIGFPE, on_mark, SA_ONSTACK);
  reports_marks = true;
  with("a bad state, and a signal is released", [](ucontext_t* c) {
    change_mask(SIG_BLOCK, bit(SIGUSR2));
    send_to_thread(SIGUSR2);
    c->uc_mcontext.fpregs = reinterpret_cast<fpregset_t>(64);
  });
  with("a bad state, and a fault's signal is released", [](ucontext_t* c) {
    change_mask(SIG_BLOCK, bit(SIGFPE));
    send_to_thread(SIGFPE);
    c->uc_mcontext.fpregs = reinterpret_cast<fpregset_t>(64);
  });
}

// --- masks ---

void masks() {
  with("all signals are blocked", [](ucontext_t* c) { mask_of(c) = ~uint64_t{0}; });
  with("none is", [](ucontext_t* c) { mask_of(c) = 0; });
}

// --- the frame itself ---

void return_with(uint64_t stack) {
  asm volatile("mov %0, %%rsp; mov $15, %%eax; syscall; ud2" ::"r"(stack) : "memory");
  __builtin_unreachable();
}

void from(const char* name, uint64_t stack) {
  say("%s\n", name);
  if (sigsetjmp(back, 1) == 0) return_with(stack);
  reset_registers();
  say("  mask %llx\n", static_cast<unsigned long long>(mask_now()));
  change_mask(SIG_SETMASK, 0);
}

void frames() {
  const auto end = reinterpret_cast<uint64_t>(two_pages()) + 2 * 4096;
  from("no stack", 0);
  from("a stack that is not there", end + 256);
  from("a stack of the kernel", 0xffffffff80000000);
  from("what is no address", 0x8000000000000000);
  from("a frame that ends before its mask", end - 296);
  from("a frame that ends before its registers", end - 64);
}

// --- the alternate stack ---

void alternate_stacks() {
  static uint8_t other[1 << 16];
  static stack_t before;
  const auto say_stack = [](const char* what) {
    stack_t now;
    syscall(SYS_sigaltstack, nullptr, &now);
    say("  %s: %d bytes %zu flags %x\n", what, now.ss_sp == other, now.ss_size, static_cast<unsigned>(now.ss_flags));
  };
  syscall(SYS_sigaltstack, nullptr, &before);
  const auto restore = [&] { syscall(SYS_sigaltstack, &before, nullptr); };
  with("another one", [](ucontext_t* c) { c->uc_stack = {other, 0, sizeof other}; });
  say_stack("now");
  restore();
  with("none", [](ucontext_t* c) { c->uc_stack.ss_flags = SS_DISABLE; });
  say_stack("now");
  restore();
  with("one that is too small", [](ucontext_t* c) { c->uc_stack = {other, 0, 1024}; });
  say_stack("now");
  with("one with flags that do not exist", [](ucontext_t* c) { c->uc_stack = {other, 0x40, sizeof other}; });
  say_stack("now");
  with("one that disarms itself", [](ucontext_t* c) {
    c->uc_stack = {other, static_cast<int>(1u << 31), sizeof other};
  });
  say_stack("now");
  restore();
  // A handler on the alternate stack changes nothing by its return.
  handle(SIGUSR1, on_user, SA_ONSTACK);
  with("another one, from a handler on the stack", [](ucontext_t* c) { c->uc_stack = {other, 0, sizeof other}; });
  say_stack("now");
  handle(SIGUSR1, on_user);
}

/// MINSIGSTKSZ is the minimum, and where larger frames are allowed or requested, the value of AT_MINSIGSTKSZ.
void stack_sizes() {
  static uint8_t other[1 << 17];
  const size_t least = getauxval(AT_MINSIGSTKSZ);
  const auto attempt = [](size_t bytes) {
    const stack_t wanted = {other, 0, bytes};
    const stack_t none = {nullptr, SS_DISABLE, 0};
    const long r = syscall(SYS_sigaltstack, &wanted, nullptr);
    say(" %d", r == 0 ? 0 : errno);
    syscall(SYS_sigaltstack, &none, nullptr);
  };
  const auto attempts = [&] {
    for (const size_t bytes : {size_t{0}, size_t{2047}, size_t{2048}, least - 1, least, least + 1, least + 8192,
                               least + 16384, sizeof other})
      attempt(bytes);
    say("\n");
  };
  constexpr long get_permission = 0x1022, ask_permission = 0x1023;
  constexpr unsigned long tile_data = 18;
  const auto ask = [](const char* what) {
    const long r = syscall(SYS_arch_prctl, ask_permission, tile_data);
    uint64_t permitted = 0;
    const long known = syscall(SYS_arch_prctl, get_permission, &permitted);
    say("%s: %d, permitted %d %llx\n", what, r == 0 ? 0 : errno, known == 0 ? 0 : errno,
        static_cast<unsigned long long>(permitted));
  };
  attempts();
  const stack_t small = {other, 0, 2048};
  say("the least: %ld\n", syscall(SYS_sigaltstack, &small, nullptr));
  ask("tiles with a small stack");
  const stack_t none = {nullptr, SS_DISABLE, 0};
  syscall(SYS_sigaltstack, &none, nullptr);
  ask("tiles without one");
  attempts();
}

struct Rule {
  const char* name;
  void (*check)();
};
constexpr Rule rules[] = {{"flags", flags},
                          {"segments", segments},
                          {"other_segments", other_segments},
                          {"narrow_code", narrow_code},
                          {"last_trap", last_trap},
                          {"addresses", addresses},
                          {"vector_registers", vector_registers},
                          {"vector_addresses", vector_addresses},
                          {"forced", forced},
                          {"forced_among_others", forced_among_others},
                          {"masks", masks},
                          {"frames", frames},
                          {"alternate_stacks", alternate_stacks},
                          {"stack_sizes", stack_sizes}};

}  // namespace

int main(int count, char** words) {
  static uint8_t stack[1 << 17];
  const stack_t alternate = {stack, 0, sizeof stack};
  syscall(SYS_sigaltstack, &alternate, nullptr);
  handle(SIGUSR1, on_user);
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL}) handle(signal, on_fault, SA_ONSTACK);
  for (const Rule& rule : rules)
    if (count == 2 && strcmp(words[1], rule.name) == 0) {
      rule.check();
      return 0;
    }
  fprintf(stderr, "usage: signal_frames RULE\n");
  return 2;
}
