#include "tally/counting/backend/engine/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/counting/backend/candidate.hpp"
#include "tally/counting/backend/engine/count/collect.hpp"
#include "tally/counting/backend/engine/count/missing_features.hpp"
#include "tally/counting/backend/engine/count/openable_events.hpp"
#include "tally/counting/backend/engine/model_workers.hpp"
#include "tally/counting/backend/engine/profile/code_counts.hpp"
#include "tally/counting/backend/engine/profile/value_selection.hpp"
#include "tally/counting/backend/engine/regions/marked_events.hpp"
#include "tally/counting/backend/engine/regions/resolved_marks.hpp"
#include "tally/counting/backend/engine/run.hpp"
#include "tally/counting/backend/engine/windows/collect_windows.hpp"
#include "tally/counting/backend/engine/windows/thread_paths.hpp"
#include "tally/counting/backend/engine_only.hpp"
#include "tally/engine/cpus/cpu_model.hpp"
#include "tally/linux/process/finishing.hpp"
#include "tally/linux/process/program_file.hpp"

namespace tally::backend::engine {
namespace {

// Returns the path of the engine's image: next to the command in a build tree, in libexec after installation.
Result<std::string> find_image() {
  const std::string folder = linux::own_folder();
  for (const std::string& path : {folder + "/tally-engine", folder + "/" TALLY_ENGINE_FOLDER "/tally-engine"}) {
    if (linux::exists(path)) return path;
  }
  if (folder.empty()) {
    return fail(Code::cannot_measure,
                "cannot find the engine: without /proc, tally does not know where it is installed",
                "mount /proc, or use `--backend none`");
  }
  return fail(Code::cannot_measure, "the engine is missing: no 'tally-engine' in " + printable(folder),
              "build or install tally again, or use `--backend none`");
}

/// Returns the default events with `--model`: a few modelled events between the exact ones and the software events.
std::vector<event::Event> modelled_set(const Simulation& simulation) {
  std::vector<event::Event> events = event::default_set();
  for (const event::Id id :
       {event::Id::cycles, event::Id::branch_misses, event::Id::l1d_load_misses, event::Id::l1i_load_misses,
        event::Id::l2_misses, event::Id::cache_references, event::Id::cache_misses}) {
    if (!why_not_modelled(id, simulation).empty()) continue;
    event::Event event;
    event.id = id;
    event.asked = event::name(event);
    const auto first_software = std::find_if(events.begin(), events.end(), [](const event::Event& other) {
      return event::definition(other.id).kind == event::Kind::software;
    });
    events.insert(first_software, event);
  }
  return events;
}

/// Returns why windows cannot end by this trigger; nothing if they can. The engine counts down to the instruction at
/// which a window ends, and so supports only events that it counts itself, not those of models or the kernel.
std::optional<Error> refuses_trigger(const WindowTrigger& trigger) {
  if (trigger.frequency != 0)
    return Error{Code::bad_usage,
                 "the engine cannot end windows by frequency: programs run slower under it, and not evenly",
                 "--every 1M ends a window after a million instructions; in a native run, --every 1ms ends one "
                 "after 1 ms on a CPU",
                 0};
  std::int8_t weight[channel::mark_values]{};
  weigh(trigger.event.id, weight);
  const bool is_counted = std::any_of(weight, weight + channel::mark_fields, [](std::int8_t one) { return one != 0; });
  if (is_counted && !needed_by(trigger.event.id).any() && !needs_mix(trigger.event.id) &&
      trigger.event.mode == event::Mode::user)
    return std::nullopt;
  if (needs_mix(trigger.event.id))
    return Error{Code::bad_usage,
                 fmt::format("the engine cannot end windows by {}, which it counts at their ends only",
                             event::name(trigger.event)),
                 fmt::format("`--every 1M -e {}` counts it in windows of a million instructions",
                             event::definition(trigger.event.id).name),
                 0};
  return Error{Code::bad_usage, fmt::format("the engine cannot end windows by {}", event::name(trigger.event)),
               "use instructions, branches, loads or stores; or count natively by a kernel event: `--by page-faults -e "
               "page-faults`",
               0};
}

/// Returns why programs cannot see this CPU model; nothing if they can: this processor has all of its instructions.
std::optional<Error> refuses_cpu(const std::string& name) {
  const auto model = cpus::named(name);
  if (!model) return model.error();
  const std::vector<std::string> missing = cpus::missing_features(**model, cpus::host_features());
  if (missing.empty()) return std::nullopt;
  return Error{Code::cannot_measure,
               fmt::format("cannot present the CPU model {}: this processor lacks {}", name, join(missing, ", ")),
               "choose a model with fewer instructions, for example x86-64-v2", 0};
}

/// Reports an address for the start or stop of windows that no thread reached.
void report_unreached_bounds(const Order::Windows& windows, const Execution& execution, Outcome& outcome) {
  const WindowBounds& bounds = windows.bounds;
  if (windows.trap != CodeRegion::Trap::none && execution.windows_started == 0) {
    outcome.missing.push_back(
        fmt::format("no thread reached a trap (--trap {}): there are no windows", trap_name(windows.trap)));
  } else if (bounds.start && execution.windows_started == 0) {
    outcome.missing.push_back(fmt::format(
        "no thread reached '{}' (--start-at): there are no windows; it may be inlined, or inside an instruction "
        "(`tally profile` shows what runs)",
        printable(bounds.start->text)));
  } else if (bounds.stop && execution.windows_stopped == 0) {
    outcome.notices.push_back(
        fmt::format("no thread reached '{}' (--stop-at){}: windows continue to the end of each thread",
                    printable(bounds.stop->text), bounds.start ? " after its start" : ""));
  }
}

channel::AtStart at_start(ProfileParts::AtStart state) {
  return state == ProfileParts::AtStart::on    ? channel::AtStart::on
         : state == ProfileParts::AtStart::off ? channel::AtStart::off
                                               : channel::AtStart::automatic;
}

channel::PartSettings parts_of(const Order& order) {
  channel::PartSettings parts{};
  parts.on = order.counts_sections() || order.parts() != nullptr ? 1 : 0;
  parts.as_valgrind = order.conditions.as_valgrind ? 1 : 0;
#define TALLY_ILLEGAL_MARKS(name, examples) \
  if (order.conditions.marks == #name) parts.illegal = channel::IllegalMarks::name;
#include "tally/engine/channel/mark_dialects.inc"
  if (order.parts() == nullptr) return parts;
  parts.instrumentation = at_start(order.parts()->instrumentation);
  parts.collection = at_start(order.parts()->collection);
  return parts;
}

class Engine final : public Backend {
 public:
  explicit Engine(std::optional<Simulation> simulation) : asked_(std::move(simulation)) {}

  Traits traits() const override {
    return {.name = "engine",
            .is_engine = true,
            .simulates = asked_ ? std::string_view(asked_->machine.name) : std::string_view()};
  }

  std::optional<Error> refuses(const Order& order) const override {
    if (order.regions() != nullptr && order.target.attachment.any()) return refuses_regions(order);
    if (order.windows() != nullptr && all_software(order.windows()->triggers))
      return Error{Code::cannot_measure, "the engine cannot end windows by an event of the kernel",
                   "omit `--backend engine` to use the kernel's own counters", 0};
    if (order.hashes_paths())
      if (auto refused = refuses_path(order)) return refused;
    if (order.target.attachment.any()) return cannot_attach();
    if (order.conditions.presents_cpu())
      if (auto refused = refuses_cpu(order.conditions.cpu_model)) return refused;
    if (order.windows() != nullptr)
      for (const WindowTrigger& trigger : order.windows()->triggers)
        if (auto refused = refuses_trigger(trigger)) return refused;
    return std::nullopt;
  }

  Result<Outcome> run(const Order& order) override {
    if (order.windows() != nullptr)
      if (auto refused = refuses(order)) return fail(*std::move(refused));
    if (order.count() == nullptr || !order.hashes_paths()) return execute_order(order);
    ThreadPaths paths(*order.count()->path);
    auto outcome = execute_order(paths.windows(order));
    if (outcome) paths.take(*outcome);
    return outcome;
  }

  Outlook outlook(const event::Event& event) const override {
    const auto simulation = needed_by(event.id).any() ? simulation_of() : fail(Code::cannot_measure, "");
    return outlook_of(event, simulation ? &*simulation : nullptr);
  }

  std::vector<std::string> notices_before(const Order& order) const override {
    if (!order.has_rdpmc()) return {};
    return {readable_counters(order, modelling_of(order))};
  }

  std::vector<event::Event> default_set() const override {
    return asked_ ? modelled_set(*asked_) : event::default_set();
  }

 private:
  /// Returns why paths cannot be hashed with the rest of the order: that code has models, or stops counting.
  std::optional<Error> refuses_path(const Order& order) const {
    if (order.regions() != nullptr)
      return Error{Code::bad_usage, "--path-hash cannot be combined with regions or `rdpmc`", "use only one of them",
                   0};
    if (order.timing().any())
      return Error{Code::bad_usage, "--path-hash cannot be combined with --interval, --delay or --timeout",
                   "use only one of them", 0};
    if (!modelling_of(order).needed.any()) return std::nullopt;
    return Error{Code::bad_usage, "--path-hash cannot be combined with events that need a model",
                 "count instructions, branches, loads or stores, and omit --model", 0};
  }

  Result<Outcome> execute_order(const Order& order) const {
    const auto image = find_image();
    if (!image) return fail(image.error());
    auto shared = Channel::make();
    if (!shared) return fail(shared.error());
    const Modelling modelling = modelling_of(order);
    const auto placed = located_values(order, modelling);
    if (!placed) return fail(placed.error());
    Marker marker(order);
    if (auto known = check_program(marker, order); !known) return fail(known.error());
    channel::Settings settings{};
    settings.models = modelling.settings;
    if (modelling.needed.core) settings.core = core_of(*modelling.simulation);
    settings.marks = marks_of(order, modelling);
    settings.mix = std::any_of(order.events.begin(), order.events.end(),
                               [](const event::Event& event) { return needs_mix(event.id); });
    if (order.windows() != nullptr) settings.windows = windows_of(order, modelling, settings.marks);
    const bool is_profile = order.profile() != nullptr,
               has_places = order.windows() != nullptr && order.windows()->places;
    settings.logs_code = is_profile || has_places || settings.windows.vectors != 0 || placed->count != 0 ? 1 : 0;
    if (order.has_mix()) settings.logs_code = channel::code_log_with_forms;
    settings.keeps_files = is_profile ? 1 : 0;
    settings.placed = *placed;
    settings.follows_calls = order.has_calls() ? 1 : 0;
    settings.counts_jumps = is_profile && order.profile()->jumps && !order.has_calls() ? 1 : 0;
    settings.parts = parts_of(order);
    CountedTime counted_time;
    const auto execution = execute(order, *image, *shared, settings, modelling, marker, counted_time);
    if (!execution) return fail(execution.error());
    Outcome outcome;
    outcome.wait_status = execution->wait_status;
    outcome.ended = execution->ended;
    outcome.all_ended = execution->all_ended;
    outcome.usage = execution->statistics.usage;
    outcome.duration = execution->statistics.duration;
    outcome.intervals = execution->intervals;
    const linux::Finishing finishing(*order.conditions.signals);
    outcome.regions = collect(order, *execution, *shared, modelling, counted_time, outcome);
    mark_unknown_in_regions(order, outcome);
    if (!order.code_regions().empty() && order.windows() == nullptr &&
        std::any_of(order.events.begin(), order.events.end(),
                    [](const event::Event& event) { return is_cause_of_cycles(event.id); }))
      outcome.notices.push_back(fmt::format("functions: {}: `tally profile -e cycles` prints the main cause of each",
                                            causes_only_in_profiles));
    if (is_profile || order.has_mix()) {
      outcome.code = code_counts(order, *shared, modelling, execution->kept_files, outcome);
      for (result::CodeOwner& owner : outcome.code.owners)
        owner.other_pids = execution->other_pids.contains(static_cast<pid_t>(owner.pid));
    }
    if (order.has_python()) note_python(marker, outcome.code, outcome);
    outcome.notices.insert(outcome.notices.end(), execution->command_notes.begin(), execution->command_notes.end());
    outcome.missing = marker.missing();
    if (execution->windows_lost != 0)
      outcome.missing.push_back(
          fmt::format("{} rows are missing: they could not be read back from their temporary file in $TMPDIR",
                      thousands(static_cast<std::int64_t>(execution->windows_lost))));
    if (outcome.missing.empty() && order.windows() != nullptr)
      report_unreached_bounds(*order.windows(), *execution, outcome);
    outcome.notices.insert(outcome.notices.end(), marker.notices().begin(), marker.notices().end());
    if (order.conditions.presents_cpu()) outcome.unasked = unasked_code(*shared);
    if (execution->began) return outcome;
    for (EventCount& event_count : outcome.counts) event_count.count = absent(ended_within_delay);
    return outcome;
  }

  /// An instruction whose operations or bytes are unknown may have been in any region.
  static void mark_unknown_in_regions(const Order& order, Outcome& outcome) {
    const auto downgrade = [&](RegionCounts& counts) {
      for (RegionEvent& region_event : counts.events)
        for (std::size_t i = 0; i < order.events.size(); ++i) {
          const Count& whole = outcome.counts[i].count;
          if (whole.trust == Trust::partial && needs_mix(order.events[i].id) &&
              region_event.event == outcome.counts[i].name)
            region_event.total = downgraded(std::move(region_event.total), Trust::partial, whole.reason);
        }
    };
    for (result::ProgramRegions& program : outcome.regions)
      for (RegionResult& region : program.regions) {
        downgrade(region.all);
        for (RegionThread& thread : region.threads) downgrade(thread.counts);
      }
  }

  /// Adds a notice if a Python interpreter ran and none of its functions was seen.
  static void note_python(const Marker& marker, const result::CodeCounts& code, Outcome& outcome) {
    if (!code.python.empty() || marker.python_versions().empty()) return;
    const std::uint32_t version = *marker.python_versions().begin(), major = version >> 24, minor = version >> 16 & 255;
    outcome.notices.push_back(
        fmt::format("Python functions are not shown: tally reads the frames of release builds of Python 3.11 to 3.13, "
                    "and this is another build or version ({}.{}); with `python3 -X perf`, 3.12 and later name their "
                    "functions themselves",
                    major, minor));
  }

  static Result<void> check_program(Marker& marker, const Order& order) {
    if (!marker.any()) return {};
    const auto path = linux::find_program(order.target.command.front(), linux::search_path());
    return path ? marker.check_program(*path) : fail(path.error());
  }

  Result<Simulation> simulation_of() const {
    if (asked_) return *asked_;
    auto host = machines::named("host", "/");
    if (!host) return fail(host.error());
    return Simulation{.machine = std::move(*host)};
  }

  Modelling modelling_of(const Order& order) const {
    Modelling modelling;
    const auto asks_a_model = [](const event::Event& event) {
      return event.mode != event::Mode::kernel && needed_by(event.id).any();
    };
    std::vector<event::Event> events = order.events;
    // The program may open any event that the requested machine models.
    if (order.conditions.pmu && asked_)
      events.insert(events.end(), modelled_kernel_events().begin(), modelled_kernel_events().end());
    if (std::none_of(events.begin(), events.end(), asks_a_model)) return modelling;
    auto simulation = simulation_of();
    if (!simulation) return modelling;
    for (const event::Event& event : events) {
      if (!asks_a_model(event) || !why_not_modelled(event.id, *simulation).empty()) continue;
      const NeededModels needed = needed_by(event.id);
      modelling.needed.branches |= needed.branches;
      modelling.needed.l1i |= needed.l1i;
      modelling.needed.l1d |= needed.l1d;
      modelling.needed.lower |= needed.lower;
      modelling.needed.tlbs |= needed.tlbs;
      modelling.needed.core |= needed.core;
    }
    if (modelling.needed.any()) modelling.settings = settings_of(*simulation, modelling.needed);
    // Regions, windows and programs read counts often, and the program would have to wait for workers each time.
    const bool can_be_offloaded =
        modelling.settings.each == 0 && order.code_regions().empty() && order.windows() == nullptr &&
        !order.conditions.pmu &&
        (modelling.needed.l1i || modelling.needed.l1d || modelling.needed.tlbs || modelling.needed.branches);
    if (can_be_offloaded)
      modelling.settings.worker_count =
          static_cast<std::uint8_t>(simulation->workers.value_or(default_model_workers()));
    modelling.simulation = std::move(*simulation);
    return modelling;
  }

  std::optional<Simulation> asked_;
};

}  // namespace

std::unique_ptr<Backend> make(std::optional<Simulation> simulation) {
  return std::make_unique<Engine>(std::move(simulation));
}

extern const Candidate always;

const Candidate always{
    "engine", Candidate::ChoiceRule::always,
    [](const linux::HostMachine&, const std::optional<Simulation>& simulation) { return make(simulation); },
    [](const linux::HostMachine&, const std::string& why) {
      return std::vector<std::string>{why + "; counting with the engine (see `tally doctor`)"};
    }};

}  // namespace tally::backend::engine
