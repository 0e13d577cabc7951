// Instructions that the engine executes at their own address, with the trap flag, count what copied ones count: a hand
// count of each, and the single-stepper. These are
// - near branches with an operand-size prefix, far jumps and calls, and far returns that the engine does not emulate;
// - `sysenter`, `jkzd`, and instructions that the decoder does not know, which no processor of these tests executes;
// - stores into the code that executes them;
// - every instruction of a program that steps itself.
#include "tests/engine/expect.hpp"

namespace tally::engine_test {
namespace {

constexpr std::uint64_t Counts::*fields[] = {&Counts::instructions,   &Counts::conditional,    &Counts::taken,
                                             &Counts::direct_jumps,   &Counts::indirect_jumps, &Counts::direct_calls,
                                             &Counts::indirect_calls, &Counts::returns,        &Counts::far,
                                             &Counts::loads,          &Counts::stores,         &Counts::prefetches};

/// a + b * times.
Counts sum(Counts a, const Counts& b, std::uint64_t times) {
  for (const auto field : fields) a.*field += b.*field * times;
  return a;
}

/// Code for programs/own_address.cpp and what one execution counts.
struct Code {
  const char* name;
  const char* bytes;
  Counts row;
};

constexpr Counts loop{.instructions = 3, .conditional = 1, .taken = 1};
/// A trap of the program's own: inc [traps]; ret; mov eax, 15; syscall.
constexpr Counts trap{.instructions = 4, .returns = 1, .far = 1, .loads = 2, .stores = 1};

/// AMD processors read 16 bits of displacement with the prefix, Intel processors 32. Either code crashes on the other
/// one.
const Code at_own_address[] = {
    {"66 call", "66e800000000", {.instructions = 1, .direct_calls = 1, .stores = 1}},
    {"66 call, 16-bit displacement", "66e80000", {.instructions = 1, .direct_calls = 1, .stores = 1}},
    {"66 bnd call", "66f2e800000000", {.instructions = 1, .direct_calls = 1, .stores = 1}},
    {"66 bnd call, 16-bit displacement", "66f2e80000", {.instructions = 1, .direct_calls = 1, .stores = 1}},
    {"66 call rax", "488d050300000066ffd0", {.instructions = 2, .indirect_calls = 1, .stores = 1}},
    {"66 call [r14]",
     "488d05070000004989066641ff16",
     {.instructions = 3, .indirect_calls = 1, .loads = 1, .stores = 2}},
    {"66 ret", "488d05030000005066c3", {.instructions = 3, .returns = 1, .loads = 1, .stores = 1}},
    {"66 ret 8", "488d05050000005066c20800", {.instructions = 3, .returns = 1, .loads = 1, .stores = 1}},
    {"66 jmp", "66e900000000", {.instructions = 1, .direct_jumps = 1}},
    {"66 jmp, 16-bit displacement", "66e90000", {.instructions = 1, .direct_jumps = 1}},
    {"66 jmp short", "66eb0190", {.instructions = 1, .direct_jumps = 1}},
    {"66 jmp rax", "488d050300000066ffe0", {.instructions = 2, .indirect_jumps = 1}},
    {"66 notrack jmp rax", "488d05040000003e66ffe0", {.instructions = 2, .indirect_jumps = 1}},
    {"66 jmp [r14]", "488d05070000004989066641ff26", {.instructions = 3, .indirect_jumps = 1, .loads = 1, .stores = 1}},
    {"66 jz short, taken", "39c066740190", {.instructions = 2, .conditional = 1, .taken = 1}},
    {"66 jnz short, not taken", "39c066750190", {.instructions = 3, .conditional = 1}},
    {"66 jz, taken", "39c0660f840100000090", {.instructions = 2, .conditional = 1, .taken = 1}},
    {"66 jz, taken, 16-bit displacement", "39c0660f84010090", {.instructions = 2, .conditional = 1, .taken = 1}},
    {"66 jnz, not taken", "39c0660f850100000090", {.instructions = 3, .conditional = 1}},
    {"66 jnz, not taken, 16-bit displacement", "39c0660f85010090", {.instructions = 3, .conditional = 1}},
    {"66 jz to the next, taken", "39c0660f8400000000", {.instructions = 2, .conditional = 1, .taken = 1}},
    {"66 jz to the next, taken, 16-bit displacement",
     "39c0660f840000",
     {.instructions = 2, .conditional = 1, .taken = 1}},
    {"66 jnz to the next, not taken", "39c0660f8500000000", {.instructions = 2, .conditional = 1}},
    {"66 jnz to the next, not taken, 16-bit displacement", "39c0660f850000", {.instructions = 2, .conditional = 1}},
    {"66 loop, taken", "b90200000066e20190", {.instructions = 2, .conditional = 1, .taken = 1}},
    {"66 loop, not taken", "b90100000066e20190", {.instructions = 3, .conditional = 1}},
    {"66 loope, taken", "b90200000039c066e10190", {.instructions = 3, .conditional = 1, .taken = 1}},
    {"66 loopne, not taken", "b90200000039c066e00190", {.instructions = 4, .conditional = 1}},
    {"66 jrcxz, taken", "31c966e30190", {.instructions = 2, .conditional = 1, .taken = 1}},
    {"66 jrcxz, not taken", "b90100000066e30190", {.instructions = 3, .conditional = 1}},
    {"66 jecxz, taken", "31c96667e30190", {.instructions = 2, .conditional = 1, .taken = 1}},
    {"jmp far [r14]",
     "488d050d0000004989066641c7460433"
     "0041ff2e",
     {.instructions = 4, .far = 1, .loads = 1, .stores = 2}},
    {"call far [r14]",
     "488d050d0000004989066641c7460433"
     "0041ff1e",
     {.instructions = 4, .far = 1, .loads = 1, .stores = 3}},
    {"66 jmp far [r14]",
     "488d050e0000004989066641c74602330066"
     "41ff2e",
     {.instructions = 4, .far = 1, .loads = 1, .stores = 2}},
    {"66 ret far",
     "488d050f0000004989066641c7460233004c89f466cb",
     {.instructions = 5, .far = 1, .loads = 1, .stores = 2}},
    {"66 iret",
     "488d0524000000498906"  // lea rax, [after]; mov [r14], rax
     "6641c746023300"
     "9c59"  // mov word [r14 + 2], 0x33; pushfq; pop rcx
     "6641894e04"
     "6641c7460600f0"  // mov [r14 + 4], cx; mov word [r14 + 6], 0xf000
     "6641c746082b00"
     "4c89f4"
     "66cf",
     {.instructions = 10, .far = 1, .loads = 2, .stores = 6}},
    {"jkzd", "c4e0788400000000", {.instructions = 1, .conditional = 1}},
    {"sysenter", "0f34", {.instructions = 1, .far = 1}},
    // The first instruction restores the second one, which overwrites its first bytes with `nop`.
    {"a store into itself",
     "66c70500000000"
     "66c7"
     "66c705f7ffffff"
     "9090",
     {.instructions = 2, .stores = 2}},
    {"a call that stores into its page", "4c89ece800000000", {.instructions = 2, .direct_calls = 1, .stores = 1}},
    {"66 call that stores into its page", "4c89ec66e800000000", {.instructions = 2, .direct_calls = 1, .stores = 1}},
    {"66 call that stores into its page, 16-bit displacement",
     "4c89ec66e80000",
     {.instructions = 2, .direct_calls = 1, .stores = 1}},
};

/// Instructions that are copied, unless the program steps itself.
const Code copied[] = {
    {"nop", "90", {.instructions = 1}},
    {"push, pop", "5058", {.instructions = 2, .loads = 1, .stores = 1}},
    {"pushfq, pop", "9c58", {.instructions = 2, .loads = 1, .stores = 1}},
    {"pushfq, popfq", "9c9d", {.instructions = 2, .loads = 1, .stores = 1}},
    {"enter, leave", "c8100002c9", {.instructions = 2, .loads = 2, .stores = 3}},
    {"add [r14], eax", "410106", {.instructions = 1, .loads = 1, .stores = 1}},
    {"jmp", "eb0190", {.instructions = 1, .direct_jumps = 1}},
    {"call", "e800000000", {.instructions = 1, .direct_calls = 1, .stores = 1}},
    {"call rax", "488d0502000000ffd0", {.instructions = 2, .indirect_calls = 1, .stores = 1}},
    {"ret", "488d050200000050c3", {.instructions = 3, .returns = 1, .loads = 1, .stores = 1}},
    {"jz, taken", "39c0740190", {.instructions = 2, .conditional = 1, .taken = 1}},
    {"loop, not taken", "b901000000e20190", {.instructions = 3, .conditional = 1}},
    {"getpid", "b8270000000f05", {.instructions = 2, .far = 1}},
    {"int3", "cc", {.instructions = 1, .far = 1}},
    {"prefetcht0", "410f180e", {.instructions = 1, .prefetches = 1}},
    {"movsb", "4c89f7498d7640a4", {.instructions = 3, .loads = 1, .stores = 1}},
    {"rep movsb", "4c89f7498d7640b903000000f3a4", {.instructions = 4, .loads = 3, .stores = 3}},
    {"rep movsb of nothing", "31c9f3a4", {.instructions = 2}},
    {"rep stosq", "4c89f7b904000000f348ab", {.instructions = 3, .stores = 4}},
    {"rep lodsd with ecx", "4c89f6b90200000067f3ad", {.instructions = 3, .loads = 2}},
    {"repe cmpsb", "4c89f74c89f6b903000000f3a6", {.instructions = 4, .loads = 6}},
    {"repne scasb", "4c89f731c0b909000000f2ae", {.instructions = 4, .loads = 1}},
    {"mov ss, eax; nop", "8cd08ed090", {.instructions = 3}},
    {"mov ss, eax; push", "8cd08ed050", {.instructions = 3, .stores = 1}},
    {"mov ss, eax; jmp", "8cd08ed0eb0190", {.instructions = 3, .direct_jumps = 1}},
    {"mov ss, eax; rep stosb", "4c89f7b9030000008cd08ed0f3aa", {.instructions = 5, .stores = 3}},
    // The kernel may emulate these: UMIP.
    {"sgdt; nop", "410f010690", {.instructions = 2, .stores = 1}},
    {"sgdt; push", "410f010650", {.instructions = 2, .stores = 2}},
    {"sidt; call", "410f010ee800000000", {.instructions = 2, .direct_calls = 1, .stores = 2}},
    {"smsw eax; push", "0f01e050", {.instructions = 2, .stores = 1}},
    {"smsw [r14]; nop", "410f012690", {.instructions = 2, .stores = 1}},
    {"sldt eax; str eax", "0f00c00f00c890", {.instructions = 3}},
    {"cpuid", "31c00fa290", {.instructions = 3}},
    {"xgetbv", "31c90f01d0", {.instructions = 2}},
    {"rdtscp", "0f01f9", {.instructions = 1}},
    {"xsave, xrstor", "b80700000031d2410fae26410fae2e", {.instructions = 4, .loads = 1, .stores = 1}},
    {"fxsave, fxrstor", "410fae06410fae0e", {.instructions = 2, .loads = 1, .stores = 1}},
    {"maskmovdqu", "4c89f7660ff7c1", {.instructions = 2, .stores = 1}},
    {"clzero", "4c89f00f01fc", {.instructions = 2, .stores = 1}},
    {"vpgatherdd by ymm", "c5f576c9c5edefd2c4c275900496", {.instructions = 3, .loads = 8}},
    {"vpgatherdd by k1", "b815000000c5f892c862f16d48efd262d27d49900496", {.instructions = 4, .loads = 3}},
    {"vpscatterdd by k1", "b815000000c5f892c862f16d48efd262d27d49a00496", {.instructions = 4, .stores = 3}},
};

Command command_of(const Code& code, const char* count, bool steps_itself) {
  Command command;
  command.words = {std::string(PROGRAMS) + "/own_address", code.bytes, count, steps_itself ? "t" : "-"};
  return command;
}

std::uint64_t traps_of(const Outcome& outcome) { return std::stoull("0" + outcome.out, nullptr, 16); }

/// What ten executions count in a run of `count`, without the program's traps.
template <class Count>
void expect_row(const Code& code, bool steps_itself, Count count) {
  const Counted few = count(command_of(code, "10", steps_itself)), many = count(command_of(code, "20", steps_itself));
  expect_same(many.outcome, run_native(command_of(code, "20", steps_itself)));
  expect_exact(few);
  expect_exact(many);
  const std::uint64_t traps = traps_of(many.outcome) - traps_of(few.outcome);
  expect_counts(many.counts, sum(sum(sum(few.counts, code.row, 10), loop, 10), trap, traps));
}

/// Calls `each` with the codes that this processor executes natively.
template <std::size_t n, class Each>
void for_executable(const Code (&codes)[n], bool steps_itself, Each each) {
  for (const Code& code : codes) {
    SCOPED_TRACE(code.name);
    const int result = run_native(command_of(code, "10", steps_itself)).code;
    if (result == 0)
      each(code);
    else
      std::printf("%s: this processor does not execute it here (%d)\n", code.name, result);
  }
}

TEST(OwnAddress, counts_as_by_hand) {
  for_executable(at_own_address, false, [](const Code& code) {
    expect_row(code, false, [](const Command& command) { return run_counted(command); });
    expect_row(code, false, [](const Command& command) { return run_stepped(command); });
  });
}

TEST(OwnAddress, counts_as_copied_instructions) {
  for_executable(copied, false, [](const Code& code) {
    expect_row(code, false, [](const Command& command) { return run_counted(command); });
    expect_row(code, false, [](const Command& command) { return run_stepped(command); });
  });
}

TEST(OwnAddress, counts_in_a_program_that_steps_itself) {
  const auto check = [](const Code& code) {
    expect_row(code, true, [](const Command& command) { return run_counted(command); });
  };
  for_executable(at_own_address, true, check);
  for_executable(copied, true, check);
}

}  // namespace
}  // namespace tally::engine_test
