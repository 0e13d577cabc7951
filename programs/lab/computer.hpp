// The interface of the emulated computers for output, independent of the processor.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "programs/lab/journal.hpp"
#include "programs/lab/lab_image.hpp"
#include "programs/register/pmu/codec.hpp"

namespace tally::lab {

/// The state of a counter.
struct CounterState {
  std::string name;
  std::uint64_t value = 0;
  std::string event;  ///< the description of the event that it counts
  bool runs = false;
  int overflow_bit = 48;  ///< it overflows when this bit would be set
  bool is_known = true;   ///< false: it holds an undefined value from reset
};

/// Describes the declared model in one line. `more`: what only some processors of the lab model.
std::string model_line(std::uint64_t cache_bytes, std::string_view more = {});

/// Returns the end of a run at the limit of instructions: `recent` are the addresses of the last ones, `ends_by` names
/// the instruction that ends a program.
End no_end_in_sight(std::uint64_t instructions, std::uint64_t address, std::span<const std::uint64_t> recent,
                    const Image& image, std::string_view ends_by);
/// Returns the end of a program that wrote this value to the exit port or address.
End ended_itself(std::uint64_t address, std::uint64_t written);

/// Returns the end by SIGINT or SIGTERM.
End stopped_by_signal(std::uint64_t address);

/// Settings of every run.
struct RunSettings {
  std::uint64_t max_instructions = 100'000'000;
  bool steps = false;                      ///< make an entry for each instruction
  bool step_registers = false;             ///< with the general registers that changed
  std::uint64_t cache_bytes = 8 << 20;     ///< size of the line-tag cache
  bool reads = false;                      ///< make an entry for each read of a PMU register
  std::vector<std::uint64_t> breakpoints;  ///< make an entry before each of these addresses
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
  /// Returns the counters in the order of the manual.
  virtual std::vector<CounterState> counters() const = 0;
  /// Returns the general registers by name, for display.
  virtual std::vector<std::pair<std::string, std::uint64_t>> registers() const = 0;
  /// Disassembles the instruction at an address.
  virtual std::string instruction_text(std::uint64_t address) const = 0;

  /// "haswell-v3".
  virtual std::string_view model() const = 0;
  /// Describes the processor and the declared model, in lines.
  virtual std::string headline() const = 0;
  /// Returns the register name of a number in an entry: "IA32_PERF_GLOBAL_CTRL", or "MSR 999H".
  virtual std::string register_name(std::uint32_t number) const = 0;
  /// Returns the name of the counter in an entry of a read.
  virtual std::string counter_name(std::uint32_t number) const = 0;
  /// Returns the register and the value of an entry; nothing if no table has the register.
  virtual std::optional<pmu::Value> value(const Entry& entry) const = 0;
  /// Describes the value of a register: "counts instructions retired, in user and kernel mode".
  virtual std::string meaning(const Entry& entry) const = 0;
  /// Describes an entry in the processor's terms: "WRMSR IA32_PMC0 = 0x1". Excludes its meaning and remarks.
  virtual std::string words(const Entry& entry) const = 0;
  /// Returns what the processor does about a refused access: "#GP(0)".
  virtual std::string_view refusal() const = 0;
  /// Describes the effect of the statements' handler: "vector 33H is taken: …".
  virtual std::string handler_words(const Entry& entry) const = 0;
  /// Draws all registers of the PMU bit by bit.
  virtual std::string drawings() const = 0;

  /// Returns remarks about an entry of this run, except those about its value alone.
  virtual std::vector<pmu::Remark> lint(Entry& entry) = 0;
  /// Returns remarks about the end of the run.
  virtual std::vector<pmu::Remark> lint_at_end() const = 0;
};

}  // namespace tally::lab
