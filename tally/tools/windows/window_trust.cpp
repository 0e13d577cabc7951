#include "tally/tools/windows/window_trust.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tally/core/base/text.hpp"

namespace tally::windows {

std::vector<std::string> complete(result::WindowsHead& head, const result::Stat& stat) {
  if (!stat.runs.empty()) head.nondeterminism = stat.runs.front().nondeterminism;
  std::map<std::string, std::vector<std::string>> events;  // by reason
  for (std::size_t i = 0; i < std::min(head.events.size(), stat.events.size()); ++i) {
    Count& count = head.events[i].count;
    const Count& whole = stat.events[i].total.count;
    if (whole.trust <= count.trust || whole.trust < Trust::partial) continue;
    count = downgraded(count, Trust::partial, whole.reason);
    events[fmt::format("{}: {}", name(whole.trust), whole.reason)].push_back(head.events[i].name.text());
  }
  std::vector<std::string> lines;
  for (const auto& [reason, names] : events)
    lines.push_back(join(names, ", ") + (names.size() > 1 ? " are " : " is ") + reason);
  return lines;
}

}  // namespace tally::windows
