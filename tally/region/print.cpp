// A result as text.
#include <fmt/format.h>

#include "tally/base/text.hpp"
#include "tally/tally.hpp"

namespace tally {
namespace {

std::string number(const std::optional<std::int64_t>& value) { return value ? thousands(*value) : "-"; }

std::string remark(const RegionEvent& event) {
  if (event.too_small) return fmt::format("too small to trust: overhead is {:.3g} % of it", event.overhead_percent);
  return event.total.reason.empty() ? std::string(name(event.total.trust))
                                    : fmt::format("{}: {}", name(event.total.trust), event.total.reason);
}

}  // namespace

void print(const RegionResult& result, std::FILE* to) {
  std::string head =
      fmt::format("{}: {} {}", printable(result.name), thousands(static_cast<std::int64_t>(result.all.entries)),
                  result.all.entries == 1 ? "entry" : "entries");
  if (result.all.recursive > 0) head += fmt::format(", {} more within themselves", result.all.recursive);
  if (result.all.dropped > 0) head += fmt::format(", {} dropped", result.all.dropped);
  if (result.threads.size() > 1) head += fmt::format(", {} threads", result.threads.size());
  fmt::print(to, "{}\n {:<22} {:>16} {:>14} {:>14} {:>14}  {}\n", head, "event", "total", "per entry", "least", "most",
             "trust");
  for (const RegionEvent& event : result.all.events) {
    std::string each = "-";
    if (event.total.value && result.all.entries > 0) {
      each = fmt::format("{:.2f}", static_cast<double>(*event.total.value) / static_cast<double>(result.all.entries));
    }
    fmt::print(to, " {:<22} {:>16} {:>14} {:>14} {:>14}  {}\n", event.event, number(event.total.value), each,
               number(event.least), number(event.most), remark(event));
  }
}

}  // namespace tally
