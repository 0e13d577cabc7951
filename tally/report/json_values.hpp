// What the JSON forms of results share.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "tally/result/regions.hpp"

namespace tally::report {

/// Keeps the order in which keys are set, so that a file reads from the general to the particular.
using Json = nlohmann::ordered_json;

inline Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

template <class T>
Json value_or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// A metric of a command or of a region: what both have.
template <class Metric>
Json metric_values(const Metric& metric) {
  return {{"metric", metric.name},
          {"formula", metric.formula},
          {"unit", text_or_null(metric.unit)},
          {"event", text_or_null(metric.beside)},
          {"per", text_or_null(metric.per)},
          {"asked", metric.asked},
          {"value", value_or_null(metric.ratio.value)},
          {"trust", name(metric.ratio.trust)},
          {"reason", text_or_null(metric.ratio.reason)},
          {"model", text_or_null(metric.ratio.model)}};
}

/// `pid`, `command` and `regions`, as docs/reference/regions-json.md has them.
Json regions_object(const result::ProgramRegions& program);

}  // namespace tally::report
