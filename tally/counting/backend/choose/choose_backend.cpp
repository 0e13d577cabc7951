#include "tally/counting/backend/choose/choose_backend.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tally/core/base/text.hpp"
#include "tally/counting/backend/candidate.hpp"
#include "tally/counting/backend/engine_only.hpp"
#include "tally/counting/backend/perf/perf.hpp"
#include "tally/counting/backend/software.hpp"
#include "tally/hardware/event/codes.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::backend {

#define TALLY_CANDIDATE(backend, candidate) \
  namespace backend {                       \
  extern const Candidate candidate;         \
  }
#include "tally/counting/backend/choose/candidates.inc"
#undef TALLY_CANDIDATE

namespace {

// Returns the error for an order of which this backend can count no event: the program is then not run.
std::optional<Error> nothing_to_count(const Backend& backend, const std::vector<event::Event>& events) {
  std::vector<std::pair<std::string, std::vector<std::string>>> by_reason;
  for (const event::Event& event : events) {
    const Outlook outlook = backend.outlook(event);
    if (outlook.trust != Trust::absent) return std::nullopt;
    auto at =
        std::find_if(by_reason.begin(), by_reason.end(), [&](const auto& one) { return one.first == outlook.reason; });
    if (at == by_reason.end()) at = by_reason.insert(at, {outlook.reason, {}});
    at->second.push_back(printable(event.asked));
  }
  if (events.empty()) return std::nullopt;
  std::vector<std::string> parts;
  for (const auto& [reason, names] : by_reason) parts.push_back(fmt::format("{}: {}", join(names, ", "), reason));
  return Error{Code::cannot_measure, "cannot count " + join(parts, "; "),
               "instructions, branches, loads, stores and more are counted here: `tally events` lists them", 0};
}

/// Merges notes that differ only in the event: "r81d0, r82d0: read as Intel's code; …".
std::vector<std::string> reported_once(const std::vector<std::string>& notes) {
  std::vector<std::pair<std::string, std::string>> lines;  // event names, note
  for (const std::string& note : notes) {
    const std::size_t space = note.find(' ');
    // The colon after an event name, not one within a sentence.
    const std::size_t colon =
        space != 0 && space != std::string::npos && note[space - 1] == ':' ? space - 1 : std::string::npos;
    const std::string names = colon == std::string::npos ? "" : note.substr(0, colon);
    const std::string what = colon == std::string::npos ? note : note.substr(colon + 2);
    const auto same = std::find_if(lines.begin(), lines.end(), [&](const auto& line) { return line.second == what; });
    if (same == lines.end()) {
      lines.emplace_back(names, what);
    } else if (same->first != names) {
      same->first += ", " + names;
    }
  }
  std::vector<std::string> once;
  for (const auto& [names, what] : lines) once.push_back(names.empty() ? what : names + ": " + what);
  return once;
}

// Returns notes on codes and names of other tools: a PMU counts a code itself, the engine the event that it means.
std::vector<std::string> notes_of(const Backend& backend, const std::vector<event::Event>& events) {
  std::vector<std::string> notes;
  for (const event::Event& event : events) {
    // The outlook of a software event opens a kernel counter, so it is computed last, and for few events.
    if (std::string note = event::counted_as(event);
        !note.empty() && backend.traits().is_engine && backend.outlook(event).trust != Trust::absent) {
      notes.push_back(std::move(note));
    }
    notes.insert(notes.end(), event.notes.begin(), event.notes.end());
    const auto known = event.encoding ? event::known_code(*event.encoding) : std::nullopt;
    if (known && !known->remark.empty()) notes.push_back(fmt::format("{}: {}", known->name, known->remark));
  }
  return reported_once(notes);
}

bool counts_any_hardware(const Backend& backend, const std::vector<event::Event>& events) {
  return std::any_of(events.begin(), events.end(), [&](const event::Event& event) {
    return event::definition(event.id).kind != event::Kind::software && backend.outlook(event).trust != Trust::absent;
  });
}

// Returns why the PMU of this machine is not used; empty if it is.
std::string why_no_pmu(const linux::HostMachine& machine, const std::vector<event::Event>& events) {
  if (machine.pmus.empty()) {
    const bool is_guest = machine.hypervisor.value_or(false);
    return fmt::format("this {} exposes no PMU", is_guest ? "VM" : "machine");
  }
  if (std::string why = perf::why_not(machine); !why.empty()) return "this machine's PMU is not used: " + why;
  if (all_software(events) || counts_any_hardware(*perf::make(machine), events)) return {};
  return fmt::format("this machine's PMU ({}) counts none of these events", join(machine.pmus, ", "));
}

// In the order in which `--backend auto` tries them.
constexpr const Candidate* candidates[] = {
#define TALLY_CANDIDATE(backend, candidate) &backend::candidate,
#include "tally/counting/backend/choose/candidates.inc"
#undef TALLY_CANDIDATE
};

// Whether `--backend auto` takes a backend that accepts the order: it counts at least one hardware event.
bool counts_enough(const Candidate& candidate, const Backend& backend, const std::vector<event::Event>& events) {
  return candidate.when == Candidate::ChoiceRule::last || backend.traits().is_engine || all_software(events) ||
         counts_any_hardware(backend, events);
}

// The events of the order and those of its triggers, which may differ.
std::vector<event::Event> events_of(const Order& order) {
  std::vector<event::Event> events = order.events;
  if (order.windows() == nullptr) return events;
  for (const WindowTrigger& trigger : order.windows()->triggers)
    if (std::none_of(events.begin(), events.end(), [&](const event::Event& one) {
          return one.id == trigger.event.id && one.mode == trigger.event.mode;
        }))
      events.push_back(trigger.event);
  return events;
}

// Chooses the first candidate that does not refuse the order and counts a hardware event if there is one. Errors: the
// most useful refusal, which is the one about a wrong request, else the first.
Result<Choice> choose_automatically(const Order& order, const std::vector<event::Event>& events,
                                    const linux::HostMachine& machine, const std::optional<Simulation>& simulation) {
  std::optional<Error> error;
  bool is_passed_over = false;
  const bool is_for_engine = needs_engine(order, simulation.has_value());
  for (const Candidate* const one : candidates) {
    const Candidate& candidate = *one;
    if (!candidate.is_automatic()) continue;
    auto backend = candidate.make(machine, simulation);
    if (is_for_engine && !backend->traits().is_engine) continue;
    const bool is_shortcut = candidate.when == Candidate::ChoiceRule::if_enough;
    if (auto refused = backend->refuses(order)) {
      const bool reports_more = !error || (refused->code == Code::bad_usage && error->code != Code::bad_usage);
      if (!is_shortcut && reports_more) error = std::move(refused);
    } else if (order.windows() != nullptr || counts_enough(candidate, *backend, events)) {
      // Windows need only the trigger, which refuses() has checked; other events may be absent.
      if (!is_passed_over || is_for_engine || candidate.notices == nullptr) return Choice{std::move(backend), {}};
      const std::string why = why_no_pmu(machine, events);
      return Choice{std::move(backend), candidate.notices(machine, why.empty() && error ? error->message : why)};
    }
    is_passed_over = is_passed_over || !is_shortcut;
  }
  if (is_for_engine && error && order.target.attachment.any() && error->code == Code::cannot_measure)
    return fail(Code::cannot_measure,
                "only the engine can count this, and only for programs that tally starts: it cannot attach to others",
                "start the program with tally; or omit what needs a model (--topdown, --by cause, --model): tally then "
                "uses the PMU, or the kernel's own events if there is none");
  return fail(error.value_or(Error{Code::cannot_measure, "this tally was built without the engine",
                                   "build with -DTALLY_ENGINE=ON on x86-64, or use `--backend none`", 0}));
}

Result<Choice> take_by_name(const std::string& name, const Order& order, const linux::HostMachine& machine,
                            const std::optional<Simulation>& simulation) {
  for (const Candidate* const one : candidates) {
    const Candidate& candidate = *one;
    if (!candidate.is_by_name() || name != candidate.name) continue;
    auto backend = candidate.make(machine, simulation);
    if (!backend->traits().is_engine)
      if (auto refused = refuses_option(printable(name), order, simulation.has_value()))
        return fail(*std::move(refused));
    if (auto refused = backend->refuses(order)) return fail(*std::move(refused));
    return Choice{std::move(backend), {}};
  }
  if (name == "engine") {
    return fail(Code::cannot_measure, "this tally was built without the engine",
                "build with -DTALLY_ENGINE=ON on x86-64, or use `--backend none`");
  }
  const auto near = nearest(name, backend_names());
  return fail(Code::bad_usage, fmt::format("unknown backend '{}'", printable(name)),
              near.empty() ? "the backends are: " + join(backend_names(), ", ") : "did you mean " + near.front() + "?");
}

}  // namespace

