#include "tally/counting/backend/engine/count/handed_back.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "tally/core/base/text.hpp"

namespace tally::backend::engine {

std::string with_moments(const std::string& words, const std::vector<Nanoseconds>& from) {
  if (from.empty()) return words;
  const char* const joint = words.ends_with("natively") ? "," : "; natively";
  const auto [first, last] = std::minmax_element(from.begin(), from.end());
  if (from.size() == 1)
    return fmt::format("{}{} from {} of its processor time on", words, joint, duration_text(*first));
  return fmt::format("{}{} from {} to {} of the processor time of {} processes on", words, joint, duration_text(*first),
                     duration_text(*last), from.size());
}

std::string native_share(const std::vector<const channel::Process*>& processes, bool natives, Nanoseconds all) {
  bool any = natives;
  std::unordered_map<std::int32_t, std::uint64_t> counted_ns;  // by process, over all programs that it executed
  for (const channel::Process* process : processes) {
    if (process->state == channel::State::free) continue;
    any |= process->handed_back_ns != 0 || (process->partial & channel::partial_exec_native) != 0;
    if (process->counted_ns == 0) return "";
    std::uint64_t& until = counted_ns[process->pid];
    until = std::max(until, process->counted_ns);
  }
  if (!any || all.count() <= 0) return "";
  double sum_ns = 0;
  for (const auto& [pid, until] : counted_ns) sum_ns += static_cast<double>(until);
  const double share = std::clamp(1 - sum_ns / static_cast<double>(all.count()), 0.0, 1.0);
  return fmt::format("{} of the command's {} of processor time ran natively", percent_text(100 * share),
                     duration_text(all));
}

}  // namespace tally::backend::engine
