// Helpers that run programs on the emulated computer in tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "programs/lab/x86_machine.hpp"

namespace tally::lab {

/// A finished run.
struct Ran {
  End end;
  std::vector<Entry> entries;
  std::unique_ptr<LabX86> machine;

  int count(Entry::Kind kind) const {
    int found = 0;
    for (const Entry& entry : entries) found += entry.kind == kind ? 1 : 0;
    return found;
  }
  std::string output() const {
    std::string text;
    for (const Entry& entry : entries) text += entry.kind == Entry::Kind::output ? entry.text : "";
    return text;
  }
  std::uint64_t counter(int number) const { return machine->pmu().counter(number); }
};

inline bool has_assembler() { return std::system("command -v nasm > /dev/null 2>&1") == 0; }

#define TALLY_NEEDS_NASM() \
  if (!has_assembler()) GTEST_SKIP() << "nasm is not installed: nothing assembles the programs"

/// Counter 0 counts instructions from `start` to `stop`, including the four instructions of `stop`.
inline const std::string start = "  WRITE_MSR IA32_PERFEVTSEL0, 4300C0h\n";
inline const std::string stop = "  WRITE_MSR IA32_PERFEVTSEL0, 0\n  hlt\n";
inline constexpr std::uint64_t around = 4;

/// Assembles and runs a program, preceded by `lab.inc`.
inline Ran ran(const std::string& text, Settings settings = {}, int bits = 32) {
  Ran out;
  const auto image =
      assemble("test.asm", "bits " + std::to_string(bits) + "\n%include \"lab.inc\"\n" + text, bits, ".");
  if (!image) {
    ADD_FAILURE() << image.error().message;
    return out;
  }
  auto machine = LabX86::make(*image, settings, [&out](const Entry& entry) { out.entries.push_back(entry); });
  if (!machine) {
    ADD_FAILURE() << machine.error().message;
    return out;
  }
  out.machine = std::move(*machine);
  out.end = out.machine->run();
  return out;
}

}  // namespace tally::lab
