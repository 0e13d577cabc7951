#include "tally/tools/manual/completion.hpp"

#include <algorithm>

#include "tally/core/base/text.hpp"
#include "tally/core/count/metric.hpp"
#include "tally/counting/backend/choose/choose_backend.hpp"
#include "tally/hardware/event/event.hpp"

namespace tally::manual {
namespace {

using CompletionWords = std::vector<CompletionWord>;

CompletionWords event_words() {
  CompletionWords words;
  for (const event::Definition& definition : event::all()) words.push_back({definition.name, definition.what});
  return words;
}

CompletionWords metric_words() {
  CompletionWords words{{"list", "print the names"}, {"all", "all metrics that can be computed"}};
  for (const MetricDefinition& metric : metric_table()) words.push_back({metric.name, metric.what});
  return words;
}

CompletionWords backend_words() {
  static const std::vector<std::string> names = backend::backend_names();
  CompletionWords words;
  for (const std::string& name : names) words.push_back({name, ""});
  return words;
}

constexpr CompletionSet sets[] = {{"EVENTS", true, event_words},
                                  {"EVENT", true, event_words},
                                  {"METRICS", true, metric_words},
                                  {"BACKEND", false, backend_words}};

// Names of values are in capital letters. One in small letters is what the user types: "own|callees".
bool is_literal(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) { return c == '|' || c == '-' || (c >= 'a' && c <= 'z'); });
}

}  // namespace

std::span<const CompletionSet> completion_sets() { return sets; }

CompletionValue completion_value(const OptionDescription& option) {
  CompletionValue value;
  value.name = option.is_positional() ? option.positional_name : option.value_name;
  if (value.name.empty()) return value;
  if (!option.words.empty() || is_literal(value.name)) {
    value.kind = CompletionValue::Kind::words;
    value.words = option.words.empty() ? split(value.name, '|') : option.words;
  } else if (value.name == "FILE") {
    value.kind = CompletionValue::Kind::file;
  }
  for (const CompletionSet& set : sets) {
    if (value.kind != CompletionValue::Kind::none || value.name != set.value_name) continue;
    value.kind = CompletionValue::Kind::set;
    value.set = &set;
  }
  return value;
}

}  // namespace tally::manual
