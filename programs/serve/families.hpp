// Builds families of series. Private to this directory.
#pragma once

#include <prometheus/metric_family.h>

#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tally::serve {

using Labels = std::initializer_list<std::pair<const char*, std::string>>;

/// Collects families; take() drops those without series.
class Families {
 public:
  /// Begins a family, to which add() then adds.
  void counter(const char* name, const char* help) { begin(name, help, prometheus::MetricType::Counter); }
  void gauge(const char* name, const char* help) { begin(name, help, prometheus::MetricType::Gauge); }

  /// Adds a series if there is a value.
  void add(std::optional<double> value, Labels labels = {}) {
    if (!value) return;
    prometheus::ClientMetric metric;
    for (const auto& [label, text] : labels) metric.label.push_back({label, text});
    all_.back().type == prometheus::MetricType::Counter ? metric.counter.value = *value : metric.gauge.value = *value;
    all_.back().metric.push_back(std::move(metric));
  }

  std::vector<prometheus::MetricFamily> take() {
    std::erase_if(all_, [](const auto& family) { return family.metric.empty(); });
    return std::move(all_);
  }

 private:
  void begin(const char* name, const char* help, prometheus::MetricType type) {
    all_.push_back({name, help, type, {}});
  }

  std::vector<prometheus::MetricFamily> all_;
};

}  // namespace tally::serve
