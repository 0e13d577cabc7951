// Measures the speed of the register lab: instructions per second in loops, and the cost of an exact overflow. Prints
// CPU time, the best of five; the machine should be idle.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <string>

#include "programs/lab/x86_machine.hpp"

namespace {

using namespace tally;

double seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

struct Timed {
  double seconds = 1e9;
  std::uint64_t instructions = 0;
  std::uint64_t overflows = 0;
};

Timed best_of_five(const std::string& program, bool blocks) {
  Timed best;
  const auto image = lab::assemble("bench.asm", "bits 64\n%include \"lab.inc\"\n" + program, 64, ".");
  if (!image) {
    fmt::print("{}\n", image.error().message);
    return best;
  }
  for (int i = 0; i < 5; ++i) {
    lab::Settings settings;
    settings.max_instructions = 1ULL << 40;
    settings.blocks = blocks;
    Timed one;
    auto machine = lab::LabX86::make(*image, settings, [&one](const lab::Entry& entry) {
      one.overflows += entry.kind == lab::Entry::Kind::overflow ? 1 : 0;
    });
    if (!machine) continue;
    const double begin = seconds();
    (*machine)->run();
    one.seconds = seconds() - begin;
    one.instructions = (*machine)->instructions();
    if (one.seconds < best.seconds) best = one;
  }
  return best;
}

const std::string start = "  WRITE_MSR IA32_FIXED_CTR_CTRL, 3\n  WRITE_MSR IA32_PERF_GLOBAL_CTRL, 1 << 32\n";

// A loop of `length` instructions that executes `total` instructions.
std::string loop(int length, std::uint64_t total) {
  return start + fmt::format("  mov r11, {}\n.loop:\n  times {} add rax, rbx\n  dec r11\n  jnz .loop\n  hlt\n",
                             total / static_cast<std::uint64_t>(length), length - 2);
}

// The loop of five of the RDPMC article.
std::string factorial(std::uint64_t rounds) {
  return fmt::format(
      "  mov r11, {}\n.loop:\n  cmp r11, 1\n  jle .done\n  imul r12, r11\n  dec r11\n  jmp .loop\n.done:\n  hlt\n",
      rounds);
}

std::string sampled(std::uint64_t period, std::uint64_t rounds) {
  return fmt::format(
             "  mov esi, 33h\n  mov edi, handler\n  call set_interrupt_handler\n  WRITE_MSR 834h, 33h\n"
             "  WRITE_MSR IA32_FIXED_CTR0, (1 << 48) - {}\n  WRITE_MSR IA32_FIXED_CTR_CTRL, 0Bh\n"
             "  WRITE_MSR IA32_PERF_GLOBAL_CTRL, 1 << 32\n  sti\n",
             period) +
         factorial(rounds) +
         fmt::format(
             "handler:\n  PUSH_ALL\n  WRITE_MSR IA32_FIXED_CTR0, (1 << 48) - {}\n  WRITE_MSR "
             "IA32_PERF_GLOBAL_OVF_CTRL, 1 << 32\n"
             "  WRITE_MSR 834h, 33h\n  WRITE_MSR 80Bh, 0\n  POP_ALL\n  iretq\n",
             period);
}

void show(const char* what, const Timed& one) {
  fmt::print("{:<44} {:>7.2f} G instructions/s\n", what, static_cast<double>(one.instructions) / one.seconds / 1e9);
}

}  // namespace

int main() {
  show("blocks of 42 instructions", best_of_five(loop(42, 1'000'000'000), true));
  show("the article's loop of 5", best_of_five(start + factorial(100'000'000), true));
  show("the same, instruction by instruction", best_of_five(start + factorial(2'000'000), false));
  for (const std::uint64_t period : {100'003, 10'007, 1'009}) {
    const Timed one = best_of_five(sampled(period, 4'000'000), true);
    fmt::print("{:<44} {:>7.1f} us each, {} of them\n", fmt::format("an exact overflow, period {}", period),
               one.seconds * 1e6 / static_cast<double>(std::max<std::uint64_t>(one.overflows, 1)), one.overflows);
  }
}
