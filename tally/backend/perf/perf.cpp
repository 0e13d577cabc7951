#include "tally/backend/perf/perf.hpp"

#include <fmt/format.h>

#include "tally/backend/native.hpp"
#include "tally/backend/perf/counters.hpp"
#include "tally/linux/gate.hpp"
#include "tally/linux/known_work.hpp"
#include "tally/linux/pmu_devices.hpp"

namespace tally::backend::perf {
namespace {

std::vector<linux::PmuDevice> devices_of(const linux::Machine& machine) {
  std::vector<linux::PmuDevice> devices;
  for (const std::string& name : machine.pmus) {
    if (auto device = linux::pmu_device("/", name)) devices.push_back(std::move(*device));
  }
  return devices;
}

bool is_software(const event::Event& event) { return event::definition(event.id).kind == event::Kind::software; }

// The kernel's own events as software_count() takes them: by their counters where those opened, else by wait4(2).
void keep_kernel_counts(const std::vector<event::Event>& events, const std::vector<Count>& counts, Figures& figures) {
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (!kernel_event(events[i].id) || !counts[i].reading) continue;
    const Reading& reading = *counts[i].reading;
    figures.kernel.push_back(
        {events[i].id, 0,
         linux::PerfValue{static_cast<std::uint64_t>(reading.raw), reading.time_enabled, reading.time_running}});
  }
}

class Perf final : public Backend {
 public:
  explicit Perf(const linux::Machine& machine) : cores_(devices_of(machine)) {}

  std::string_view name() const override { return "perf"; }

  Result<Outcome> run(const Request& request) override {
    auto gate = linux::Gate::make();
    if (!gate) return fail(gate.error());
    NativeRun native(request);
    if (const auto started = native.start(gate->hooks()); !started) return fail(started.error());
    Counters counters(request.events, cores_);
    counters.open({native.pid(), -1, true, linux::PerfStart::at_exec});
    native.begins_now();
    gate->open();
    if (const auto executed = native.executed(); !executed) return fail(executed.error());
    const Left left = native.wait();

    const std::vector<Count> counts = counters.read();
    Figures figures = native.figures();
    keep_kernel_counts(request.events, counts, figures);
    Outcome outcome = native.outcome(figures);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const event::Event& event = request.events[i];
      outcome.counts.push_back(event_count(
          event, is_software(event) ? native_count(event, figures, left) : believed_as_left(counts[i], left)));
    }
    return outcome;
  }

  Outlook outlook(const event::Event& event) const override {
    if (is_software(event)) return outlook_of(native_count(event, expected_figures(event), {.ended = true}));
    Counters counters({event}, cores_);
    counters.open({});
    return outlook_of(counters.read().front());
  }

  // Few enough for every PMU to count at once; what this one has not got is left out.
  std::vector<event::Event> default_set() const override {
    std::vector<event::Event> events = *event::parse_lists(
        {"instructions,cycles,branches,branch-misses,page-faults,context-switches,peak-memory,user_time,system_time",
         "duration_time"});
    std::erase_if(events, [this](const event::Event& event) { return outlook(event).trust == Trust::absent; });
    return events;
  }

 private:
  std::vector<linux::PmuDevice> cores_;
};

}  // namespace

std::unique_ptr<Backend> make(const linux::Machine& machine) { return std::make_unique<Perf>(machine); }

std::string why_not(const linux::Machine& machine) {
  const auto devices = devices_of(machine);
  for (const linux::PmuDevice& device : devices) {
    const auto type = devices.size() > 1 ? device.type : std::nullopt;
    if (std::string why = linux::why_not_trusted(linux::count_known_work(type)); !why.empty()) {
      return fmt::format("{}: {}", device.name, why);
    }
  }
  return devices.empty() ? "this machine's kernel has no PMU of the processor" : "";
}

}  // namespace tally::backend::perf