std::vector<std::string> backend_names() {
  std::vector<std::string> names{"auto"};
  for (const Candidate* const candidate : candidates)
    if (candidate->is_by_name()) names.emplace_back(candidate->name);
  return names;
}

Traits traits_of(std::string_view name) {
  for (const Candidate* const candidate : candidates)
    if (candidate->is_by_name() && name == candidate->name) return candidate->make({}, {})->traits();
  return {};
}

Result<Choice> choose(const std::string& name, const Order& order, const linux::HostMachine& machine,
                      const std::optional<Simulation>& simulation) {
  const std::vector<event::Event> events = events_of(order);
  auto choice = name == "auto" ? choose_automatically(order, events, machine, simulation)
                               : take_by_name(name, order, machine, simulation);
  if (!choice) return choice;
  if (auto nothing = nothing_to_count(*choice->backend, events)) {
    const Traits traits = choice->backend->traits();
    if (name != "auto" && !traits.is_engine)
      nothing->hint = fmt::format("omit `--backend {}` to let tally choose a backend that counts it", name);
    if (traits.has_pmu_counters)
      nothing->hint =
          order.target.attachment.any()
              ? "the engine counts only programs that tally starts; of running programs count software events "
                "(-e task-clock,page-faults); `tally doctor` shows how to get a PMU"
              : "`tally doctor` shows what this machine can count and how to get more";
    return fail(*std::move(nothing));
  }
  choice->event_notes = notes_of(*choice->backend, events);
  if (std::any_of(events.begin(), events.end(), event::is_clock) && !order.target.attachment.processors.empty() &&
      order.target.attachment.cgroup.empty())
    choice->event_notes.emplace_back(
        "task-clock and cpu-clock of processors count their idle time, too; `tally watch` shows their utilisation");
  return choice;
}

Outlook outlook(const event::Event& event) {
  static const linux::HostMachine machine = linux::read_host_machine();
  auto choice = choose_automatically({.events = {event}}, {event}, machine, {});
  return choice ? choice->backend->outlook(event) : Outlook{Trust::absent, choice.error().message, {}};
}

}  // namespace tally::backend
