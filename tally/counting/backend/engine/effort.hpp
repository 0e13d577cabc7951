// Limits the work of collecting the results of a run: a program that overwrites the engine's memory must not make the
// command read for hours, or fill the machine's memory.
#pragma once

#include <cstdint>

#include "tally/linux/process/finishing.hpp"

namespace tally::backend::engine {

/// The remaining budget. The limits exceed what correct runs need, and grow with their processes and threads; all of it
/// together is read in a few seconds.
class Effort {
 public:
  Effort(std::uint64_t processes, std::uint64_t threads)
      : log_bytes_(log_bytes + processes * log_bytes_of_each),
        counter_bytes_(counter_bytes + threads * counter_bytes_of_each),
        entries_(entries + threads * entries_of_each),
        steps_(steps + threads * steps_of_each) {}

  /// Each spends from one budget. Returns false if less is left, or if a signal asks tally to end; after that, all of
  /// them return false.
  bool take_log_bytes(std::uint64_t bytes) { return take(log_bytes_, bytes); }
  bool take_counter_bytes(std::uint64_t bytes) { return take(counter_bytes_, bytes); }
  bool take_entries(std::uint64_t number) { return take(entries_, number); }
  bool take_steps(std::uint64_t number) { return take(steps_, number); }

  /// Whether something was left out because of the limits.
  bool is_spent() const { return is_spent_; }

 private:
  // Logs stay in memory with the entries that are made of them, about 50 bytes each. Counters are read and released, 3
  // GB per second. A step is a check of one mapping, 1 ns.
  static constexpr std::uint64_t log_bytes = 64 << 20, log_bytes_of_each = 8 << 20;
  static constexpr std::uint64_t counter_bytes = std::uint64_t{6} << 30, counter_bytes_of_each = 1 << 20;
  static constexpr std::uint64_t entries = 4'000'000, entries_of_each = 500'000;
  static constexpr std::uint64_t steps = 2'000'000'000, steps_of_each = 50'000'000;

  bool take(std::uint64_t& left, std::uint64_t number) {
    is_spent_ = is_spent_ || left < number || linux::is_interrupted();
    left -= is_spent_ ? 0 : number;
    return !is_spent_;
  }

  std::uint64_t log_bytes_, counter_bytes_, entries_, steps_;
  bool is_spent_ = false;
};

}  // namespace tally::backend::engine
