// runner FILE ROUNDS TIMES MICROSECONDS: runs every sequence of a case file TIMES times, from a state that the file
// gives, and writes the state after each. A timer interrupts each run up to MICROSECONDS (0: none) after its start; the
// last word of the output is the number of interrupts.
//
// It does little else, so that a single-stepper can run it: memory is mapped and unmapped by system calls.
#include "tests/engine/differential/case_file.hpp"
#include "tests/engine/programs/bare.hpp"

using namespace tally::differential;

extern "C" {
Result result;
Descriptor now;
uint64_t entry_now, runner_stack, level, ticks;
alignas(64) uint64_t vectors_in[32 * 8];
alignas(64) uint8_t x87_in[512];
void enter_code();
void on_tick();
extern const char code_left[];
}

static_assert(offsetof(Descriptor, registers) == 32 && offsetof(Descriptor, flags) == 160);
static_assert(offsetof(Result, registers) == 0 && offsetof(Result, flags) == 128 && offsetof(Result, x87) == 256);
static_assert(offsetof(Result, vectors) == 768 && offsetof(Result, masks) == 2816);

asm(R"(
        .globl enter_code, code_left
enter_code:
        pushq %rbx
        pushq %rbp
        pushq %r12
        pushq %r13
        pushq %r14
        pushq %r15
        fxrstor64 x87_in
        cmpq $1, level
        jb 1f
        je 2f
        .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        vmovdqu64 vectors_in+64*\n, %zmm\n
        .endr
        .irp n, 0,1,2,3,4,5,6,7
        kmovq vectors_in+64*\n, %k\n
        .endr
        jmp 3f
2:      .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
        vmovdqu vectors_in+64*\n, %ymm\n
        .endr
        jmp 3f
1:      .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
        movdqu vectors_in+64*\n, %xmm\n
        .endr
3:      movq %rsp, runner_stack
        pushq now+160
        popfq
        movq now+32, %rax
        movq now+40, %rcx
        movq now+48, %rdx
        movq now+56, %rbx
        movq now+64, %rsp
        movq now+72, %rbp
        movq now+80, %rsi
        movq now+88, %rdi
        .irp n, 8,9,10,11,12,13,14,15
        movq now+32+8*\n, %r\n
        .endr
        jmpq *entry_now
code_left:
        movq %rax, result
        movq %rcx, result+8
        movq %rdx, result+16
        movq %rbx, result+24
        movq %rsp, result+32
        movq %rbp, result+40
        movq %rsi, result+48
        movq %rdi, result+56
        .irp n, 8,9,10,11,12,13,14,15
        movq %r\n, result+8*\n
        .endr
        movq runner_stack, %rsp
        pushfq
        popq result+128
        pushq $0x202
        popfq
        fxsave64 result+256
        fninit
        cmpq $1, level
        jb 1f
        je 2f
        .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        vmovdqu64 %zmm\n, result+768+64*\n
        .endr
        .irp n, 0,1,2,3,4,5,6,7
        kmovq %k\n, result+2816+8*\n
        .endr
        vzeroupper
        jmp 3f
2:      .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
        vmovdqu %ymm\n, result+768+64*\n
        .endr
        vzeroupper
        jmp 3f
1:      .irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
        movdqu %xmm\n, result+768+64*\n
        .endr
3:      popq %r15
        popq %r14
        popq %r13
        popq %r12
        popq %rbp
        popq %rbx
        ret
# With the restorer that case_file.hpp describes.
        .globl on_tick
on_tick:
        incq ticks
        ret
)");

