// Compares random programs that run in whole blocks and instruction by instruction. TALLY_LAB_SEEDS=A..B selects other
// seeds than the default ones.
#include <fmt/format.h>

#include <cstdio>
#include <random>

#include "programs/lab/x86_machine_testing.hpp"
#include "tally/core/base/full_run_testing.hpp"

namespace tally::lab {
namespace {

constexpr std::uint64_t data = 0x20'0000, data_bytes = 0x8000;

// Generates one program: a sequence of fragments, most in loops that are long enough to run as whole blocks.
class Generator {
 public:
  Generator(unsigned seed, int bits) : random_(seed), bits_(bits) {}

  std::string program() {
    install_handlers();
    if (chance(60)) start_counters();
    for (int i = number(3, 7); i > 0; --i) fragment();
    end_of_program();
    handlers();
    return text_;
  }

 private:
  int number(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random_); }
  bool chance(int percent) { return number(1, 100) <= percent; }
  template <std::size_t n>
  std::string one_of(const char* const (&words)[n]) {
    return words[static_cast<std::size_t>(number(0, static_cast<int>(n) - 1))];
  }
  /// Appends an instruction; $ is replaced by the first letter of a register of address width.
  void put(std::string line) {
    for (char& letter : line)
      if (letter == '$') letter = bits_ == 64 ? 'r' : 'e';
    text_ += "  " + line + "\n";
  }
  void label(const std::string& name) { text_ += name + ":\n"; }
  std::string new_label() { return fmt::format("place{}", ++labels_); }
  std::string value() { return one_of({"eax", "edx", "esi", "ebp"}); }
  std::string cell() { return fmt::format("[$bx + {}]", number(0, 255) * 8); }

  void install(int vector, const std::string& handler) {
    put(fmt::format("mov esi, {}", vector));
    put("mov edi, " + handler);
    put("call set_interrupt_handler");
  }
  void install_handlers() {
    install(0, "on_divide");
    install(6, "on_invalid");
    install(13, "on_protection");
    install(33, "on_counter");
    put(fmt::format("mov ebx, {:#x}", data));
    put("mov edi, " + fmt::format("{:#x}", data + 0x1000));
    put("xor eax, eax");
    put("xor edx, edx");
    put("xor esi, esi");
    put("xor ebp, ebp");
  }
  void start_counters() {
    const std::string events[] = {"00C0h", "00C4h", "003Ch", "013Ch"};
    for (int i = 0; i < 3; ++i) {
      const bool interrupts = i == 0 && chance(70);
      if (interrupts) {
        put("WRITE_MSR IA32_PMC0, (-" + std::to_string(number(300, 9000)) + ") & 0FFFFFFFFh");
        put("mov eax, APIC_BASE + LVT_PERFMON");
        put("mov dword [$ax], 33");
      }
      put(fmt::format("WRITE_MSR IA32_PERFEVTSEL{}, {}0000h | {}", i, interrupts ? "53" : "43",
                      events[static_cast<std::size_t>(number(0, 3))]));
    }
    if (chance(50)) put("WRITE_MSR IA32_FIXED_CTR_CTRL, 333h");
    if (chance(50)) put("WRITE_MSR IA32_PERF_GLOBAL_CTRL, 70000000Fh");
    if (chance(80)) put("sti");
  }

