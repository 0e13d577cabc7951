#include "tally/linux/process/frequency_watch.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "tally/linux/machine/core_frequency.hpp"
#include "tally/linux/process/conditions.hpp"
#include "tally/linux/process/worker_thread.hpp"

namespace tally::linux {
namespace {

constexpr double interrupted_below = 0.85;  // of the median

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// Twice the standard error of the mean.
double error_of(const std::vector<double>& values, double mean) {
  if (values.size() < 2) return 0;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const auto n = static_cast<double>(values.size());
  return 2 * std::sqrt(squares / (n - 1) / n);
}

std::vector<double> without_interrupted(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  const double least = interrupted_below * *middle;
  std::erase_if(values, [least](double value) { return value < least; });
  return values;
}

}  // namespace

std::optional<MeasuredFrequency> frequency_of(const std::vector<std::vector<double>>& hertz_by_processor) {
  std::vector<double> means;
  MeasuredFrequency result;
  double largest_error = 0;
  for (const std::vector<double>& all : hertz_by_processor) {
    if (all.empty()) continue;
    const std::vector<double> values = without_interrupted(all);
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    result.low = means.empty() ? *low : std::min(result.low, *low);
    result.high = means.empty() ? *high : std::max(result.high, *high);
    means.push_back(mean_of(values));
    largest_error = std::max(largest_error, error_of(values, means.back()));
  }
  if (means.empty()) return std::nullopt;
  result.hertz = mean_of(means);
  // A program may have run on any of the CPUs most of the time.
  const auto [slowest, fastest] = std::minmax_element(means.begin(), means.end());
  result.error = (largest_error + std::max(*fastest - result.hertz, result.hertz - *slowest)) / result.hertz;
  return result;
}

std::optional<MeasuredFrequency> frequency_now(Nanoseconds time) {
  FrequencyWatch watch({sched_getcpu()});
  std::this_thread::sleep_for(time);
  return watch.stop();
}

FrequencyWatch::FrequencyWatch(const std::vector<int>& processors) : hertz_(processors.size()) {
  for (std::size_t i = 0; i < processors.size(); ++i)
    threads_.push_back(worker_thread([this, processor = processors[i], i] { measure(processor, hertz_[i]); }));
}

FrequencyWatch::~FrequencyWatch() { (void)stop(); }

void FrequencyWatch::measure(int processor, std::vector<double>& hertz) {
  constexpr auto between = std::chrono::milliseconds(5);
  constexpr int tries = 3;
  if (!stay_on(processor)) return;
  std::unique_lock lock(mutex_);
  for (bool is_last = false;; is_last = ends_) {
    lock.unlock();
    if (const auto measured = core_hertz(tries)) hertz.push_back(*measured);
    lock.lock();
    if (is_last) return;
    wake_.wait_for(lock, between, [this] { return ends_; });
  }
}

std::optional<MeasuredFrequency> FrequencyWatch::stop() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  return frequency_of(hertz_);
}

}  // namespace tally::linux
