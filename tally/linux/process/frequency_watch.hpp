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
  bool operator==(const MeasuredFrequency&) const = default;
};

/// Computes the mean of the measurements of each CPU, all of the same weight. Ignores measurements that an interruption
/// made more than 15 % too low. Nothing without measurements. Pure.
std::optional<MeasuredFrequency> frequency_of(const std::vector<std::vector<double>>& hertz_by_processor);

/// Measures the CPU that executes the calling thread for some time; nothing if its frequency cannot be measured.
std::optional<MeasuredFrequency> frequency_now(Nanoseconds time);

/// During its lifetime, a thread on each CPU measures its frequency: at the beginning, every 5 ms, and at the end. It
/// takes 0.2 % of the CPU's time. Create it after Signals.
class FrequencyWatch {
 public:
  /// CPUs on which this process may not run are left out.
  explicit FrequencyWatch(const std::vector<int>& processors);
  FrequencyWatch(const FrequencyWatch&) = delete;
  FrequencyWatch& operator=(const FrequencyWatch&) = delete;
  ~FrequencyWatch();

  /// Ends the measurements, and returns their result; nothing if the frequency cannot be measured here.
  std::optional<MeasuredFrequency> stop();

 private:
  void measure(int processor, std::vector<double>& hertz);

  std::mutex mutex_;
  std::condition_variable wake_;
  bool ends_ = false;
  std::vector<std::vector<double>> hertz_;  // by CPU; each belongs to its thread until that ended
  std::vector<std::thread> threads_;
};

}  // namespace tally::linux