  void plain() {
    const std::string a = value(), b = value();
    switch (number(0, 13)) {
      case 0: put(fmt::format("mov {}, {}", a, number(0, 1 << 30))); break;
      case 1:
        put(fmt::format("{} {}, {}", one_of({"add", "sub", "xor", "or", "and", "adc", "sbb", "imul"}), a, b));
        break;
      case 2: put(fmt::format("mov {}, {}", cell(), a)); break;
      case 3: put(fmt::format("mov {}, {}", a, cell())); break;
      case 4: put(fmt::format("{} dword {}, {}", one_of({"add", "xor", "sub"}), cell(), number(0, 9999))); break;
      case 5: put("push $ax"), put("pop $dx"); break;
      case 6: put(fmt::format("{} {}, {}", one_of({"shl", "shr", "rol", "rcr", "sar"}), a, number(0, 31))); break;
      case 7: put(fmt::format("cmov{} {}, {}", one_of({"z", "c", "s", "o"}), a, b)); break;
      case 8: put("pushf"), put("pop $ax"); break;
      case 9: put("movd xmm0, " + a), put("paddd xmm1, xmm0"), put("movd " + b + ", xmm1"); break;
      case 10: put("lock xadd " + cell() + ", " + a); break;
      case 11:
        put("mov byte " + fmt::format("[$di + {}]", number(0, 64)) + ", " + std::to_string(number(0, 255)));
        break;
      case 12: put("bswap " + a); break;
      default: put(fmt::format("lea {}, [$bx + {}]", a, number(-9, 9))); break;
    }
  }
  // Instructions that must not run in a block with others.
  void special() {
    switch (number(0, 9)) {
      case 0: put("ud2"); break;
      case 1: put("sidt [$di + 100h]"), put("lidt [$di + 100h]"), put("mov dword [$di + 80h], 0"), put("ud2"); break;
      case 2: put("sgdt [$di + 110h]"), put("lgdt [$di + 110h]"); break;
      case 3: put("smsw ax"); break;
      case 4: put("mov edx, 77"), put("xor eax, eax"), put("div eax"); break;
      case 5: put("xor ecx, ecx"), put("rdpmc"); break;
      case 6: put("mov ecx, 999h"), put("rdmsr"); break;
      case 7: put("rdtsc"); break;
      case 8: put("mov eax, 1"), put("push $bx"), put("cpuid"), put("pop $bx"); break;
      default: put("str ax"); break;
    }
  }
  // Registers of the address change between the accesses, of which one is to the local APIC or faults.
  void far_access() {
    put("push $bx");
    put(fmt::format("mov {}, [$bx]", value()));
    put("mov ebx, 0FEE00000h");
    if (chance(50)) put(fmt::format("mov {}, [$bx + 30h]", value()));
    if (chance(30)) put("mov dword [$bx + 0B0h], 0");
    put("mov ebx, " + fmt::format("{:#x}", data));
    put(fmt::format("add dword [$bx + {}], 3", number(0, 100)));
    put("pop $bx");
  }
  // A store into code: into its own block, one that ran before, or one that runs later.
  void store_into_code() {
    const std::string there = new_label();
    const bool is_after = chance(60);
    if (!is_after) {
      label(there);
      put("mov esi, 12345678h");
    }
    for (int i = number(0, 2); i > 0; --i) plain();
    put("push $dx");
    put("mov edx, " + there);
    switch (number(0, 3)) {
      case 0: put("inc dword [$dx + 1]"); break;
      case 1: put("mov [$dx + 1], eax"); break;
      case 2: put("mov byte [$dx + 2], 77h"); break;
      default: put("lock add dword [$dx + 1], 5"); break;
    }
    if (is_after) {
      label(there);
      put("mov esi, 12345678h");
    }
    put("pop $dx");
    put("mov " + cell() + ", esi");
  }
  // Changes an instruction into another one of the same length with a different cost.
  void change_kind() {
    const std::string there = new_label();
    put("push $dx");
    put("mov edx, " + there);
    put(fmt::format("xor dword [$dx], {}", chance(50) ? "0" : "00002E11h"));  // imul eax, ecx: 0F AF C1
    put("pop $dx");
    label(there);
    put("db 0Fh, 0AFh, 0C1h, 90h");
  }
  void body(bool may_be_special) {
    for (int i = number(1, 8); i > 0; --i) {
      if (may_be_special && chance(12)) {
        far_access();
      } else if (may_be_special && chance(12)) {
        store_into_code();
      } else if (may_be_special && chance(6)) {
        change_kind();
      } else {
        plain();
      }
      if (chance(10)) {
        const std::string there = new_label();
        put(one_of({"jz ", "jc ", "js ", "jo "}) + there);
        plain();
        label(there);
      }
    }
  }
  void loop(int rounds, bool is_special) {
    const std::string begin = new_label();
    put(fmt::format("mov ecx, {}", rounds));
    label(begin);
    body(is_special);
    if (is_special && chance(40)) {
      put("push $cx");
      special();
      put("pop $cx");
    }
    if (chance(20)) put("call routine");
    put("dec ecx");
    put("jnz " + begin);
  }
  void fragment() {
    switch (number(0, 5)) {
      case 0: special(); break;
      case 1: loop(number(40, 250), true); break;
      case 2: loop(number(200, 3000), false); break;
      case 3: put("push $di"), put(fmt::format("mov ecx, {}", number(0, 500))), put("rep stosb"), put("pop $di"); break;
      case 4:
        loop(number(200, 900), false);
        loop(number(40, 120), true);
        break;
      default: store_into_code(); break;
    }
  }
  void end_of_program() {
    switch (number(0, 6)) {
      case 0:  // unmapped memory, in a block that ran without a fault before
        loop(400, false);
        put("mov eax, [$bx]"), put("mov ebx, 3000000h"), put("mov edx, 5"), put("mov [$bx + 8], eax"), put("nop");
        break;
      case 1: put("push $ax"), put("push $ax"), put("mov $sp, $di"), put("jmp $ax"); break;
      case 2: put("mov esi, greeting"), put("call puts"), put("EXIT 7"); break;
      case 3: loop(2000, false), put("mov eax, 4000000h"), put("jmp $ax"); break;
      default: put("hlt"); break;
    }
  }
  void handlers() {
    const std::string back = bits_ == 64 ? "iretq" : "iret";
    label("routine"), put("inc dword [$bx + 800h]"), put("ret");
    label("on_divide"), put("mov eax, 7"), put("xor edx, edx"), put(back);
    label("on_invalid"), put(bits_ == 64 ? "add qword [rsp], 2" : "add dword [esp], 2"), put(back);
    label("on_protection"), put("add $sp, " + std::to_string(bits_ / 8));
    put(bits_ == 64 ? "add qword [rsp], 2" : "add dword [esp], 2"), put(back);
    label("on_counter");
    for (const char* const one : {"ax", "cx", "dx"}) put(std::string("push $") + one);
    put("inc dword [$bx + 808h]");
    put("WRITE_MSR IA32_PMC0, (-" + std::to_string(number(300, 3000)) + ") & 0FFFFFFFFh");
    put("RESET_COUNTER_OVERFLOW");
    put("mov eax, APIC_BASE + LVT_PERFMON"), put("mov dword [$ax], 33");
    put("mov eax, APIC_BASE + EOI"), put("mov dword [$ax], 0");
    for (const char* const one : {"dx", "cx", "ax"}) put(std::string("pop $") + one);
    put(back);
    text_ += "greeting: db 'hello', 10, 0\n";
  }

