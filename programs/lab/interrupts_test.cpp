// Tests exceptions, interrupts and protection levels of the emulated computer. Test names start with the number of what
// they check, as in machine_test.cpp.
#include "programs/lab/x86_machine_testing.hpp"

namespace tally::lab {
namespace {

TEST(LabInterrupts, U8_R1_rdpmc_in_user_mode_is_a_protection_fault_and_no_invalid_instruction) {
  TALLY_NEEDS_NASM();
  for (const int bits : {32, 64}) {
    const Ran run =
        ran("  mov esi, 13\n  mov edi, fault\n  call set_interrupt_handler\n  ENTER_USER user\nuser:\n  xor ecx, ecx\n"
            "  rdpmc\nfault:\n  EXIT 13\n",
            {}, bits);
    EXPECT_EQ(run.end.code, 13) << run.end.message;
    EXPECT_EQ(run.count(Entry::Kind::enter), 1) << bits;
    const Ran allowed = ran(bits == 64 ? "  mov rax, cr4\n  bts rax, 8\n  mov cr4, rax\n  ENTER_USER user\nuser:\n  "
                                         "xor ecx, ecx\n  rdpmc\n  EXIT 3\n"
                                       : "  mov eax, cr4\n  bts eax, 8\n  mov cr4, eax\n  ENTER_USER user\nuser:\n  "
                                         "xor ecx, ecx\n  rdpmc\n  EXIT 3\n",
                            {}, bits);
    EXPECT_EQ(allowed.end.code, 3) << allowed.end.message;
  }
}

TEST(LabInterrupts, V8_an_instruction_that_faults_retires_once_when_it_is_done) {
  TALLY_NEEDS_NASM();
  const Ran run = ran(
      "  mov esi, 0\n  mov edi, handler\n  call set_interrupt_handler\n  mov eax, 10\n  xor edx, edx\n  xor ecx, "
      "ecx\n" +
      start + "  xor ecx, ecx\n  xor edx, edx\n  mov eax, 10\n  div ecx\n" + stop + "handler:\n  mov ecx, 5\n  iret\n");
  EXPECT_EQ(run.end.reason, End::Reason::halted) << run.end.message;
  // XOR, XOR, MOV; MOV and IRET of the handler; DIV.
  EXPECT_EQ(run.counter(0), 6 + around);
}

// The emulator took the second one for a double fault.
TEST(LabInterrupts, U14_the_same_exception_may_come_again) {
  TALLY_NEEDS_NASM();
  const std::string program =
      "  mov esi, 0\n  mov edi, on_division\n  call set_interrupt_handler\n  mov esi, 13\n  mov edi, on_protection\n"
      "  call set_interrupt_handler\n  mov esi, 0\n  mov edx, 0\n  mov eax, 5\n  xor ecx, ecx\n  div ecx\n  xor ecx, "
      "ecx\n"
      "  div ecx\n  mov ax, 0FFF8h\n  mov ds, ax\n  mov ds, ax\n  xor ecx, ecx\n  div ecx\n  mov eax, esi\n"
      "  out EXIT_PORT, al\non_division:\n  inc esi\n  mov ecx, 1\n  iret\non_protection:\n  add esi, 16\n  add esp, "
      "4\n"
      "  add dword [esp], 2\n  iret\n";
  for (const bool blocks : {false, true}) {
    Settings settings;
    settings.blocks = blocks;
    const Ran run = ran(program, settings);
    EXPECT_EQ(run.end.reason, End::Reason::exited) << run.end.message;
    EXPECT_EQ(run.end.code, 2 * 16 + 3);
  }
}

// The handler of page faults is in a page that is missing.
TEST(LabInterrupts, a_handler_that_cannot_be_fetched_shuts_the_processor_down) {
  TALLY_NEEDS_NASM();
  for (const bool blocks : {false, true}) {
    Settings settings;
    settings.blocks = blocks;
    const Ran run =
        ran("  mov esi, 14\n  mov edi, 700000h\n  call set_interrupt_handler\n  mov dword [300000h], 83h\n"
            "  mov eax, cr4\n  or eax, 10h\n  mov cr4, eax\n  mov eax, 300000h\n  mov cr3, eax\n  mov eax, cr0\n"
            "  or eax, 80000000h\n  mov cr0, eax\n  mov eax, [700000h]\n  hlt\n",
            settings);
    EXPECT_EQ(run.end.reason, End::Reason::fault) << run.end.message;
    EXPECT_NE(run.end.message.find("#PF"), std::string::npos) << run.end.message;
    EXPECT_NE(run.end.hint.find("cannot execute the handler of vector EH at 700000H"), std::string::npos)
        << run.end.hint;
    EXPECT_EQ(run.count(Entry::Kind::enter), 1);
  }
}

TEST(LabInterrupts, V5_an_interrupt_of_the_program_belongs_to_the_level_it_starts_in) {
  TALLY_NEEDS_NASM();
  const Ran run =
      ran("  mov esi, 2Eh\n  mov edi, trap\n  call set_user_handler\n  WRITE_MSR IA32_PERFEVTSEL0, 4100C0h\n"
          "  ENTER_USER user\nuser:\n  nop\n  int 2Eh\n  nop\n  EXIT 0\ntrap:\n  nop\n  iret\n");
  // NOP, INT, NOP, and the MOV of EXIT; OUT ends the run before it retires.
  EXPECT_EQ(run.counter(0), 4U) << run.end.message;
}

TEST(LabInterrupts, a_gate_for_the_kernel_may_not_be_called_from_user_mode) {
  TALLY_NEEDS_NASM();
  const Ran run =
      ran("  mov esi, 2Eh\n  mov edi, trap\n  call set_interrupt_handler\n  ENTER_USER user\nuser:\n  int 2Eh\n"
          "trap:\n  iret\n");
  EXPECT_EQ(run.end.reason, End::Reason::fault);
  EXPECT_NE(run.end.message.find("#GP"), std::string::npos) << run.end.message;
  EXPECT_NE(run.end.message.find("its DPL"), std::string::npos) << run.end.message;
}

TEST(LabInterrupts, P7_an_interrupt_waits_for_sti_and_one_instruction_more) {
  TALLY_NEEDS_NASM();
  const Ran run = ran(
      "  mov esi, 33h\n  mov edi, handler\n  call set_interrupt_handler\n  mov dword [APIC_BASE + LVT_PERFMON], 33h\n"
      "  WRITE_MSR IA32_PMC0, 0FFFFFFFFh\n  WRITE_MSR IA32_PERFEVTSEL0, 5300C0h\n  nop\n  nop\n  sti\n  nop\n  nop\n  "
      "hlt\n"
      "handler:\n  mov dword [APIC_BASE + EOI], 0\n  iret\n");
  ASSERT_EQ(run.count(Entry::Kind::enter), 1) << run.end.message;
  for (const Entry& entry : run.entries) {
    if (entry.kind == Entry::Kind::overflow) {
      EXPECT_EQ(run.machine->image().place(entry.address), "line 9");
    }
    if (entry.kind == Entry::Kind::enter) {
      EXPECT_EQ(run.machine->image().place(entry.address), "line 13");
    }
  }
}

TEST(LabInterrupts, P7_an_nmi_comes_without_sti) {
  TALLY_NEEDS_NASM();
  const Ran run = ran(
      "  mov esi, 2\n  mov edi, handler\n  call set_interrupt_handler\n  mov dword [APIC_BASE + LVT_PERFMON], 400h\n"
      "  WRITE_MSR IA32_PMC0, 0FFFFFFFFh\n  WRITE_MSR IA32_PERFEVTSEL0, 5300C0h\n  nop\n  nop\n  hlt\nhandler:\n  "
      "iret\n");
  EXPECT_EQ(run.count(Entry::Kind::enter), 1) << run.end.message;
}

TEST(LabInterrupts, interrupts_reach_user_mode_and_return_to_it) {
  TALLY_NEEDS_NASM();
  for (const int bits : {32, 64}) {
    const std::string iret = bits == 64 ? "iretq" : "iret";
    const std::string eoi = bits == 64 ? "  push rax\n  mov eax, APIC_BASE + EOI\n  mov dword [rax], 0\n  pop rax\n"
                                       : "  mov dword [APIC_BASE + EOI], 0\n";
    const Ran run =
        ran("  mov esi, 33h\n  mov edi, handler\n  call set_interrupt_handler\n  WRITE_MSR 834h, 33h\n"
            "  WRITE_MSR IA32_PMC0, -5 & 0FFFFFFFFh\n  WRITE_MSR IA32_PERFEVTSEL0, 5100C0h\n  sti\n  ENTER_USER "
            "user\nuser:\n"
            "  times 10 nop\n  mov ax, cs\n  and eax, 3\n  out EXIT_PORT, al\nhandler:\n" +
                eoi + "  " + iret + "\n",
            {}, bits);
    EXPECT_EQ(run.count(Entry::Kind::enter), 1) << bits << run.end.message;
    EXPECT_EQ(run.end.code, 3) << bits << run.end.message;
    EXPECT_EQ(run.counter(0), 12U - 5) << bits;
  }
}

}  // namespace
}  // namespace tally::lab
