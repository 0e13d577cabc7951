#include "programs/discover/count_payloads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace tally::discover {
namespace {

constexpr std::size_t most_at_once = 16;

Result<event::Event> raw_event(std::uint64_t code) { return event::parse(fmt::format("r{:x}:u", code)); }

// Returns the share of the time in which the counter counted.
double running(const Count& count) { return running_percent(count).value_or(100) / 100; }

}  // namespace

Result<std::unique_ptr<CountedTarget>> CountedTarget::open(backend::Backend& backend, linux::Signals& signals,
                                                           const std::vector<Payload>& payloads,
                                                           std::optional<int> processor) {
  auto folder = linux::ScratchFolder::make();
  if (!folder) return fail(folder.error());
  std::unique_ptr<CountedTarget> target(new CountedTarget(backend, signals, payloads, *std::move(folder)));
  target->processor_ = processor;
  auto fixed = event::parse_lists({"instructions:u,cycles:u"});
  if (!fixed) return fail(fixed.error());
  target->fixed_ = *std::move(fixed);
  // The most events that fit in one pass; the kernel does not care which codes they have.
  std::vector<event::Event> tried = target->fixed_;
  for (std::size_t count = 1; count <= most_at_once; ++count) {
    auto one = raw_event(count);
    if (!one) break;
    tried.push_back(*std::move(one));
    if (backend.plan(tried, false).passes.size() > 1) break;
    target->at_once_ = count;
  }
  return target;
}

Result<std::string> CountedTarget::program_of(std::size_t payload, std::uint64_t copies) {
  std::string path = fmt::format("{}/{}-{}", folder_.path(), payloads_[payload].facts.name, copies);
  if (std::filesystem::exists(path)) return path;
  return make_program(payloads_[payload], copies, folder_.path());
}

Result<void> CountedTarget::run(std::uint64_t copies, const std::vector<Slot>& slots, Run& run) {
  const auto program = program_of(run.payload, copies);
  if (!program) return fail(program.error());
  backend::Order order;
  order.target.command = {*program};
  order.conditions.signals = &signals_;
  order.conditions.processor = processor_;
  order.events = fixed_;
  std::vector<const Slot*> asked;
  for (const Slot& slot : slots) {
    auto event = raw_event(slot.code);
    if (!event) {
      const std::string why = fmt::format("r{:x}: {}", slot.code, event.error().message);
      if (std::find(refused_.begin(), refused_.end(), why) == refused_.end()) refused_.push_back(why);
      run.cells.push_back({slot.event, -1, 0});
      continue;
    }
    order.events.push_back(*std::move(event));
    asked.push_back(&slot);
  }
  auto outcome = backend_.run(order);
  if (!outcome) return fail(outcome.error());
  if (signals_.interrupted_by()) return fail(Code::cannot_measure, "interrupted");
  if (outcome->wait_status != 0)
    return fail(why_payload_failed(payloads_[run.payload].facts.name, copies, outcome->wait_status));
  run.time_ms = static_cast<double>(outcome->duration.count()) / 1e6;
  run.instructions = outcome->counts[0].count.value.value_or(0);
  run.cycles = outcome->counts[1].count.value.value_or(0);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const Count& count = outcome->counts[fixed_.size() + i].count;
    run.running = std::min(run.running, count.value ? running(count) : 1.0);
    if (!count.value) {
      const std::string why = fmt::format("r{:x}: {}", asked[i]->code, count.reason);
      if (std::find(refused_.begin(), refused_.end(), why) == refused_.end()) refused_.push_back(why);
    }
    run.cells.push_back({asked[i]->event, -1, count.value.value_or(0)});
  }
  return {};
}

}  // namespace tally::discover
