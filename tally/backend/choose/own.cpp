#include "tally/backend/choose/own.hpp"

#include <fmt/format.h>

#include "tally/backend/perf/counters.hpp"
#include "tally/backend/perf/encode.hpp"
#if TALLY_HAS_SIM
#include "tally/backend/sim/harvest.hpp"
#endif
#include "tally/backend/simulation.hpp"
#include "tally/base/text.hpp"
#include "tally/linux/machine.hpp"
#include "tally/linux/pmu_devices.hpp"

namespace tally::backend {

Result<std::vector<OwnEvent>> own_events(const std::vector<event::Event>& events) {
  std::vector<linux::PmuDevice> cores;
  for (const std::string& name : linux::look_at_machine().pmus) {
    if (auto device = linux::pmu_device("/", name)) cores.push_back(*std::move(device));
  }
  std::vector<OwnEvent> own;
  for (const event::Event& event : events) {
    const std::vector<perf::Encoded> kinds = perf::encode(event, cores);
    const auto refused = [&](const std::string& why) {
      return fail(Code::cannot_measure, fmt::format("cannot count {}: {}", printable(event.asked), why),
                  "`tally doctor` tells what can be counted here, and what to do; under `tally stat` the same program "
                  "counts its regions without a PMU");
    };
    if (kinds.size() != 1) return refused("this processor has several kinds of cores, and each counts on its own only");
    if (!kinds.front().why_none.empty()) return refused(kinds.front().why_none);
    own.push_back({kinds.front().event, kinds.front().source, kinds.front().doubt, ""});
  }
  return own;
}

Result<std::vector<OwnEvent>> engine_events(const std::vector<event::Event>& events) {
  std::vector<OwnEvent> own;
  bool any = false;
  for (const event::Event& event : events) {
#if TALLY_HAS_SIM
    const Outlook outlook = sim::outlook_of(event);
#else
    const Outlook outlook{Trust::absent, "this library was built without the simulated PMU", ""};
#endif
    const bool is_exact = outlook.trust == Trust::exact;
    any = any || is_exact;
    const std::string why = needed_by(event.id).any()
                                ? "regions hold exact counts there; tally stat --model counts it of the whole program"
                            : outlook.reason.empty() ? "it is not exact there"
                                                     : outlook.reason;
    own.push_back({{}, "engine", "", is_exact ? "" : "not in regions under the engine: " + why});
  }
  if (any || events.empty()) return own;
  return fail(Code::cannot_measure, fmt::format("cannot count {}: {}", printable(events[0].asked), own[0].absent),
              "instructions, branches by kind, loads and stores are counted there");
}

std::int64_t engine_value([[maybe_unused]] event::Id id, [[maybe_unused]] const channel::Totals& totals) {
#if TALLY_HAS_SIM
  return sim::value_of(id, totals);
#else
  return 0;
#endif
}

std::string why_refused(int os_errno, const event::Event& event) { return perf::why_refused(os_errno, event); }

}  // namespace tally::backend
