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

double quantile(std::vector<double> values, double share) {
  const auto nth = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size()));
  std::nth_element(values.begin(), nth, values.end());
  return *nth;
}

std::vector<double> without_interrupted(std::vector<double> values) {
  if (values.empty()) return values;
  const double least = interrupted_below * quantile(values, 0.5);
  std::erase_if(values, [least](double value) { return value < least; });
  return values;
}

// Compares the mean with the time that the additions take alone, which is among the shortest.
double shared_share(std::vector<double> times) {
  constexpr std::size_t least_number = 10;
  constexpr double alone = 0.1;
  constexpr double longest = 2;  // times the one alone; longer: interrupted
  if (times.size() < least_number) return 0;
  const double shortest = quantile(times, alone);
  std::erase_if(times, [shortest](double time) { return time > longest * shortest; });
  return std::max(0.0, 1 - shortest / mean_of(times));
}

void measure_interrupts(FrequencySamples& samples) {
  constexpr auto time = std::chrono::milliseconds(4);
  constexpr int repetitions = 10;
  constexpr int tries = 5;
  for (int i = 0; i < repetitions; ++i) {
    const auto charged = charged_hertz(time);
    if (const auto hertz = core_hertz(tries); charged && hertz) samples.charged.push_back(*charged / *hertz);
  }
}

}  // namespace

std::optional<MeasuredFrequency> frequency_of(const std::vector<FrequencySamples>& samples_by_processor) {
  std::vector<double> means, charged, shared;
  MeasuredFrequency result;
  double largest_error = 0;
  for (const FrequencySamples& samples : samples_by_processor) {
    if (samples.hertz.empty()) continue;
    const std::vector<double> values = without_interrupted(samples.hertz);
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    result.low = means.empty() ? *low : std::min(result.low, *low);
    result.high = means.empty() ? *high : std::max(result.high, *high);
    means.push_back(mean_of(values));
    largest_error = std::max(largest_error, error_of(values, means.back()));
    shared.push_back(shared_share(samples.independent));
    const std::vector<double> shares = without_interrupted(samples.charged);
    charged.insert(charged.end(), shares.begin(), shares.end());
  }
  if (means.empty()) return std::nullopt;
  result.hertz = mean_of(means);
  // A program may have run on any of the CPUs most of the time.
  const auto [slowest, fastest] = std::minmax_element(means.begin(), means.end());
  result.error = (largest_error + std::max(*fastest - result.hertz, result.hertz - *slowest)) / result.hertz;
  result.shared = *std::max_element(shared.begin(), shared.end());
  if (charged.empty()) return result;
  const double share = mean_of(charged);
  result.interrupted = std::clamp(1 - share, 0.0, 1.0);
  result.error += error_of(charged, share);
  return result;
}

std::optional<MeasuredFrequency> frequency_now(Nanoseconds time) {
  FrequencyWatch watch({sched_getcpu()});
  std::this_thread::sleep_for(time);
  return watch.stop();
}

FrequencyWatch::FrequencyWatch(const std::vector<int>& processors)
    : preparing_(processors.size()), samples_(processors.size()) {
  for (std::size_t i = 0; i < processors.size(); ++i)
    threads_.push_back(worker_thread([this, processor = processors[i], i] { measure(processor, samples_[i]); }));
  std::unique_lock lock(mutex_);
  ready_.wait(lock, [this] { return preparing_ == 0; });
}

FrequencyWatch::~FrequencyWatch() { (void)stop(); }

void FrequencyWatch::set_ready() {
  const std::lock_guard lock(mutex_);
  --preparing_;
  ready_.notify_one();
}

void FrequencyWatch::measure(int processor, FrequencySamples& samples) {
  constexpr auto between = std::chrono::milliseconds(5);
  constexpr int tries = 3;
  const bool is_there = stay_on(processor);
  if (is_there) measure_interrupts(samples);
  set_ready();
  if (!is_there) return;
  std::unique_lock lock(mutex_);
  for (bool is_last = false;; is_last = ends_) {
    lock.unlock();
    if (const auto measured = core_hertz(tries)) samples.hertz.push_back(*measured);
    if (const auto time = independent_time()) samples.independent.push_back(*time);
    if (is_last) break;
    lock.lock();
    wake_.wait_for(lock, between, [this] { return ends_; });
  }
  measure_interrupts(samples);
}

std::optional<MeasuredFrequency> FrequencyWatch::stop() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  return frequency_of(samples_);
}

}  // namespace tally::linux
