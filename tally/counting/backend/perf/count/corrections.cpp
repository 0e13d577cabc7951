#include "tally/counting/backend/perf/count/corrections.hpp"

#include <algorithm>

#include "tally/core/count/correction.hpp"
#include "tally/counting/backend/perf/encode.hpp"
#include "tally/hardware/event/name_sources.hpp"
#include "tally/hardware/event/pitfalls.hpp"

namespace tally::backend::perf {
namespace {

using event::Family;

// Measures until two results are equal, because an interrupt may disturb one.
std::optional<std::int64_t> added_by_fault(const linux::PerfEvent& event, const Corrections::Measure& measure) {
  constexpr int tries = 4;
  std::optional<std::int64_t> last;
  for (int i = 0; i < tries; ++i) {
    const auto counted = measure(event);
    if (!counted) return std::nullopt;
    const auto each = added_by_each(counted->cold, counted->warm, counted->faults);
    if (each && each == last) return each;
    last = each;
  }
  return std::nullopt;
}

event::Event interrupts_of(const event::Encoding& encoding) {
  event::Event event;
  event.id = event::Id::code;
  event.label = event.asked = "interrupts";
  event.encoding = encoding;
  return event;
}

}  // namespace

std::optional<event::Event> interrupt_event(const linux::PmuDevice& core) {
  const event::pfm::Pmu* own = event::own_pmu({});
  const auto code = own ? interrupt_code(own->family, own->name) : std::nullopt;
  if (!code) return std::nullopt;
  return interrupts_of({own->family, core.name, core.type, *code, 0, 0});
}

// A return to user mode is an instruction and a branch of the kernel that retires in user mode.
bool is_correctable(const event::Event& event) {
  return event.mode == event::Mode::user && event::class_of(event) == event::Class::correctable;
}

// measureme uses 0x01cb on Intel since Sandy Bridge, 0xcf on AMD before Zen and 0x2c on Zen. On Nehalem and Westmere
// 0x01cb is another event.
std::optional<std::uint64_t> interrupt_code(Family family, const std::string& pmu) {
  switch (family) {
    case Family::intel_core:
      if (pmu.starts_with("nhm") || pmu.starts_with("wsm")) return std::nullopt;
      return 0x01cb;
    case Family::intel_recent: return 0x01cb;
    case Family::amd: return 0xcf;
    case Family::amd_zen: return 0x2c;
    default: return std::nullopt;
  }
}

Corrections::Corrections(const Order& order, const std::vector<linux::PmuDevice>& cores, const Measure& measure)
    : order_(order), asked_(order.events.size()) {
  // With several kinds of cores it is unknown which kind took a fault.
  if (cores.size() != 1) return;
  for (std::size_t i = 0; i < asked_; ++i) {
    if (!is_correctable(order.events[i])) continue;
    const Encoded encoded = encode(order.events[i], cores).front();
    if (!encoded.why_none.empty() || !encoded.doubt.empty()) continue;
    if (const auto each = added_by_fault(encoded.event, measure)) added_.push_back({i, *each});
  }
  if (added_.empty()) return;
  page_faults_ = order_.events.size();
  order_.events.push_back(*event::parse("page-faults:u"));
  if (order.count()->count_interrupts) {
    if (auto interrupts = interrupt_event(cores.front())) {
      interrupts_ = order_.events.size();
      order_.events.push_back(*std::move(interrupts));
    } else {
      notices_.emplace_back(
          "interrupts are not counted: tally has no event of this processor for them; the counts still include them");
    }
  }
  if (order.timing().on_interval) {
    order_.count()->timing.on_interval = [this, report = order.timing().on_interval](const result::Interval& interval) {
      result::Interval own = interval;
      apply(own.counts);
      report(own);
    };
  }
}

void Corrections::apply(Outcome& outcome) const {
  apply(outcome.counts);
  for (result::Interval& interval : outcome.intervals) apply(interval.counts);
  for (result::Part& part : outcome.parts) apply(part.counts);
  for (result::Process& process : outcome.processes) {
    apply(process.counts);
    for (result::Thread& thread : process.threads) apply(thread.counts);
  }
  outcome.notices.insert(outcome.notices.end(), notices_.begin(), notices_.end());
}

void Corrections::apply(std::vector<EventCount>& counts) const {
  if (counts.size() <= asked_) return;
  const std::optional<Count> interrupts = interrupts_ ? std::optional(counts[*interrupts_].count) : std::nullopt;
  for (const Added& one : added_) {
    counts[one.place].count.correction =
        correction_of(counts[one.place].count, one.each, counts[page_faults_].count, interrupts);
  }
  counts.resize(asked_);
}

}  // namespace tally::backend::perf
