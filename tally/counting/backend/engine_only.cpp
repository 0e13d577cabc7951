#include "tally/counting/backend/engine_only.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tally/counting/backend/simulation.hpp"

namespace tally::backend {
namespace {

using Trap = CodeRegion::Trap;

struct EngineOnly {
  const char* what;  ///< the option; for what several options request: a sentence without its end
  bool (*applies)(const Order& order, bool has_model);
  const char* why;   ///< why natively not; "{0}" is the backend
  const char* hint;  ///< what to do instead; null: no single option requests it
};

bool counts_causes(const Order& order) {
  return std::any_of(order.events.begin(), order.events.end(),
                     [](const event::Event& event) { return is_cause_of_cycles(event.id); });
}

constexpr EngineOnly table[] = {
    {"--model", [](const Order&, bool has_model) { return has_model; }, "it cannot be combined with `--backend {0}`",
     "omit one of the two"},
    {"--cpu-model", [](const Order& order, bool) { return order.conditions.presents_cpu(); },
     "natively, programs see the real processor", "omit `--backend {0}`, or use `--cpu-model host`"},
    {"--path-hash", [](const Order& order, bool) { return order.hashes_paths(); }, "", "omit `--backend {0}`"},
    {"--clock counted", [](const Order& order, bool) { return order.conditions.counts_clock(); },
     "natively, programs read the real clock", "omit `--backend {0}`, or use `--clock real`"},
    {"--as-valgrind", [](const Order& order, bool) { return order.conditions.as_valgrind; },
     "natively, nothing answers client requests", "omit `--backend {0}`"},
    {"--strict", [](const Order& order, bool) { return order.conditions.strict; },
     "natively, nothing is counted exactly", "omit `--backend {0}`"},
    {"--pmu", [](const Order& order, bool) { return order.conditions.pmu; },
     "natively, programs open the processor's own counters", "omit `--backend {0}`"},
#define TALLY_ILLEGAL_MARKS(name, examples)                                                    \
  {"--marks " #name, [](const Order& order, bool) { return order.conditions.marks == #name; }, \
   "natively, these instructions are illegal", "omit `--backend {0}`"},
#include "tally/engine/channel/mark_dialects.inc"
    {"a cause of cycles", [](const Order& order, bool) { return counts_causes(order); },
     "the processor's counters do not divide cycles among causes", "omit `--backend {0}`"},
    {"--mix", [](const Order& order, bool) { return order.has_mix(); },
     "the processor's counters do not know the instructions", "omit `--backend {0}`"},
    {"--parts", [](const Order& order, bool) { return order.parts() != nullptr; }, "samples are not divided by marks",
     "omit `--backend {0}`"},
    {"`int $0x2e` is a marker", [](const Order& order, bool) { return order.trap() == Trap::int2e; },
     "natively it ends the program by SIGSEGV, with a PMU too", nullptr},
    {"`int3` is a marker", [](const Order& order, bool) { return order.trap() == Trap::int3; },
     "natively it raises SIGTRAP, with a PMU too", nullptr},
    {"functions and addresses of a program are counted",
     [](const Order& order, bool) { return !order.code_regions().empty(); },
     "with a PMU this requires uprobes of the kernel, which tally does not use yet", nullptr},
    {"`rdpmc` reads what tally counts", [](const Order& order, bool) { return order.has_rdpmc(); },
     "with a PMU it reads the processor's own counters, if the kernel allows it", nullptr},
    {"windows start and stop at an address (--start-at, --stop-at)",
     [](const Order& order, bool) { return order.has_window_bounds(); },
     "a native run requires breakpoints of the kernel (uprobes), which tally does not use yet", nullptr},
};

// The first row that applies, of those with or without an option; null: none.
const EngineOnly* find(bool is_option, const Order& order, bool has_model) {
  const auto* const row = std::find_if(std::begin(table), std::end(table), [&](const EngineOnly& one) {
    return (one.hint != nullptr) == is_option && one.applies(order, has_model);
  });
  return row == std::end(table) ? nullptr : row;
}

}  // namespace

bool has_engine() {
#if TALLY_HAS_ENGINE
  return true;
#else
  return false;
#endif
}

bool needs_engine(const Order& order, bool has_model) { return find(true, order, has_model) != nullptr; }

std::optional<Error> refuses_option(std::string_view backend, const Order& order, bool has_model) {
  const EngineOnly* const row = find(true, order, has_model);
  if (row == nullptr) return std::nullopt;
  const std::string why = fmt::format(fmt::runtime(row->why), backend);
  return Error{Code::bad_usage, fmt::format("{} needs the engine{}{}", row->what, why.empty() ? "" : ": ", why),
               fmt::format(fmt::runtime(row->hint), backend), 0};
}

std::optional<Error> refuses_regions(const Order& order, std::string_view why) {
  const EngineOnly* const row = find(false, order, false);
  if (row == nullptr) return std::nullopt;
  const bool is_attached = order.regions() != nullptr && order.target.attachment.any();
  if (is_attached) why = "running processes do not run under it";
  const char* const otherwise =
      has_engine() ? "`--backend engine` runs the program under the engine" : "the engine is available on x86-64";
  return Error{Code::cannot_measure,
               fmt::format("{} under the engine only: {}", row->what, why.empty() ? row->why : why),
               is_attached ? "let tally start the program" : otherwise, 0};
}

}  // namespace tally::backend
