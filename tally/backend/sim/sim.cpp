#include "tally/backend/sim/sim.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tally/backend/sim/code_counts.hpp"
#include "tally/backend/sim/harvest.hpp"
#include "tally/backend/sim/marks.hpp"
#include "tally/backend/sim/model_workers.hpp"
#include "tally/backend/sim/placed_figures.hpp"
#include "tally/backend/sim/run.hpp"
#include "tally/backend/sim/window_rows.hpp"
#include "tally/base/text.hpp"
#include "tally/linux/process/finishing.hpp"
#include "tally/linux/process/program.hpp"

namespace tally::backend::sim {
namespace {

// The engine's image: beside the command in a build tree, in libexec where it is installed.
Result<std::string> find_image() {
  const std::string folder = linux::own_folder();
  for (const std::string& path : {folder + "/tally-engine", folder + "/" TALLY_ENGINE_FOLDER "/tally-engine"}) {
    if (linux::exists(path)) return path;
  }
  if (folder.empty()) {
    return fail(Code::cannot_measure, "tally does not find its engine: there is no /proc that says where it lies",
                "mount /proc, or use `--backend none`");
  }
  return fail(Code::cannot_measure,
              "the engine of the simulated PMU is missing: no 'tally-engine' in " + printable(folder),
              "build or install tally again, or use `--backend none`");
}

/// What a machine that was asked for shows when nothing else is: a few of its events beside the exact ones.
std::vector<event::Event> modelled_set(const Simulation& simulation) {
  std::vector<event::Event> events = event::default_set();
  for (const event::Id id :
       {event::Id::cycles, event::Id::branch_misses, event::Id::l1d_load_misses, event::Id::l1i_load_misses,
        event::Id::l2_misses, event::Id::cache_references, event::Id::cache_misses}) {
    if (!why_not_modelled(id, simulation).empty()) continue;
    event::Event event;
    event.id = id;
    event.asked = event::name(event);
    const auto behind = std::find_if(events.begin(), events.end(), [](const event::Event& other) {
      return event::definition(other.id).kind == event::Kind::software;
    });
    events.insert(behind, event);
  }
  return events;
}

/// What the engine counts down to, it counts: events that a model says what they are end no windows, nor does what
/// happens in the kernel. Errors: bad_usage with the first of those.
Result<void> check_triggers(const Request& request) {
  for (const Windows::Trigger& trigger : request.windows.triggers) {
    if (trigger.frequency != 0)
      return fail(
          Code::bad_usage,
          "under the engine no window ends by a frequency: programs run slower there, and differently so",
          "--every 1M ends one after so many instructions; natively --every 1ms after that time on a processor");
    std::int8_t weight[channel::mark_figures]{};
    weigh(trigger.event.id, weight);
    const bool is_counted =
        std::any_of(weight, weight + channel::mark_fields, [](std::int8_t one) { return one != 0; });
    if (is_counted && !needed_by(trigger.event.id).any() && trigger.event.mode == event::Mode::user) continue;
    return fail(
        Code::bad_usage,
        fmt::format("under the engine no window ends by {}: it is not counted there, at the instruction",
                    event::name(trigger.event)),
        "windows end by instructions, loads, stores, and branches of every kind; by what happens in the kernel, "
        "alone, those of the native program do");
  }
  return {};
}

/// Where windows were to start or stop, and no thread came there.
void say_what_was_not_reached(const Windows& windows, const Execution& execution, Outcome& outcome) {
  if (windows.start && execution.windows_started == 0) {
    outcome.missing.push_back(
        fmt::format("no thread came to '{}' (--start-at): there are no windows. The compiler may have put the function "
                    "into its callers, or an address may not be where an instruction begins; `tally profile` tells "
                    "which functions run",
                    printable(windows.start->text)));
  } else if (windows.stop && execution.windows_stopped == 0) {
    outcome.notices.push_back(fmt::format("no thread came to '{}' (--stop-at){}: windows go on to the end of each",
                                          printable(windows.stop->text), windows.start ? " after its start" : ""));
  }
}

class Sim final : public Backend {
 public:
  explicit Sim(std::optional<Simulation> simulation) : asked_(std::move(simulation)) {}

  std::string_view name() const override { return "sim"; }

