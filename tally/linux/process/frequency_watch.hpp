// Measures the frequencies of CPUs while a program runs on them.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "tally/core/base/units.hpp"

namespace tally::linux {

/// The frequency of a CPU, or of several, during a time.
struct MeasuredFrequency {
  double hertz = 0;          ///< mean
  double low = 0, high = 0;  ///< the lowest and the highest measurement
  /// Bound of the error of the mean, as a share of it, with 95 % probability: the spread over time, and between CPUs.
  double error = 0;
  /// Share of the processor time charged to a busy thread in which it did not run, because of interrupts and switches.
  double interrupted = 0;
  /// Share by which another hardware thread of the same core slowed independent additions, if it did so part of the
  /// time. A chain of dependent operations loses nothing.
  double shared = 0;
  /// Cycles that a thread executes in a second of processor time charged to it.
  double charged_hertz() const { return hertz * (1 - interrupted); }
  bool operator==(const MeasuredFrequency&) const = default;
};

/// Measurements of one CPU.
struct FrequencySamples {
  std::vector<double> hertz = {};        ///< core_hertz()
  std::vector<double> charged = {};      ///< charged_hertz() / core_hertz()
  std::vector<double> independent = {};  ///< independent_time()
};

/// Computes the mean of the measurements of each CPU, all of the same weight. Ignores measurements that an interruption
/// made more than 15 % too low. Nothing without measurements. Pure.
std::optional<MeasuredFrequency> frequency_of(const std::vector<FrequencySamples>& samples_by_processor);

/// Measures the CPU that executes the calling thread for some time; nothing if its frequency cannot be measured.
std::optional<MeasuredFrequency> frequency_now(Nanoseconds time);

/// During its lifetime, a thread on each CPU measures its frequency: at the beginning, every 5 ms, and at the end. It
/// takes 0.3 % of the CPU's time. Before and after that it is busy for 40 ms of processor time, to measure interrupts.
/// Create it after Signals.
class FrequencyWatch {
 public:
  /// Returns when the time for interrupts is over. CPUs on which this process may not run are left out.
  explicit FrequencyWatch(const std::vector<int>& processors);
  FrequencyWatch(const FrequencyWatch&) = delete;
  FrequencyWatch& operator=(const FrequencyWatch&) = delete;
  ~FrequencyWatch();

  /// Ends the measurements, and returns their result; nothing if the frequency cannot be measured here.
  std::optional<MeasuredFrequency> stop();

 private:
  void measure(int processor, FrequencySamples& samples);
  void set_ready();

  std::mutex mutex_;
  std::condition_variable wake_, ready_;
  bool ends_ = false;
  std::size_t preparing_;                  // threads that still measure interrupts
  std::vector<FrequencySamples> samples_;  // by CPU; each belongs to its thread until that ended
  std::vector<std::thread> threads_;
};

}  // namespace tally::linux
