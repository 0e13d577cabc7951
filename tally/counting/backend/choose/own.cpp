#include "tally/counting/backend/choose/own.hpp"

#include <fmt/format.h>

#include "tally/counting/backend/perf/encode.hpp"
#include "tally/counting/backend/perf/order_counters.hpp"
#if TALLY_HAS_ENGINE
#include "tally/counting/backend/engine/count/collect.hpp"
#include "tally/counting/backend/engine/engine_models.hpp"
#endif
#include "tally/core/base/text.hpp"
#include "tally/counting/backend/simulation.hpp"
#include "tally/linux/machine/host_machine.hpp"
#include "tally/linux/machine/pmu_devices.hpp"

namespace tally::backend {

Result<std::vector<OwnEvent>> own_events(const std::vector<event::Event>& events) {
  std::vector<linux::PmuDevice> cores;
  for (const std::string& name : linux::read_host_machine().pmus) {
    if (auto device = linux::pmu_device("/", name)) cores.push_back(*std::move(device));
  }
  std::vector<OwnEvent> own;
  for (const event::Event& event : events) {
    const std::vector<perf::Encoded> kinds = perf::encode(event, cores);
    const auto refused = [&](const std::string& why) {
      return fail(
          Code::cannot_measure, fmt::format("cannot count {}: {}", printable(event.asked), why),
          "`tally doctor` shows what this machine can count; `tally stat -- PROGRAM` counts regions without a PMU");
    };
    if (kinds.size() != 1) return refused("hybrid processor: each core type counts only its own events");
    if (!kinds.front().why_none.empty()) return refused(kinds.front().why_none);
    own.push_back({kinds.front().event, kinds.front().source, kinds.front().doubt, ""});
  }
  return own;
}

#if TALLY_HAS_ENGINE
namespace {

// Returns why a model has no count of an event in regions; empty if it has one.
std::string why_not_in_regions(const event::Event& event, const channel::AskedModels& models) {
  const NeededModels needed = needed_by(event.id);
  if (is_cause_of_cycles(event.id)) return causes_only_in_profiles;
  if (models.models.on == 0)
    return fmt::format("needs a machine model: `tally stat --model host -e {}`", event::name(event));
  if (engine::provides(models.models, needed)) return "";
  return "not simulated in this run: also name it with `tally stat -e`";
}

Count in_regions(const event::Event& event, const channel::AskedModels& models) {
  if (is_modelled(event.id)) {
    if (std::string why = why_not_in_regions(event, models); !why.empty()) return absent(std::move(why));
  }
  if (models.mix == 0 && engine::needs_mix(event.id))
    return absent(fmt::format("counted only if the command requests it: `tally stat -e {}`", event::name(event)));
  const Simulation simulation = engine::simulation_of(models.models);
  engine::CollectedTotals tally;
  tally.without = models.without;
  return engine::count_of(event, tally, &simulation);
}

}  // namespace
#endif

Result<std::vector<OwnEvent>> engine_events(const std::vector<event::Event>& events,
                                            [[maybe_unused]] const channel::AskedModels& models) {
  std::vector<OwnEvent> own;
  bool any = false;
  for ([[maybe_unused]] const event::Event& event : events) {
#if TALLY_HAS_ENGINE
    const Count count = in_regions(event, models);
#else
    const Count count = absent("this library was built without the engine");
#endif
    const bool is_there = count.trust == Trust::exact || count.trust == Trust::modelled;
    any = any || is_there;
    const std::string why = count.reason.empty() ? "the engine has no exact count of it in regions" : count.reason;
    own.push_back({{}, Source::engine, "", is_there ? "" : why, count.model});
#if TALLY_HAS_ENGINE
    const engine::Amounts amounts = engine::amounts_of(event.id);
    own.back().has_operations = amounts.operations;
    own.back().has_bytes = amounts.bytes;
#endif
  }
  if (any || events.empty()) return own;
  return fail(Code::cannot_measure, fmt::format("cannot count {}: {}", printable(events[0].asked), own[0].absent),
              "the engine counts instructions, branches by kind, loads and stores in regions");
}

bool is_modelled(event::Id id) { return needed_by(id).any(); }

std::int64_t engine_value([[maybe_unused]] event::Id id, [[maybe_unused]] const channel::AskedValues& values) {
#if TALLY_HAS_ENGINE
  if (needed_by(id).core) return values.cycles;
  return engine::value_of(id, values.totals, values.models).value_or(0);
#else
  return 0;
#endif
}

std::uint64_t unknown_events(const std::vector<OwnEvent>& own, bool operations, bool bytes) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < own.size(); ++i)
    if ((operations && own[i].has_operations) || (bytes && own[i].has_bytes)) bits |= std::uint64_t{1} << i;
  return bits;
}

std::string why_refused(int os_errno, const event::Event& event) { return perf::why_refused(os_errno, event); }

}  // namespace tally::backend
