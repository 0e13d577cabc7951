// What tellers of a run ask of the emulated computer, whichever processor it has.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tally/hardware/pmu/codec.hpp"
#include "tally/tools/lab/image.hpp"
#include "tally/tools/lab/journal.hpp"

namespace tally::lab {

/// A counter as it stands.
struct CounterState {
  std::string name;
  std::uint64_t value = 0;
  std::string event;  ///< what it counts, in words
  bool runs = false;
  int overflow_bit = 48;  ///< it overflows where this bit would be set
  bool is_known = true;   ///< false: what reset left in it, which nobody wrote
};

/// The declared model, in a line.
std::string model_line(std::uint64_t cache_bytes);

/// Why a run ends that has executed so many instructions: `recent` are the addresses of the last ones, `ends_by` the
/// instruction that ends a program.
End no_end_in_sight(std::uint64_t instructions, std::uint64_t address, std::span<const std::uint64_t> recent,
                    const Image& image, std::string_view ends_by);
/// The program wrote this to what ends it.
End ended_itself(std::uint64_t address, std::uint64_t written);

/// SIGINT or SIGTERM asked for the end.
End stopped_by_signal(std::uint64_t address);

/// Of every run.
struct RunSettings {
  std::uint64_t max_instructions = 100'000'000;
  bool steps = false;                      ///< an entry for each instruction
  bool step_registers = false;             ///< with the general registers that changed
  std::uint64_t cache_bytes = 8 << 20;     ///< of the line tags
  bool reads = false;                      ///< an entry for each read of a register of the PMU
  std::vector<std::uint64_t> breakpoints;  ///< entries where the program stands before them
};

class Computer {
 public:
  Computer() = default;
  virtual ~Computer() = default;
  Computer(const Computer&) = delete;
  Computer& operator=(const Computer&) = delete;

  /// Runs to the end.
  virtual End run() = 0;

  virtual const Image& image() const = 0;
  virtual std::uint64_t instructions() const = 0;
  virtual std::uint64_t time_stamp() const = 0;
  /// The counters, those that the manual names first in front.
  virtual std::vector<CounterState> counters() const = 0;
  /// General registers by name, for people.
  virtual std::vector<std::pair<std::string, std::uint64_t>> registers() const = 0;
  /// The instruction at an address, as text.
  virtual std::string instruction_text(std::uint64_t address) const = 0;

  /// "haswell-v3".
  virtual std::string_view model() const = 0;
  /// The processor and the declared model, in lines.
  virtual std::string headline() const = 0;
  /// "IA32_PERF_GLOBAL_CTRL" by the number in an entry, or "MSR 999H".
  virtual std::string register_name(std::uint32_t number) const = 0;
  /// The counter that an entry of a reading names.
  virtual std::string counter_name(std::uint32_t number) const = 0;
  /// The register and the value of an entry; nothing where no table has it.
  virtual std::optional<pmu::Value> value(const Entry& entry) const = 0;
  /// What the value of a register means: "counts instructions retired, in user and kernel mode".
  virtual std::string meaning(const Entry& entry) const = 0;
  /// What happened, in the processor's words: "WRMSR IA32_PMC0 = 0x1". Without what it means and what is wrong.
  virtual std::string words(const Entry& entry) const = 0;
  /// What the processor does about an access that it refuses: "#GP(0)".
  virtual std::string_view refusal() const = 0;
  /// What the handler of statements does: "vector 33H is taken: …".
  virtual std::string handler_words(const Entry& entry) const = 0;
  /// All registers of the PMU, drawn bit by bit.
  virtual std::string drawings() const = 0;

  /// What there is to say about an entry of this run, beside what its value alone says.
  virtual std::vector<pmu::Remark> lint(Entry& entry) = 0;
  /// What is left to say when all is over.
  virtual std::vector<pmu::Remark> lint_at_end() const = 0;
};

}  // namespace tally::lab
