#include "programs/serve/never_falling.hpp"

#include <algorithm>

namespace tally::serve {
namespace {

// Names and labels, each with its length, so that keys are unique.
std::string key_of(const prometheus::MetricFamily& family, const prometheus::ClientMetric& metric) {
  std::string key;
  const auto add = [&](const std::string& text) { key += std::to_string(text.size()) + ':' + text; };
  add(family.name);
  for (const auto& label : metric.label) {
    add(label.name);
    add(label.value);
  }
  return key;
}

}  // namespace

void NeverFalling::apply(std::vector<prometheus::MetricFamily>& families) {
  ++reading_;
  for (auto& family : families) {
    if (family.type != prometheus::MetricType::Counter) continue;
    for (auto& metric : family.metric) {
      Series& series = series_[key_of(family, metric)];
      if (metric.counter.value < series.last) series.before += series.last;
      series.last = metric.counter.value;
      series.reading = reading_;
      metric.counter.value += series.before;
    }
  }
  forget_the_oldest();
}

void NeverFalling::forget_the_oldest() {
  std::vector<std::uint64_t> inactive;
  for (const auto& [key, series] : series_) {
    if (series.reading != reading_) inactive.push_back(series.reading);
  }
  if (inactive.size() <= most_) return;
  const auto oldest_kept = inactive.begin() + static_cast<std::ptrdiff_t>(inactive.size() - most_);
  std::nth_element(inactive.begin(), oldest_kept, inactive.end());
  const std::uint64_t from = *oldest_kept;
  std::erase_if(series_,
                [&](const auto& entry) { return entry.second.reading != reading_ && entry.second.reading < from; });
}

}  // namespace tally::serve
