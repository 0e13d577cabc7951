#include "programs/verify/trial.hpp"

#include <charconv>
#include <vector>

#include "tally/core/base/text.hpp"

namespace tally::verify {

bool has(std::string_view name) { return workload::find(name) != nullptr; }

Trial usual(std::string_view name) {
  const workload::Workload* match = workload::find(name);
  return {match, match ? match->usual : workload::Parameters{}};
}

std::optional<Trial> trial_of(const std::string& path) {
  const std::vector<std::string> words = split(path.substr(path.rfind('/') + 1), '-');
  Trial trial{workload::find(words.front()), {}};
  if (!trial.workload) return std::nullopt;
  std::size_t next = 1;
  for (const workload::Named& field : workload::fields()) {
    if (!workload::takes(*trial.workload, field.name)) continue;
    if (next == words.size()) return std::nullopt;
    const std::string& word = words[next++];
    const auto read = std::from_chars(word.data(), word.data() + word.size(), trial.parameters.*field.field);
    if (read.ec != std::errc() || read.ptr != word.data() + word.size()) return std::nullopt;
  }
  return next == words.size() ? std::optional(trial) : std::nullopt;
}

}  // namespace tally::verify
