// Tests of the emulated computer. Test names start with the number of what they check: U is a pitfall of the emulator
// (each was a bug once); E, V, P, R are rules of the PMU that need a processor.
#include "programs/lab/run_json.hpp"
#include "programs/lab/x86_machine_testing.hpp"

namespace tally::lab {
namespace {

TEST(LabMachine, U1_V5_a_repeated_string_instruction_is_one_instruction) {
  TALLY_NEEDS_NASM();
  const Ran run = ran("  mov edi, 200000h\n  mov ecx, 1000\n" + start + "  mov ecx, 1000\n  rep stosb\n" + stop);
  EXPECT_EQ(run.counter(0), 2 + around);
  const Ran none = ran(start + "  mov ecx, 0\n  rep stosb\n" + stop);
  EXPECT_EQ(none.counter(0), 2 + around);
  const Ran ends_early = ran("  mov edi, 200000h\n" + start + "  mov ecx, 1000\n  mov al, 0\n  repne scasb\n" + stop);
  EXPECT_EQ(ends_early.counter(0), 3 + around);
  const Ran loads = ran("  mov esi, 200000h\n" + start + "  mov ecx, 1000\n  rep lodsb\n" + stop);
  EXPECT_EQ(loads.counter(0), 2 + around) << "no store shows that it is restarted";
}

TEST(LabMachine, U2_stores_are_all_seen) {
  TALLY_NEEDS_NASM();
  // References of the last-level cache and stores.
  const Ran run =
      ran("  WRITE_MSR IA32_PERFEVTSEL0, 4382D0h\n  WRITE_MSR IA32_PERFEVTSEL1, 434F2Eh\n  mov ecx, 1000\n.again:\n"
          "  mov [200000h], ecx\n  dec ecx\n  jnz .again\n  WRITE_MSR IA32_PERF_GLOBAL_CTRL, 0\n  hlt\n");
  EXPECT_EQ(run.counter(0), 1000U);
  EXPECT_EQ(run.counter(1), 1000U);
}

// One access for each element, and none if there are no elements.
TEST(LabMachine, U2_rep_counts_the_accesses_of_its_elements) {
  TALLY_NEEDS_NASM();
  const std::string begin =
      "  WRITE_MSR IA32_PERFEVTSEL0, 4381D0h\n  WRITE_MSR IA32_PERFEVTSEL1, 4382D0h\n"
      "  mov esi, 200000h\n  mov edi, 210000h\n  mov eax, 1\n  cld\n  mov ecx, ";
  struct Case {
    const char* text;
    std::uint64_t loads, stores;
  };
  for (const Case& c : {Case{"0\n  rep stosb", 0, 0},
                        {"4096\n  rep stosb", 0, 4096},
                        {"100\n  rep movsb", 100, 100},
                        {"100\n  rep lodsb", 100, 0},
                        {"0\n  repe cmpsb", 0, 0},
                        {"100\n  repe cmpsb", 200, 0},
                        {"100\n  repne scasb", 100, 0},
                        {"100\n  repe scasb", 1, 0},
                        {"10000h\n  a16 rep stosb", 0, 0}}) {
    const Ran run = ran(begin + c.text + "\n  WRITE_MSR IA32_PERF_GLOBAL_CTRL, 0\n  hlt\n");
    EXPECT_EQ(run.counter(0), c.loads) << c.text;
    EXPECT_EQ(run.counter(1), c.stores) << c.text;
  }
}

TEST(LabMachine, U3_a_program_may_turn_paging_on) {
  TALLY_NEEDS_NASM();
  const Ran run =
      ran("  mov eax, 83h\n  mov [300000h], eax\n  mov dword [300004h], 400083h\n  mov eax, cr4\n  or eax, 10h\n  mov "
          "cr4, eax\n"
          "  mov eax, 300000h\n  mov cr3, eax\n  mov eax, cr0\n  or eax, 80000000h\n  mov cr0, eax\n" +
          start + "  times 10 nop\n" + stop);
  EXPECT_EQ(run.end.reason, End::Reason::halted) << run.end.message;
  EXPECT_EQ(run.counter(0), 10 + around);
}

// Stores pass through a hook, and in whole blocks through another emulator: each arrives exactly once, at its address.
TEST(LabMachine, U2_stores_of_all_sizes_arrive_in_blocks_and_one_by_one) {
  TALLY_NEEDS_NASM();
  const std::string program =
      "  mov edi, 200000h\n" + start +
      "  mov ecx, 20000\n.again:\n  mov [edi], cl\n  mov [edi + 2], cx\n  mov [edi + 4], ecx\n  add [edi + 8], ecx\n"
      "  push ecx\n  pop dword [edi + 12]\n  add edi, 16\n  dec ecx\n  jnz .again\n" +
      stop;
  for (const bool blocks : {false, true}) {
    Settings settings;
    settings.blocks = blocks;
    const Ran run = ran(program, settings);
    EXPECT_EQ(run.counter(0), 1 + 20000 * 9 + around) << blocks;
    for (const std::uint64_t round : {0, 1, 9999, 19999}) {
      const std::uint64_t left = 20000 - round;
      const std::uint64_t at = 0x200000 + 16 * round;
      EXPECT_EQ(run.machine->memory(at, 8), left << 32 | (left & 0xFFFF) << 16 | (left & 0xFF)) << blocks << round;
      EXPECT_EQ(run.machine->memory(at + 8, 8), left << 32 | left) << blocks << round;
    }
  }
}

// Virtual addresses without memory: the emulator requests a region there, and the lab maps the pages.
TEST(LabMachine, U3_pages_lie_where_the_tables_say_in_blocks_and_one_by_one) {
  TALLY_NEEDS_NASM();
  // Pages of 4 MiB: the first 8 MiB are identity-mapped, C0000000H maps 400000H again.
  const std::string program =
      "  mov eax, 83h\n  mov [300000h], eax\n  mov dword [300004h], 400083h\n  mov dword [300C00h], 400083h\n"
      "  mov eax, cr4\n  or eax, 10h\n  mov cr4, eax\n  mov eax, 300000h\n  mov cr3, eax\n  mov eax, cr0\n"
      "  or eax, 80000000h\n  mov cr0, eax\n"
      // A routine is copied there, and called at an address other than the one it was assembled for.
      "  mov esi, routine\n  mov edi, 400100h\n  mov ecx, routine_end - routine\n  cld\n  rep movsb\n" +
      start +
      "  mov ecx, 20000\n.again:\n  add dword [0C0000000h], 1\n  mov eax, [400000h]\n  dec ecx\n  jnz .again\n"
      "  mov ebx, 0C0000100h\n  call ebx\n" +
      stop + "routine:\n  inc dword [0C0000010h]\n  ret\nroutine_end:\n";
  for (const bool blocks : {false, true}) {
    Settings settings;
    settings.blocks = blocks;
    const Ran run = ran(program, settings);
    EXPECT_EQ(run.end.reason, End::Reason::halted) << run.end.message;
    EXPECT_EQ(run.counter(0), 1 + 20000 * 4 + 2 + 2 + around) << blocks;
    EXPECT_EQ(run.machine->memory(0x400000, 4), 20000U) << blocks;
    EXPECT_EQ(run.machine->memory(0xC000'0000, 4), 20000U) << blocks;
    EXPECT_EQ(run.machine->memory(0x400010, 4), 1U) << blocks;
  }
}

TEST(LabMachine, U4_a_hole_is_reported_with_its_instruction_also_after_whole_blocks) {
  TALLY_NEEDS_NASM();
  for (const bool blocks : {false, true}) {
    Settings settings;
    settings.blocks = blocks;
    const Ran run =
        ran("  mov ecx, 100000\n.again:\n  dec ecx\n  jnz .again\n  nop\n  mov ebx, 2000000h\n  nop\n  mov [ebx + 8], "
            "eax\n  hlt\n",
            settings);
    EXPECT_EQ(run.end.reason, End::Reason::hole);
    EXPECT_EQ(run.machine->image().place(run.end.address), "line 10") << blocks;
    EXPECT_EQ(run.machine->instructions(), 1 + 200000 + 3) << blocks;
  }
}

TEST(LabMachine, a_program_without_an_end_stops_after_its_last_instruction) {
  TALLY_NEEDS_NASM();
  for (const bool blocks : {false, true}) {
    Settings settings;
    settings.blocks = blocks;
    const Ran run = ran("  mov ecx, 100000\n.again:\n  dec ecx\n  jnz .again\n  nop\n", settings);
    EXPECT_TRUE(run.end.is_error());
    EXPECT_EQ(run.end.message, "the program ran past its last instruction (line 7)") << blocks;
    EXPECT_EQ(run.machine->instructions(), 1 + 200000 + 1) << blocks;
    EXPECT_EQ(run.machine->image().line_at(run.machine->image().end()), nullptr);
    // 16 bytes: the helpers of lab.inc follow at once.
    const Ran full = ran("  times 16 nop\n", settings);
    EXPECT_EQ(full.end.message, "the program ran past its last instruction (line 3)") << blocks;
    EXPECT_EQ(full.machine->instructions(), 16U) << blocks;
  }
}

TEST(LabMachine, code_that_a_program_writes_after_its_end_runs) {
  TALLY_NEEDS_NASM();
  const Ran run = ran("  mov byte [after], 0F4h\n  jmp after\nafter:\n");
  EXPECT_EQ(run.end.reason, End::Reason::halted) << run.end.message;
}

TEST(LabImage, a_linux_program_is_refused) {
  const auto image = load("/proc/self/exe", 0);
  ASSERT_FALSE(image);
  EXPECT_NE(image.error().message.find("is a Linux program"), std::string::npos) << image.error().message;
}

TEST(LabMachine, U5_U11_whole_blocks_and_single_instructions_agree_on_every_interrupt) {
  TALLY_NEEDS_NASM();
  const std::string program =
      "  mov esi, 33h\n  mov edi, handler\n  call set_interrupt_handler\n  mov dword [APIC_BASE + LVT_PERFMON], 33h\n  "
      "sti\n"
      "  WRITE_MSR IA32_PMC0, -10007 & 0FFFFFFFFh\n  WRITE_MSR IA32_PERFEVTSEL0, 5300C0h\n  WRITE_MSR "
      "IA32_PERFEVTSEL1, 4300C4h\n"
      "  mov ecx, 40000\n.again:\n  imul eax, ecx\n  dec ecx\n  nop\n  nop\n  jnz .again\n  WRITE_MSR "
      "IA32_PERFEVTSEL0, 0\n  hlt\n"
      "handler:\n  STORE_CONTEXT\n  WRITE_MSR IA32_PMC0, -10007 & 0FFFFFFFFh\n  RESET_COUNTER_OVERFLOW\n  "
      "RESTORE_CONTEXT\n"
      "  mov dword [APIC_BASE + LVT_PERFMON], 33h\n  mov dword [APIC_BASE + EOI], 0\n  iret\n";
  std::vector<std::pair<std::uint64_t, std::uint64_t>> places[2];
  std::uint64_t counts[2];
  for (const bool blocks : {false, true}) {
    Settings settings;
    settings.blocks = blocks;
    const Ran run = ran(program, settings);
    EXPECT_EQ(run.end.reason, End::Reason::halted) << run.end.message;
    for (const Entry& entry : run.entries) {
      if (entry.kind == Entry::Kind::overflow || entry.kind == Entry::Kind::enter) {
        places[blocks].emplace_back(entry.address, entry.instruction);
      }
    }
    counts[blocks] = run.counter(1);
    if (blocks) {
      EXPECT_GT(run.machine->switches(), 10U) << "whole blocks were never run";
    }
  }
  EXPECT_EQ(places[0], places[1]);
  EXPECT_EQ(places[0].size(), 2U * 20);
  EXPECT_EQ(counts[0], counts[1]);
}

TEST(LabMachine, U6_instructions_of_the_lab_are_found_in_code_that_ran_before) {
  TALLY_NEEDS_NASM();
  // The second iteration takes the branch to RDPMC in a block that has run often.
  const Ran run =
      ran(start +
          "  mov edi, 2\n.round:\n  mov ecx, 5000\n.again:\n  dec ecx\n  jnz .again\n  xor ecx, ecx\n  rdpmc\n"
          "  dec edi\n  jnz .round\n" +
          stop);
  EXPECT_EQ(run.count(Entry::Kind::rdpmc), 2);
  EXPECT_EQ(run.counter(0), 1 + 2 * (1 + 10000 + 4) + around);
}

TEST(LabMachine, U7_flags_and_code_segment_are_those_of_a_processor) {
  TALLY_NEEDS_NASM();
  for (const int bits : {32, 64}) {
    const std::string a = bits == 64 ? "rax" : "eax";
    const Ran run =
        ran("  mov ax, cs\n  cmp ax, 8\n  jne .wrong\n  pushf\n  pop " + a + "\n  or eax, 200000h\n  push " + a +
                "\n  popf\n  pushf\n  pop " + a + "\n  test eax, 200000h\n  jz .wrong\n  EXIT 1\n.wrong:\n  EXIT 2\n",
            {}, bits);
    EXPECT_EQ(run.end.code, 1) << bits;
  }
}

TEST(LabMachine, U9_an_immediate_that_looks_like_wrmsr_is_none) {
  TALLY_NEEDS_NASM();
  const Ran run = ran("  mov ecx, 38Fh\n" + start + "  mov eax, 300F300Fh\n  mov eax, 330F320Fh\n" + stop);
  EXPECT_EQ(run.count(Entry::Kind::write), 2);
  EXPECT_EQ(run.count(Entry::Kind::rdpmc), 0);
  EXPECT_EQ(run.counter(0), 2 + around);
}

TEST(LabMachine, code_that_changes_itself_is_decoded_again) {
  TALLY_NEEDS_NASM();
  for (const bool blocks : {false, true}) {
    Settings settings;
    settings.blocks = blocks;
    // A multiplication becomes three NOPs, which the cycles show.
    const Ran run =
        ran("  call work\n  mov word [work.change], 9090h\n  mov byte [work.change + 2], 90h\n"
            "  WRITE_MSR IA32_PERFEVTSEL0, 4300C0h\n  call work\n  WRITE_MSR IA32_PERFEVTSEL0, 0\n  hlt\n"
            "work:\n  mov ecx, 3000\n.again:\n.change:\n  imul eax, ecx\n  dec ecx\n  jnz .again\n  ret\n",
            settings);
    EXPECT_EQ(run.counter(0), 1 + 1 + 3000 * 5 + 1 + around) << blocks;
  }
}

// The emulator restarts such an instruction; its store arrives once.
TEST(LabMachine, U12_a_store_into_its_own_block_retires_once) {
  TALLY_NEEDS_NASM();
  for (const bool blocks : {false, true}) {
    Settings settings;
    settings.blocks = blocks;
    const Ran run = ran(start +
                            "  inc dword [first + 1]\nfirst:\n  mov esi, 41h\n  lock inc dword [second + 1]\nsecond:\n"
                            "  mov edi, 10h\n  mov esp, stack + 4\n  push dword 90909090h\nstack: dd 0\n  nop\n" +
                            stop,
                        settings);
    EXPECT_EQ(run.counter(0), 6 + 4 + 1 + around) << blocks;
    const auto registers = run.machine->registers();
    EXPECT_EQ(registers[4].second, 0x42U) << blocks;
    EXPECT_EQ(registers[5].second, 0x11U) << blocks;
  }
  // Four NOPs become a multiplication and a NOP, and back.
  for (const bool blocks : {false, true}) {
    Settings settings;
    settings.blocks = blocks;
    const Ran rounds = ran("  WRITE_MSR IA32_PERFEVTSEL1, 43003Ch\n" + start +
                               "  mov ecx, 300\nagain:\n  xor dword [change], 513F9Fh\nchange:\n  times 4 nop\n"
                               "  dec ecx\n  jnz again\n  WRITE_MSR IA32_PERF_GLOBAL_CTRL, 0\n  hlt\n",
                           settings);
    EXPECT_EQ(rounds.counter(0), 1 + 300 * 3 + 150 * 2 + 150 * 4 + around) << blocks;
    EXPECT_EQ(rounds.counter(1), 4 + rounds.counter(0) + 150 * 2) << blocks;
  }
}

// kvm-unit-tests do this to detect a hypervisor: a block ends by #UD, after instructions that change tables.
TEST(LabMachine, U13_a_block_that_ends_with_an_invalid_instruction_is_left_there) {
  TALLY_NEEDS_NASM();
  for (const bool blocks : {false, true}) {
    Settings settings;
    settings.blocks = blocks;
    const Ran run =
        ran("  mov esi, 6\n  mov edi, handler\n  call set_interrupt_handler\n  sidt [table]\n  mov ecx, 5000\n.again:\n"
            "  mov [200000h], ecx\n  dec ecx\n  jnz .again\n" +
                start + "  lidt [table]\n  mov dword [200004h], 0\n  ud2\n  inc dword [200004h]\n" + stop +
                "handler:\n  add dword [esp], 2\n  iret\ntable: dq 0\n",
            settings);
    EXPECT_EQ(run.end.reason, End::Reason::halted) << run.end.message;
    EXPECT_EQ(run.counter(0), 2 + 2 + 1 + around) << blocks;
    EXPECT_EQ(run.machine->memory(0x200004, 4), 1U) << blocks;
  }
}

TEST(LabMachine, W7_edx_and_eax_are_joined_unsigned) {
  TALLY_NEEDS_NASM();
  const Ran run =
      ran("  mov ecx, IA32_FIXED_CTR0\n  mov edx, 1\n  mov eax, 80000000h\n  wrmsr\n  xor eax, eax\n  xor edx, edx\n  "
          "rdmsr\n  cmp edx, 1\n"
          "  jne .wrong\n  cmp eax, 80000000h\n  jne .wrong\n  EXIT 1\n.wrong:\n  EXIT 2\n");
  EXPECT_EQ(run.end.code, 1) << run.end.message;
  EXPECT_EQ(run.counter(32), 0x1'8000'0000U);
}

TEST(LabMachine, V6_every_kind_of_branch_counts_once) {
  TALLY_NEEDS_NASM();
  const auto branches = [](const std::string& body) {
    const Ran run = ran("  WRITE_MSR IA32_PERFEVTSEL0, 4300C4h\n" + body +
                        "\n  WRITE_MSR IA32_PERFEVTSEL0, 0\n  hlt\nroutine:\n  ret\n");
    EXPECT_FALSE(run.end.is_error()) << run.end.message;
    return run.counter(0);
  };
  EXPECT_EQ(branches("  nop"), 0U);
  EXPECT_EQ(branches("  jmp .next\n.next:"), 1U);
  EXPECT_EQ(branches("  cmp eax, eax\n  jz .next\n.next:"), 1U);
  EXPECT_EQ(branches("  cmp eax, eax\n  jnz .next\n.next:"), 1U) << "not taken";
  EXPECT_EQ(branches("  call routine"), 2U);
  EXPECT_EQ(branches("  mov ecx, 7\n.again:\n  loop .again"), 7U);
  EXPECT_EQ(branches("  push cs\n  push .next\n  retf\n.next:"), 1U);
  EXPECT_EQ(branches("  pushf\n  push cs\n  push .next\n  iret\n.next:"), 1U);
  // The article's loop of five, from its first branch: 2 (N - 1) + 1.
  EXPECT_EQ(
      branches("  mov ecx, 20\n.again:\n  cmp ecx, 1\n  jle .done\n  imul eax, ecx\n  dec ecx\n  jmp .again\n.done:"),
      39U);
}

// Every condition with every combination of OF, SF, ZF, PF and CF; SETcc shows what the processor decides.
TEST(LabMachine, V6_a_branch_to_the_next_instruction_is_taken_if_its_condition_holds) {
  TALLY_NEEDS_NASM();
  std::string all;
  for (const char* condition :
       {"o", "no", "c", "nc", "z", "nz", "be", "a", "s", "ns", "pe", "po", "l", "ge", "le", "g"}) {
    const std::string name = condition;
    all += "  push eax\n  popfd\n  j" + name + " $+2\n  set" + name + " dl\n  movzx edx, dl\n  add esi, edx\n";
  }
  const Ran run =
      ran("  mov esi, 0\n  mov edi, 0\n  WRITE_MSR IA32_PERFEVTSEL0, 4320C4h\n.next:\n"
          "  mov eax, edi\n  and eax, 11b\n  lea eax, [eax * 4]\n  and eax, 1100b\n  mov ebx, eax\n  and ebx, 100b\n"
          "  shr eax, 3\n  or eax, ebx\n"                                     // CF, PF
          "  mov ebx, edi\n  and ebx, 1100b\n  shl ebx, 4\n  or eax, ebx\n"   // ZF, SF
          "  mov ebx, edi\n  and ebx, 10000b\n  shl ebx, 7\n  or eax, ebx\n"  // OF
          "  or eax, 2\n" +
          all + "  inc edi\n  cmp edi, 32\n  jb .next\n  WRITE_MSR IA32_PERFEVTSEL0, 0\n  mov [200000h], esi\n  hlt\n");
  EXPECT_EQ(run.counter(0), run.machine->memory(0x200000, 4) + 31);
  EXPECT_EQ(run.machine->memory(0x200000, 4), 16U * 32 / 2);
  // LOOP, LOOPE, LOOPNE with ZF 1, JECXZ and JCXZ, a jump, a call and a return.
  const auto taken = [](const std::string& code) {
    return ran("  WRITE_MSR IA32_PERFEVTSEL0, 4320C4h\n" + code + "  WRITE_MSR IA32_PERFEVTSEL0, 0\n  hlt\n")
        .counter(0);
  };
  EXPECT_EQ(taken("  mov ecx, 3\n  loop $+2\n  loop $+2\n  loop $+2\n"), 2U);
  EXPECT_EQ(taken("  mov ecx, 9\n  cmp ecx, 9\n  loope $+2\n  loopne $+2\n"), 1U);
  EXPECT_EQ(taken("  mov ecx, 10000h\n  jecxz $+2\n  jcxz $+3\n  loop $+2, cx\n"), 2U);
  EXPECT_EQ(taken("  jmp $+2\n  jmp near $+5\n  call $+5\n  add dword [esp], 5\n  ret\n"), 4U);
}

TEST(LabMachine, V9_pause_cpuid_and_halt_count_one_each) {
  TALLY_NEEDS_NASM();
  EXPECT_EQ(ran(start + "  pause\n" + stop).counter(0), 1 + around);
  EXPECT_EQ(ran(start + "  cpuid\n" + stop).counter(0), 1 + around);
  EXPECT_EQ(ran(start + "  hlt\n").counter(0), 1U);
}

TEST(LabMachine, a_16_bit_program_runs_as_a_boot_sector_does) {
  TALLY_NEEDS_NASM();
  Settings settings;
  const auto image =
      assemble("boot.asm",
               "bits 16\n  mov ecx, 186h\n  mov eax, 4300C0h\n  xor edx, edx\n  wrmsr\n  times 7 nop\n  mov eax, 0\n"
               "  wrmsr\n  hlt\n",
               0, ".");
  ASSERT_TRUE(image) << image.error().message;
  EXPECT_EQ(image->bits, 16);
  auto machine = LabX86::make(*image, settings, {});
  ASSERT_TRUE(machine);
  const End end = (*machine)->run();
  EXPECT_EQ(end.reason, End::Reason::halted) << end.message;
  EXPECT_EQ((*machine)->pmu().counter(0), 9U);
}

// Cycles follow the declared model, independent of this machine, and every output format says that they are emulated.
TEST(LabMachine, U10_cycles_come_from_the_declared_model_and_the_output_says_so) {
  TALLY_NEEDS_NASM();
  const std::string program =
      "  WRITE_MSR IA32_PERFEVTSEL0, 43003Ch\n  times 10 nop\n  times 5 imul eax, eax\n  WRITE_MSR IA32_PERFEVTSEL0, "
      "0\n  hlt\n";
  const Ran run = ran(program);
  EXPECT_EQ(run.counter(0), 10 + 5 * 3 + around);
  EXPECT_EQ(ran(program).counter(0), run.counter(0));
  EXPECT_NE(run.machine->headline().find("haswell-v3, emulated: "), std::string::npos);
  EXPECT_NE(run.machine->headline().find("model: 1 cycle per instruction, 3 per multiplication"), std::string::npos);
  const std::string json = json_text(run.entries, run.end, *run.machine, {}, {}, {});
  EXPECT_NE(json.find("\"emulated\": true"), std::string::npos);
  EXPECT_NE(json.find("\"model\": \"haswell-v3\""), std::string::npos);
}

}  // namespace
}  // namespace tally::lab
