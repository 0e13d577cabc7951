// What `tally lab` says about programs that are wrong.
#include <gtest/gtest.h>

#include "tests/cli/lab.hpp"

#if TALLY_HAS_LAB
namespace tally::test {
namespace {

// Checks the exit code, and that the message contains all of these texts.
void expect_error(const Finished& finished, int code, const Words& texts) {
  EXPECT_EQ(finished.code(), code);
  for (const std::string& text : texts) EXPECT_TRUE(holds(finished.err, text)) << text << "\n" << finished.err;
}

// The listing of the notes' section 7.5, as printed there.
TEST(LabErrors, a_typing_error_is_reported_with_its_line_and_a_suggestion) {
  TALLY_NEEDS_NASM();
  const Finished finished =
      lab_of("  mov ecx IA32_PERF_GLOBAL_CTRL\n  rmdmsr\n  bts eax, 0\n  Wrmsr\n  mov eax, IA32_PERFEVTSEL\n");
  expect_error(
      finished, 2,
      {"program.asm:1:", "a comma is missing between the operands of mov", "program.asm:2:", "did you mean rdmsr?"});
  EXPECT_FALSE(holds(finished.err, "program.asm:4:")) << finished.err;
}

TEST(LabErrors, options_that_statements_do_not_have_are_refused) {
  for (const Words& options : {Words{"--trace"}, Words{"--step"}, Words{"--time", "1..2"}, Words{"--break", "1"}})
    expect_error(lab(with(options, {"-e", "mov eax, 1"})), 2, {"need FILE: statements print what they do"});
}

TEST(LabErrors, the_syntax_of_gnu_as_is_recognised) {
  TALLY_NEEDS_NASM();
  expect_error(lab_of("  .globl _start\n_start:\n  mov %eax, %ebx\n"), 2, {"x86 files are in NASM's syntax"});
}

TEST(LabErrors, a_program_without_an_end_is_reported) {
  TALLY_NEEDS_NASM();
  expect_error(lab_of("  mov eax, 1\n"), 1, {"ran past its last instruction (line 1)", "end it with HLT or RET"});
}

TEST(LabErrors, an_endless_loop_ends_and_says_where_it_is) {
  TALLY_NEEDS_NASM();
  const Finished finished = lab_of("  nop\nagain:\n  inc eax\n  jmp again\n", {"--max-instructions", "10000"});
  expect_error(finished, 1, {"the program did not end within 10,000 instructions", "line 3, line 4"});
  EXPECT_TRUE(holds(finished.out, "EAX")) << finished.out;
}

TEST(LabErrors, a_triple_fault_is_explained) {
  TALLY_NEEDS_NASM();
  expect_error(lab_of("  xor ecx, ecx\n  xor edx, edx\n  div ecx\n"), 1, {"line 3: #DE", "triple"});
}

TEST(LabErrors, an_unknown_register_and_a_reserved_bit_are_named) {
  TALLY_NEEDS_NASM();
  expect_error(lab_of("  mov ecx, 999h\n  wrmsr\n"), 1, {"line 2: #GP, general protection: WRMSR of 999H"});
  expect_error(lab_of("%include \"lab.inc\"\n  WRITE_MSR IA32_PERF_GLOBAL_CTRL, 10h\n"), 1,
               {"line 2: #GP, general protection: bit 4 of IA32_PERF_GLOBAL_CTRL is reserved"});
}

TEST(LabErrors, reserved_bits_of_cr4_fault) {
  TALLY_NEEDS_NASM();
  const auto written = [](const std::string& value, const std::string& model) {
    return lab({"--model", model, "-e", "mov eax, " + value + "; mov cr4, rax; mov rbx, cr4"});
  };
  EXPECT_TRUE(holds(written("0ffffffffh", "haswell-v3").err, "bits 11–19, 21–31 of CR4 are reserved on haswell-v3"))
      << written("0ffffffffh", "haswell-v3").err;
  EXPECT_EQ(written("100000h", "haswell-v3").code(), 0) << "SMEP";
  EXPECT_EQ(written("200000h", "skylake-v4").code(), 0) << "SMAP";
  EXPECT_TRUE(holds(written("200000h", "haswell-v3").err, "bit 21 of CR4 is reserved"));
  EXPECT_TRUE(holds(written("100000h", "nehalem-v3").err, "bit 20 of CR4 is reserved"));
  EXPECT_EQ(written("7ffh", "nehalem-v3").code(), 0);
}

TEST(LabErrors, a_stack_in_the_hole_is_recognised) {
  TALLY_NEEDS_NASM();
  expect_error(lab_of("  mov esp, 50000000h\n  push eax\n"), 1,
               {"line 2 writes to 4FFFFFFCH, which is not mapped: the stack is outside of memory", "set it to 80000H"});
}

TEST(LabErrors, an_interrupt_of_the_timer_is_named_and_no_handler_of_the_counters) {
  TALLY_NEEDS_NASM();
  const Finished finished = lab_of(
      "%include \"lab.inc\"\n  mov esi, 40h\n  mov edi, on_timer\n  call set_interrupt_handler\n"
      "  mov dword [APIC_BASE + LVT_TIMER], 40h\n  mov dword [APIC_BASE + APIC_TIMER_COUNT], 100\n  sti\n"
      "  mov ecx, 200\n.again:\n  loop .again\n  hlt\non_timer:\n  mov dword [APIC_BASE + EOI], 0\n  iret\n");
  EXPECT_EQ(finished.code(), 0) << finished.err;
  EXPECT_TRUE(
      holds(finished.out, "vector 40H is taken before this instruction, at CPL 0 (an interrupt of the APIC's timer)"))
      << finished.out;
  EXPECT_FALSE(holds(finished.out, "masked")) << finished.out;
}

// The handler of the tutorial, without one of its four steps.
TEST(LabErrors, what_a_handler_omits_is_reported) {
  TALLY_NEEDS_NASM();
  const auto without = [](const std::string& omitted) {
    std::string handler = "handler:\n  STORE_CONTEXT\n";
    for (const char* const step : {"  WRITE_MSR IA32_PMC0, 0FFFFFF9Ch\n", "  RESET_OVERFLOW 0\n"})
      if (step != omitted) handler += step;
    handler += "  RESTORE_CONTEXT\n";
    for (const char* const step :
         {"  mov dword [APIC_BASE + LVT_PERFMON], 33h\n", "  mov dword [APIC_BASE + EOI], 0\n"})
      if (step != omitted) handler += step;
    return lab_of(
               "%include \"lab.inc\"\n  mov esi, 33h\n  mov edi, handler\n  call set_interrupt_handler\n"
               "  mov dword [APIC_BASE + LVT_PERFMON], 33h\n  sti\n  WRITE_MSR IA32_PMC0, 0FFFFFF9Ch\n"
               "  WRITE_MSR IA32_PERFEVTSEL0, 5300C0h\n  mov ecx, 500\nagain:\n  dec ecx\n  jnz again\n"
               "  WRITE_MSR IA32_PERFEVTSEL0, 0\n  hlt\n" +
               handler + "  iret\n")
        .out;
  };
  EXPECT_FALSE(holds(without(""), "! ")) << without("");
  const std::string uncleared = without("  RESET_OVERFLOW 0\n");
  EXPECT_TRUE(holds(uncleared, "!  the handler returns with overflow bits 0 set")) << uncleared;
  const std::string unended = without("  mov dword [APIC_BASE + EOI], 0\n");
  EXPECT_TRUE(holds(unended, "returns without an EOI")) << unended;
  EXPECT_TRUE(holds(unended, "a pending interrupt was never taken: one of its class is still in service")) << unended;
}

TEST(LabErrors, an_example_is_found_in_any_directory) {
  TALLY_NEEDS_NASM();
  for (const std::string name : {"15-2.asm", "examples/lab/15-2.asm"}) {
    const Finished finished = shell("cd / && " + tally_words({"lab", name}).front() + " lab " + name);
    EXPECT_EQ(finished.code(), 0) << finished.err;
    EXPECT_TRUE(holds(finished.err, "/examples/lab/15-2.asm")) << finished.err;
  }
  expect_error(lab({"lab/15-2.asm"}), 2, {"lab/15-2.asm"});
}

TEST(LabErrors, an_interrupt_that_is_not_handled_or_taken_is_reported) {
  TALLY_NEEDS_NASM();
  const std::string program =
      "%include \"lab.inc\"\n  mov dword [APIC_BASE + LVT_PERFMON], 33h\n  WRITE_MSR IA32_PMC0, 0FFFFFFFFh\n"
      "  WRITE_MSR IA32_PERFEVTSEL0, 5300C0h\n  nop\n";
  const Finished waiting = lab_of(program + "  hlt\n");
  EXPECT_EQ(waiting.code(), 0);
  EXPECT_TRUE(holds(waiting.out, "a pending interrupt was never taken: interrupts are off")) << waiting.out;
  expect_error(lab_of(program + "  sti\n  nop\n  hlt\n"), 1, {"vector 33H has no handler in the IDT"});
}

}  // namespace
}  // namespace tally::test
#endif