namespace {

/// Records the fault and continues after the instruction. The flags that its skipped end would have set are
/// unspecified.
void on_fault(int signal, bare::Info* info, ucontext_t* context) {
  using bare::reg;
  auto ip = static_cast<uint64_t>(reg(context, REG_RIP));
  auto flags = static_cast<uint64_t>(reg(context, REG_EFL));
  const auto trap = static_cast<uint64_t>(reg(context, REG_TRAPNO));
  const uint64_t offset = ip - now.code;
  const bool inside = offset < now.code_bytes;
  const uint8_t length = inside ? reinterpret_cast<const uint8_t*>(now.lengths)[offset] : uint8_t{0};
  const bool executed = trap == 1 || trap == 3;  // int3 and icebp
  if (!executed && !(length & flags_exact)) flags &= ~arithmetic_flags;
  if (result.faults < fault_limit) {
    static const int order[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                  REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    Fault& fault = result.fault[result.faults];
    fault.signal = static_cast<uint64_t>(signal);
    fault.code = static_cast<uint64_t>(info->code);
    fault.address = static_cast<uint64_t>(bare::address(info->fault));
    fault.trap = trap;
    fault.error = static_cast<uint64_t>(reg(context, REG_ERR));
    fault.ip = ip;
    fault.flags = flags;
    for (int i = 0; i < 16; ++i) fault.registers[i] = static_cast<uint64_t>(reg(context, order[i]));
  }
  ++result.faults;
  if (!inside || (!executed && length == 0) || result.faults > 4 * fault_limit) {
    result.lost = 1;
    ip = reinterpret_cast<uint64_t>(code_left);
  } else if (!executed) {
    ip += length & 15u;
  }
  reg(context, REG_RIP) = static_cast<greg_t>(ip);
  reg(context, REG_EFL) = static_cast<greg_t>(flags);
}

int open_case(const char* path) {
  const long fd = bare::call(__NR_open, bare::address(path), 0, 0);
  bare::check(fd >= 0);
  return static_cast<int>(fd);
}

void read(int fd, void* to, uint64_t bytes, uint64_t at) {
  bare::check(bare::call(__NR_pread64, fd, bare::address(to), static_cast<long>(bytes), static_cast<long>(at)) ==
              static_cast<long>(bytes));
}

void write(const void* from, uint64_t bytes) {
  bare::check(bare::call(__NR_write, 1, bare::address(from), static_cast<long>(bytes)) == static_cast<long>(bytes));
}

long number(const char* text) {
  long value = 0;
  for (; *text != 0; ++text) value = value * 10 + (*text - '0');
  return value;
}

void* at(uint64_t address) { return reinterpret_cast<void*>(address); }

void map_at(uint64_t address, uint64_t bytes, long protection, long flags, int fd) {
  constexpr long fixed = 0x10;
  const auto where = static_cast<long>(address);
  bare::check(bare::call(__NR_mmap, where, static_cast<long>(bytes), protection, flags | fixed, fd, 0) == where);
}

void make_sandbox(int fd, const Header& header) {
  using namespace bare;
  constexpr long is_private = 2, anonymous = 0x20;
  map_at(header.base, header.bytes, prot_read | prot_exec, is_private, fd);
  map_at(header.data_base, sandbox_bytes, prot_read | prot_write, is_private | anonymous, -1);
  read(fd, at(header.data_base + constants_at), page_bytes, header.constants_at);
  protect(at(header.data_base + constants_at), page_bytes, prot_read);
  protect(at(header.data_base + guard_at), page_bytes, prot_none);
  protect(at(header.data_base + second_guard_at), page_bytes, prot_none);
}

void handle_faults() {
  static uint8_t stack[1 << 16];
  const stack_t alternate = {stack, 0, sizeof stack};
  bare::check(bare::call(__NR_sigaltstack, bare::address(&alternate), 0) == 0);
  static const int signals[] = {bare::sig_segv, bare::sig_bus, bare::sig_ill, bare::sig_fpe, bare::sig_trap};
  for (const int signal : signals) bare::handle(signal, on_fault, bare::sa_onstack);
}

/// The x87 registers and the vectors have random contents, their control registers the values of the descriptor.
void make_state(int fd, const Header& header) {
  read(fd, vectors_in, sizeof vectors_in, header.pool_at + now.vectors);
  read(fd, x87_in, sizeof x87_in, header.pool_at + now.vectors + sizeof vectors_in);
  auto* words = reinterpret_cast<uint32_t*>(x87_in);
  words[0] = now.x87_control;  // and a status of zero
  words[1] = now.x87_full;     // which registers are not empty
  words[2] = words[3] = words[4] = words[5] = 0;
  words[6] = now.mxcsr;
  words[7] = 0xffff;
  constexpr long arch_set_fs = 0x1002;
  bare::check(bare::call(__NR_arch_prctl, arch_set_fs, fs_base) == 0);
}

void handle_ticks() {
  const bare::Action action{reinterpret_cast<void*>(on_tick), bare::sa_restorer | bare::sa_onstack | bare::sa_restart,
                            bare::restorer, 0};
  bare::check(bare::call(__NR_rt_sigaction, bare::sig_alrm, bare::address(&action), 0, 8) == 0);
}

/// One-shot: however long a tick takes, the code continues.
void tick_in(long microseconds) {
  const long timer[] = {0, 0, 0, microseconds};
  bare::check(bare::call(__NR_setitimer, 0, bare::address(timer), 0) == 0);
}

void leave_state(int fd, const Header& header, long tick_after) {
  read(fd, at(header.data_base + stack_at), stack_bytes, header.pool_at + now.memory);
  read(fd, at(header.data_base + data_at), data_bytes, header.pool_at + now.memory + stack_bytes);
  make_state(fd, header);
  entry_now = now.entry;
  result.faults = result.lost = 0;
  *static_cast<uint64_t*>(at(header.data_base + exit_at)) = reinterpret_cast<uint64_t>(code_left);
  tick_in(tick_after);
  enter_code();
}

void run_one(int fd, const Header& header, uint64_t index, long times, long most_us) {
  read(fd, &now, sizeof now, header.descriptors_at + index * sizeof now);
  for (; times > 0; --times) leave_state(fd, header, (most_us * (times % 16 + 1)) / 16);
  write(&result, sizeof result);
  write(at(header.data_base + stack_at), stack_bytes);
  write(at(header.data_base + data_at), data_bytes);
}

}  // namespace

extern "C" int program(int argc, char** argv, char**) {
  bare::check(argc == 5);
  const int fd = open_case(argv[1]);
  Header header;
  read(fd, &header, sizeof header, 0);
  make_sandbox(fd, header);
  handle_faults();
  level = bare::has(bare::avx512) ? 2 : bare::has(bare::avx2) ? 1 : 0;
  handle_ticks();
  for (long round = number(argv[2]); round > 0; --round)
    for (uint64_t i = 0; i < header.sequences; ++i) run_one(fd, header, i, number(argv[3]), number(argv[4]));
  tick_in(0);
  write(&ticks, sizeof ticks);
  return 0;
}
