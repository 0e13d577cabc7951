#include "tally/backend/choose/choose.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tally/backend/none/none.hpp"
#include "tally/backend/perf/perf.hpp"
#include "tally/backend/software.hpp"
#include "tally/base/text.hpp"
#include "tally/event/codes.hpp"
#include "tally/linux/system.hpp"
#if TALLY_HAS_SIM
#include "tally/backend/sim/sim.hpp"
#endif

namespace tally::backend {
namespace {

std::unique_ptr<Backend> make_sim([[maybe_unused]] const Needs& needs = {}) {
#if TALLY_HAS_SIM
  return sim::make(needs.simulation);
#else
  return nullptr;
#endif
}

// A program is not run for the sake of events that this backend cannot count.
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

/// What is said of several events alike is said once: "r81d0, r82d0: read as Intel's code; …".
std::vector<std::string> said_once(const std::vector<std::string>& notes) {
  std::vector<std::pair<std::string, std::string>> lines;  // of whom, what
  for (const std::string& note : notes) {
    const std::size_t space = note.find(' ');
    // A name, and no sentence with a colon in it.
    const std::size_t colon =
        space != 0 && space != std::string::npos && note[space - 1] == ':' ? space - 1 : std::string::npos;
    const std::string whom = colon == std::string::npos ? "" : note.substr(0, colon);
    const std::string what = colon == std::string::npos ? note : note.substr(colon + 2);
    const auto same = std::find_if(lines.begin(), lines.end(), [&](const auto& line) { return line.second == what; });
    if (same == lines.end()) {
      lines.emplace_back(whom, what);
    } else if (same->first != whom) {
      same->first += ", " + whom;
    }
  }
  std::vector<std::string> once;
  for (const auto& [whom, what] : lines) once.push_back(whom.empty() ? what : whom + ": " + what);
  return once;
}

// What became of names and codes of others: a PMU counts a code itself, the engine counts what it stands for.
std::vector<std::string> notes_of(const Backend& backend, const std::vector<event::Event>& events) {
  std::vector<std::string> notes;
  for (const event::Event& event : events) {
    // Asked for few events, and only then: for a software event the answer is a kernel counter that is opened.
    if (std::string said = event::counted_as(event);
        !said.empty() && backend.name() == "sim" && backend.outlook(event).trust != Trust::absent) {
      notes.push_back(std::move(said));
    }
    notes.insert(notes.end(), event.notes.begin(), event.notes.end());
    const auto known = event.encoding ? event::known_code(*event.encoding) : std::nullopt;
    if (known && !known->remark.empty()) notes.push_back(fmt::format("{}: {}", known->name, known->remark));
  }
  return said_once(notes);
}

bool counts_any_hardware(const Backend& backend, const std::vector<event::Event>& events) {
  return std::any_of(events.begin(), events.end(), [&](const event::Event& event) {
    return event::definition(event.id).kind != event::Kind::software && backend.outlook(event).trust != Trust::absent;
  });
}

// Why the PMU of this machine is not counted with; empty where it is.
std::string why_no_pmu(const linux::Machine& machine, const Backend& perf, const std::vector<event::Event>& events) {
  if (machine.pmus.empty()) {
    const bool is_guest = machine.hypervisor.value_or(false);
    return fmt::format("this {} exposes no PMU (no `cpu` in /sys/bus/event_source/devices)",
                       is_guest ? "VM" : "machine");
  }
  if (std::string why = perf::why_not(machine); !why.empty()) return "this machine's PMU is not used: " + why;
  if (counts_any_hardware(perf, events)) return {};
  return fmt::format("this machine's PMU ({}) counts nothing of what was asked for", join(machine.pmus, ", "));
}

bool opens_kernel_counters(const std::vector<event::Event>& events) {
  const std::vector<KernelCount> counts = KernelCounters(events).read();
  return !counts.empty() &&
         std::all_of(counts.begin(), counts.end(), [](const KernelCount& one) { return one.os_errno == 0; });
}

Choice choose_by_itself(const std::vector<event::Event>& events, const linux::Machine& machine, const Needs& needs) {
  // They happen in the kernel, and the program runs natively with or without a PMU.
  if (needs.windows == Needs::Windows::by_kernel || (needs.code && all_software(events) && !needs.simulation))
    return {perf::make(machine), {}};
  // Counters of the kernel's own events tell processes apart, where it lets them be opened.
  const bool by_process = needs.processes && opens_kernel_counters(events);
  if (all_software(events) && !needs.any() && !by_process && needs.engine == Needs::Engine::nothing)
    return {none::make(), {}};
  auto perf = perf::make(machine);
  if (all_software(events) && needs.engine == Needs::Engine::nothing) return {std::move(perf), {}};
  const std::string why = why_no_pmu(machine, *perf, events);
  if (why.empty()) return {std::move(perf), {}};
  // The simulated PMU counts programs that tally starts.
  if (needs.attachment || (needs.timing && !make_sim(needs)))
    return {std::move(perf), {why + ": only the kernel's own events are counted."}};
  if (auto sim = make_sim(needs)) {
    std::vector<std::string> notices{
        why + "; counting with the simulated PMU.",
        "Times and page faults include its own; `--backend none` runs the program natively."};
    if (machine.pmus.empty()) notices.emplace_back("`tally doctor` tells how to get a real one.");
    return {std::move(sim), std::move(notices)};
  }
  return {
      none::make(),
      {why + ",", "and this tally was built without the simulated PMU: only the kernel's own figures are counted."}};
}

Result<Choice> choose_perf(const std::vector<event::Event>& events, const linux::Machine& machine, const Needs& needs) {
  const auto refused = [](const std::string& what, const std::string& hint, int os_errno) {
    return fail(Code::cannot_measure, what, hint, os_errno);
  };
  if (needs.windows == Needs::Windows::by_kernel || (needs.code && all_software(events)))
    return Choice{perf::make(machine), {}};
  if (!all_software(events)) {
    const std::string why = perf::why_not(machine);
    if (why.empty()) return Choice{perf::make(machine), {}};
    return refused("cannot count with a PMU: " + why,
                   make_sim() ? "`tally doctor` tells more; `--backend sim` counts with the simulated PMU"
                              : "`tally doctor` tells more; `--backend none` runs the program natively",
                   0);
  }
  for (const KernelCount& one : KernelCounters(events).read()) {
    if (one.os_errno == 0) continue;
    return refused(fmt::format("the kernel refuses to count {} (perf_event_open): {}", event::definition(one.id).name,
                               linux::errno_text(one.os_errno)),
                   "`tally doctor` tells why; `--backend none` takes what the kernel keeps anyway", one.os_errno);
  }
  if (needs.any() || needs.processes) return Choice{perf::make(machine), {}};
  return Choice{none::make(none::Counters::required), {}};
}

Result<Choice> choose_by_name(const std::string& name, const std::vector<event::Event>& events,
                              const linux::Machine& machine, const Needs& needs) {
  if (name == "auto" && needs.simulation) return choose_by_name("sim", events, machine, needs);
  if (name != "sim" && needs.simulation) {
    return fail(Code::bad_usage,
                fmt::format("--model simulates a machine, and `--backend {}` does not", printable(name)),
                "leave one of the two out");
  }
  if (name == "auto") return choose_by_itself(events, machine, needs);
  if (name == "none") return Choice{none::make(), {}};
  if (name == "sim") {
    if (auto sim = make_sim(needs)) return Choice{std::move(sim), {}};
    return fail(Code::cannot_measure, "the simulated PMU is not part of this tally: it was built without its engine",
                "build with -DTALLY_ENGINE=ON on x86-64, or use `--backend none`");
  }
  if (name == "perf") return choose_perf(events, machine, needs);
  const auto near = nearest(name, backend_names());
  return fail(Code::bad_usage, fmt::format("unknown backend '{}'", printable(name)),
              near.empty() ? "the backends are: " + join(backend_names(), ", ") : "did you mean " + near.front() + "?");
}

struct EngineOnly {
  const char* what;
  const char* with_a_pmu;
};

EngineOnly engine_only(Needs::Engine need) {
  switch (need) {
    case Needs::Engine::int2e:
      return {"`int $0x2e` is a marker", "natively it ends the program by SIGSEGV, with a PMU too"};
    case Needs::Engine::int3: return {"`int3` is a marker", "natively it raises SIGTRAP, with a PMU too"};
    case Needs::Engine::rdpmc:
      return {"`rdpmc` reads what tally counts",
              "with a PMU it reads the processor's own counters, if the kernel allows it"};
    case Needs::Engine::bounds:
      return {"windows start and stop at an address (--start-at, --stop-at)",
              "natively that takes breakpoints of the kernel (uprobes), which tally does not use yet"};
    default:
      return {"functions and points of a program are counted",
              "with a PMU that takes uprobes of the kernel, which tally does not use yet"};
  }
}

std::optional<Error> why_no_engine(const Backend& backend, const Needs& needs) {
  if (needs.engine == Needs::Engine::nothing || (backend.name() == "sim" && !needs.attachment)) return std::nullopt;
  const auto [what, with_a_pmu] = engine_only(needs.engine);
  const std::string why = needs.attachment           ? "what runs already is not under it"
                          : backend.name() == "perf" ? with_a_pmu
                                                     : "a native run without counters sees none of it";
  return Error{Code::cannot_measure, fmt::format("{} under the engine only: {}", what, why),
               needs.attachment ? "let tally start the program"
               : make_sim()     ? "`--backend sim` runs the program under the engine"
                                : "the engine is there on x86-64",
               0};
}

// What a backend cannot do is said before anything runs.
std::optional<Error> what_it_lacks(const Backend& backend, const Needs& needs) {
  const bool by_engine = backend.name() == "sim";
  if (needs.windows != Needs::Windows::none && backend.name() == "none") {
    return Error{Code::cannot_measure, "`--backend none` cannot record windows",
                 "omit --backend to let tally choose a backend that supports them", 0};
  }
  if (needs.code && backend.name() == "none") {
    return Error{Code::cannot_measure, "`--backend none` cannot count by function, line or instruction",
                 "omit --backend to let tally choose a backend that supports it", 0};
  }
  if (needs.windows == Needs::Windows::by_kernel && by_engine) {
    return Error{Code::cannot_measure, "the engine cannot end windows by an event of the kernel",
                 "omit `--backend sim` to use the kernel's own counters", 0};
  }
  if (!needs.any() || backend.name() == "perf" || (by_engine && !needs.attachment)) return std::nullopt;
  const std::string which = by_engine ? "`--backend sim`" : "`--backend none`";
  return Error{Code::cannot_measure,
               needs.attachment ? which + " counts only programs that tally starts: it cannot attach to others"
                                : which + " does not support intervals, a delay or a time-out",
               "omit --backend: tally then uses the PMU, or the kernel's own events if there is none", 0};
}

}  // namespace

std::vector<std::string> backend_names() { return {"auto", "perf", "sim", "none"}; }

Result<Choice> choose(const std::string& name, const std::vector<event::Event>& events, const linux::Machine& machine,
                      const Needs& needs) {
  auto choice = choose_by_name(name, events, machine, needs);
  if (!choice) return choice;
  if (auto error = what_it_lacks(*choice->backend, needs)) return fail(*std::move(error));
  if (auto error = why_no_engine(*choice->backend, needs)) return fail(*std::move(error));
  if (auto nothing = nothing_to_count(*choice->backend, events)) {
    if (name == "none") nothing->hint = "omit `--backend none` to let tally choose a backend that counts it";
    if (choice->backend->name() == "perf")
      nothing->hint = "`tally doctor` tells what can be counted here, and what to do";
    return fail(*std::move(nothing));
  }
  choice->event_notes = notes_of(*choice->backend, events);
  return choice;
}

Outlook outlook(const event::Event& event) {
  static const linux::Machine machine = linux::look_at_machine();
  return choose_by_itself({event}, machine, {}).backend->outlook(event);
}

}  // namespace tally::backend
