#include "programs/memory/batch_counters.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <utility>

#include "tally/counting/backend/choose/own.hpp"
#include "tally/hardware/event/event.hpp"

namespace tally::memory {
namespace {

struct CounterRequest {
  std::string_view name;
  std::string_view event;
};

// In order of priority, for processors with few counters. On Intel processors, Linux's dTLB-load-misses are page walks
// of loads. The kernel has no name for misses of the second level; Intel has one since Skylake.
constexpr std::array requests{
    CounterRequest{"instructions", "instructions"},        CounterRequest{"cycles_counted", "cycles"},
    CounterRequest{"l1d_misses", "L1-dcache-load-misses"}, CounterRequest{"dtlb_misses", "dTLB-load-misses"},
    CounterRequest{"llc_misses", "LLC-load-misses"},       CounterRequest{"l2_misses", "mem_load_retired.l2_miss"}};

}  // namespace

std::vector<double> counts_per_step(std::span<const linux::PerfValue> before, std::span<const linux::PerfValue> after,
                                    std::uint64_t steps) {
  std::vector<double> counts;
  if (before.size() != after.size() || steps == 0) return counts;
  for (std::size_t i = 0; i < after.size(); ++i) {
    const Nanoseconds running = after[i].running - before[i].running;
    if (running.count() <= 0 || running != after[i].enabled - before[i].enabled) return {};
    counts.push_back(static_cast<double>(after[i].value - before[i].value) / static_cast<double>(steps));
  }
  return counts;
}

BatchCounters BatchCounters::open() {
  BatchCounters counters;
  for (const CounterRequest& one : requests) counters.add(one.name, one.event);
  if (counters.any()) {
    counters.why_.clear();
  } else {
    counters.rows_.clear();
  }
  return counters;
}

void BatchCounters::add(std::string_view name, std::string_view text) {
  result::MemoryCounter& row = rows_.emplace_back();
  row.name = name;
  row.event = text;
  // Names of other processors would be wrong here, and searching them takes long.
  event::Sources sources;
  sources.others = sources.suggest_others = false;
  const auto event = event::parse(text, sources);
  if (!event) {
    row.reason = "this processor has no event with that name";
    return;
  }
  row.event = event::name(*event);
  const auto own = backend::own_events({*event});
  if (!own) {
    row.reason = own.error().message;
    if (why_.empty()) why_ = row.reason;
    return;
  }
  row.source = own->front().source.text();
  row.doubt = own->front().doubt;
  const bool leads = open_.empty();
  linux::PerfCounter counter =
      linux::open_counter(own->front().event, {.whole_group = leads}, leads ? nullptr : &open_.front());
  if (!counter) {
    row.reason = backend::why_refused(counter.os_errno, *event);
    if (why_.empty()) why_ = fmt::format("cannot count {}: {}", text, row.reason);
    // EINVAL may mean that no counter is left.
    if (!leads && counter.os_errno == EINVAL) row.reason += "; those before it are counted together";
    return;
  }
  open_.push_back(std::move(counter));
  // If something else holds the counter, such as the kernel's watchdog, the group stops running.
  const std::vector<linux::PerfValue> before = read();
  if (!counts_per_step(before, read(), 1).empty()) return;
  open_.pop_back();
  row.reason = "no counter is left for it after those before it";
  if (why_.empty()) why_ = fmt::format("cannot count {}: something else holds the counter", text);
}

std::vector<linux::PerfValue> BatchCounters::read() const {
  std::vector<linux::PerfValue> values(open_.size());
  if (values.empty() || open_.front().read_group(values) != 0) return {};
  return values;
}

}  // namespace tally::memory