  std::mt19937 random_;
  int bits_;
  int labels_ = 0;
  std::string text_;
};

std::string described(const Entry& entry) {
  return fmt::format("{} at {:X}H after {}, CPL {}: {:X}H {:X}H '{}'", static_cast<int>(entry.kind), entry.address,
                     entry.instruction, entry.cpl, entry.number, entry.value, entry.text);
}

// Returns all visible results of a run, one per line.
std::vector<std::string> shown(const Ran& run) {
  std::vector<std::string> all;
  for (const Entry& entry : run.entries) all.push_back(described(entry));
  all.push_back(fmt::format("end {} at {:X}H with {}: {} ({})", static_cast<int>(run.end.reason), run.end.address,
                            run.end.code, run.end.message, run.end.hint));
  all.push_back(fmt::format("{} instructions, time stamp {}", run.machine->instructions(), run.machine->time_stamp()));
  for (const auto& [name, value] : run.machine->registers()) all.push_back(fmt::format("{} = {:X}H", name, value));
  for (const CounterState& one : run.machine->counters()) all.push_back(fmt::format("{} = {}", one.name, one.value));
  for (std::uint64_t at = data; at < data + data_bytes; at += 8) {
    if (const std::uint64_t value = run.machine->memory(at, 8); value != 0)
      all.push_back(fmt::format("[{:X}H] = {:X}H", at, value));
  }
  return all;
}

std::string difference(const Ran& a, const Ran& b) {
  const auto one = shown(a), other = shown(b);
  std::string text;
  for (std::size_t i = 0; i < std::max(one.size(), other.size()); ++i) {
    const std::string left = i < one.size() ? one[i] : "nothing", right = i < other.size() ? other[i] : "nothing";
    if (left != right) text += fmt::format("blocks: {}\nsingle: {}\n", left, right);
  }
  return text;
}

Settings settings_of(unsigned seed) {
  Settings settings;
  settings.max_instructions = seed % 5 == 0 ? 20'000 + seed * 7 : 100'000;
  if (seed % 4 == 1) settings.behaviour.clock = {2, 3};
  if (seed % 7 == 2) settings.behaviour.skid = 3;
  return settings;
}

void compare(const std::string& program, Settings settings, int bits, const std::string& what) {
  settings.blocks = true;
  const Ran blocks = ran(program, settings, bits);
  settings.blocks = false;
  const Ran single = ran(program, settings, bits);
  if (!blocks.machine || !single.machine) return;
  EXPECT_EQ(difference(blocks, single), "") << what << "\n" << program;
}

TEST(LabDifferential, random_programs_do_the_same_in_blocks_and_one_by_one) {
  TALLY_NEEDS_NASM();
  unsigned first = 1, last = test::in_full_run(40, 15);
  if (const char* const seeds = std::getenv("TALLY_LAB_SEEDS")) std::sscanf(seeds, "%u..%u", &first, &last);
  for (unsigned seed = first; seed <= last; ++seed) {
    const int bits = seed % 3 == 0 ? 64 : 32;
    compare(Generator(seed, bits).program(), settings_of(seed), bits, fmt::format("seed {}", seed));
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace tally::lab