  Result<Outcome> run(const Request& request) override {
    if (auto fits = check_triggers(request); !fits) return fail(fits.error());
    const auto image = find_image();
    if (!image) return fail(image.error());
    auto shared = Channel::make();
    if (!shared) return fail(shared.error());
    const Modelling modelling = modelling_of(request);
    const auto placed = placed_figures(request, modelling);
    if (!placed) return fail(placed.error());
    Marker marker(request);
    if (auto known = look_before(marker, request); !known) return fail(known.error());
    channel::Settings settings{};
    settings.models = modelling.settings;
    if (modelling.needed.core) settings.core = core_of(*modelling.simulation);
    settings.marks = marks_of(request, modelling);
    settings.windows = windows_of(request, modelling, settings.marks);
    settings.logs_code = request.on_code || request.windows.places || settings.windows.vectors != 0 ? 1 : 0;
    settings.keeps_files = request.on_code ? 1 : 0;
    settings.placed = *placed;
    settings.follows_calls = request.on_code && request.calls ? 1 : 0;
    Window window;
    const auto execution = execute(request, *image, *shared, settings, modelling, marker, window);
    if (!execution) return fail(execution.error());
    Outcome outcome;
    outcome.wait_status = execution->wait_status;
    outcome.ended = execution->ended;
    outcome.all_ended = execution->all_ended;
    outcome.usage = execution->figures.usage;
    outcome.duration = execution->figures.duration;
    outcome.intervals = execution->intervals;
    const linux::Finishing finishing(*request.signals);
    harvest(request, *execution, *shared, modelling, window, outcome);
    if (request.on_code) {
      result::CodeCounts code = code_counts(request, *shared, modelling, execution->kept_files, outcome.counts);
      for (result::CodeOwner& owner : code.owners)
        owner.other_pids = execution->other_pids.contains(static_cast<pid_t>(owner.pid));
      request.on_code(std::move(code));
    }
    outcome.missing = marker.missing();
    if (execution->windows_lost != 0)
      outcome.missing.push_back(
          fmt::format("{} rows could not be read again from the file in $TMPDIR that they waited in",
                      thousands(static_cast<std::int64_t>(execution->windows_lost))));
    if (outcome.missing.empty()) say_what_was_not_reached(request.windows, *execution, outcome);
    outcome.notices.insert(outcome.notices.end(), marker.notices().begin(), marker.notices().end());
    if (execution->began) return outcome;
    for (EventCount& one : outcome.counts) one.count = absent(ended_within_delay);
    return outcome;
  }

  Outlook outlook(const event::Event& event) const override {
    const auto simulation = needed_by(event.id).any() ? simulation_of() : fail(Code::cannot_measure, "");
    return outlook_of(event, simulation ? &*simulation : nullptr);
  }

  std::vector<std::string> said_before(const Request& request) const override {
    if (!request.rdpmc) return {};
    return {readable_counters(request, modelling_of(request))};
  }

  std::vector<event::Event> default_set() const override {
    return asked_ ? modelled_set(*asked_) : event::default_set();
  }

 private:
  static Result<void> look_before(Marker& marker, const Request& request) {
    if (!marker.any()) return {};
    const auto path = linux::find_program(request.command.front(), linux::search_path());
    return path ? marker.look_before(*path) : fail(path.error());
  }

  Result<Simulation> simulation_of() const {
    if (asked_) return *asked_;
    auto host = machine::named("host", "/");
    if (!host) return fail(host.error());
    return Simulation{.machine = std::move(*host)};
  }

  Modelling modelling_of(const Request& request) const {
    Modelling made;
    const auto asks_a_model = [](const event::Event& event) {
      return event.mode != event::Mode::kernel && needed_by(event.id).any();
    };
    if (std::none_of(request.events.begin(), request.events.end(), asks_a_model)) return made;
    auto simulation = simulation_of();
    if (!simulation) return made;
    for (const event::Event& event : request.events) {
      if (!asks_a_model(event) || !why_not_modelled(event.id, *simulation).empty()) continue;
      const Needed needed = needed_by(event.id);
      made.needed.branches |= needed.branches;
      made.needed.l1i |= needed.l1i;
      made.needed.l1d |= needed.l1d;
      made.needed.lower |= needed.lower;
      made.needed.tlbs |= needed.tlbs;
      made.needed.core |= needed.core;
    }
    // Which branch is predicted wrong is told by who plays everything that a thread does, and by nobody else.
    if (request.on_code && made.needed.branches) simulation->each = true;
    if (made.needed.any()) made.settings = settings_of(*simulation, made.needed);
    // What is counted at marks is read at each of them: nobody could go on meanwhile.
    const bool can_be_handed_on = made.settings.each == 0 && request.marks.empty() && !request.windows.any() &&
                                  (made.needed.l1i || made.needed.l1d || made.needed.tlbs ||
                                   (made.needed.branches && simulation->precision == Precision::full));
    if (can_be_handed_on)
      made.settings.handed_on = static_cast<std::uint8_t>(simulation->workers.value_or(usual_model_workers()));
    made.simulation = std::move(*simulation);
    return made;
  }

  std::optional<Simulation> asked_;
};

}  // namespace

std::unique_ptr<Backend> make(std::optional<Simulation> simulation) {
  return std::make_unique<Sim>(std::move(simulation));
}

}  // namespace tally::backend::sim
