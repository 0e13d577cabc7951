#include "tally/counting/backend/engine/regions/marked_events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "tally/core/base/text.hpp"
#include "tally/counting/backend/engine/profile/value_selection.hpp"

namespace tally::backend::engine {
namespace {

std::string too_many() { return fmt::format("functions can count at most {} events", channel::mark_event_limit); }

}  // namespace

std::vector<MarkedEvent> marked_events(const Order& order, const Modelling& modelling) {
  std::vector<MarkedEvent> made;
  if (order.hashes_paths()) return made;
  // The triggers of windows occupy event slots, too.
  const std::size_t triggers = order.windows() != nullptr ? order.windows()->triggers.size() : 0;
  const std::uint32_t limit = channel::mark_event_limit - static_cast<std::uint32_t>(triggers);
  std::uint32_t slots = 0;
  for (const event::Event& event : order.events) {
    if (!event::has_modes(event::definition(event.id).kind)) {
      if (!order.usual_events) made.push_back({&event, {}, "the kernel reports it only for the whole command"});
      continue;
    }
    const Count count = count_of(event, {}, modelling.simulation ? &*modelling.simulation : nullptr);
    MarkedEvent one{&event, {}, "", false};
    if (count.trust == Trust::absent) {
      one.reason = count.reason;
    } else if (is_cause_of_cycles(event.id) && order.windows() == nullptr) {
      continue;  // a notice of the run says why
    } else if (is_cause_of_cycles(event.id)) {
      one.reason = causes_only_in_profiles;
    } else if (needed_by(event.id).core && order.windows() != nullptr) {
      one.is_cycles = true;
    } else if (needed_by(event.id).any() && order.has_calls()) {
      one.reason = "events of models are not available for calls";  // their functions' counts are divided at the end
    } else if (slots == limit) {
      one.reason = too_many();
    } else {
      one.place = slots++;
    }
    made.push_back(std::move(one));
  }
  return made;
}

std::uint32_t place_of_instructions(const std::vector<MarkedEvent>& events) {
  std::uint32_t next = 0;
  for (const MarkedEvent& counted : events) {
    if (counted.place && counted.event->id == event::Id::instructions) return *counted.place;
    if (counted.place) next = *counted.place + 1;
  }
  return next;
}

void weigh(event::Id id, std::int8_t* weight) {
  for (std::uint32_t i = 0; i < channel::mark_values; ++i) {
    channel::Totals totals;
    std::array<std::uint64_t, channel::mark_values - channel::mark_fields> models{};
    if (i < channel::mark_fields) {
      totals.field[i] = 1;
    } else {
      models[i - channel::mark_fields] = 1;
    }
    weight[i] = static_cast<std::int8_t>(value_of(id, totals, std::bit_cast<channel::ModelValues>(models)).value_or(0));
  }
}

namespace {

// Returns the number of an event's fixed counter in Intel's manuals.
std::optional<std::size_t> fixed_counter(event::Id id) {
  switch (id) {
    case event::Id::instructions: return 0;
    case event::Id::cycles: return 1;
    case event::Id::ref_cycles: return 2;
    default: return std::nullopt;
  }
}

// Sets which row rdpmc reads for each counter.
void choose_counters(const std::vector<MarkedEvent>& events, channel::Marks& marks) {
  std::size_t programmable = 0;
  for (const MarkedEvent& marked_event : events) {
    if (!event::has_modes(event::definition(marked_event.event->id).kind)) continue;
    const auto row = static_cast<std::uint8_t>(marked_event.place ? *marked_event.place + 1 : 0);
    if (const auto fixed = fixed_counter(marked_event.event->id)) {
      marks.fixed[*fixed] = row;
    } else if (programmable < std::size(marks.selector)) {
      marks.selector[programmable++] = row;
    }
  }
  // Instructions are always counted.
  if (marks.fixed[0] != 0 || marks.events == channel::mark_event_limit) return;
  weigh(event::Id::instructions, marks.weight[marks.events]);
  marks.fixed[0] = static_cast<std::uint8_t>(++marks.events);
}

// Whether a profile names functions whose calls are not only call instructions, or that switch its collection.
bool finds_functions(const Order& order) {
  const Order::Profile* const profile = order.profile();
  if (profile == nullptr) return false;
  return (profile->parts && !profile->parts->toggles.empty()) ||
         (profile->calls && !(profile->entered.empty() && profile->entered_files.empty()));
}

}  // namespace

channel::Marks marks_of(const Order& order, const Modelling& modelling) {
  channel::Marks marks{};
  marks.count = static_cast<std::uint32_t>(order.code_regions().size());
  marks.on =
      marks.count > 0 || order.has_rdpmc() || order.has_window_bounds() || order.has_python() || finds_functions(order)
          ? 1
          : 0;
  marks.rdpmc = order.has_rdpmc() ? 1 : 0;
  marks.python = order.has_python() ? 1 : 0;
  // Needed by marks, and by regions of the program's own, which are not known yet.
  for (std::size_t i = 0; modelling.needed.core && i < std::size(marks.miss_cycles); ++i)
    marks.miss_cycles[i] = static_cast<std::int32_t>(weight_of(event::Id::cycles, i, modelling));
  if (marks.on == 0 && order.windows() == nullptr && !order.has_calls()) return marks;
  const CodeRegion::Trap trap = order.trap();
  marks.trap = trap == CodeRegion::Trap::int2e  ? channel::trap_int2e
               : trap == CodeRegion::Trap::int3 ? channel::trap_int3
                                                : channel::no_trap;
  const auto events = marked_events(order, modelling);
  for (const MarkedEvent& marked_event : events) {
    if (!marked_event.place) continue;
    marks.events = *marked_event.place + 1;
    marks.modelled |= needed_by(marked_event.event->id).any() ? 1u : 0u;
    if (needed_by(marked_event.event->id).core) {
      marks.cycles_rows |= 1u << *marked_event.place;
    } else {
      weigh(marked_event.event->id, marks.weight[*marked_event.place]);
    }
  }
  if (order.has_calls() && modelling.needed.any()) {
    const std::uint32_t place = place_of_instructions(events);
    weigh(event::Id::instructions, marks.weight[place]);
    marks.events = std::max(marks.events, place + 1);
  }
  if (order.has_rdpmc()) choose_counters(events, marks);
  return marks;
}

namespace {

struct Counter {
  std::uint32_t selector;
  std::string name;    // of the event that it counts, or would count
  std::string reason;  // why it is missing
};

// Returns all possible counters, in the order of Intel's manual.
std::vector<Counter> counters_of(const Order& order, const Modelling& modelling) {
  std::vector<Counter> fixed{
      {0x40000000, "instructions", ""}, {0x40000001, "cycles", ""}, {0x40000002, "ref-cycles", ""}};
  std::vector<Counter> others;
  std::uint32_t slots = 0;
  bool has_instructions = false;
  for (const MarkedEvent& marked_event : marked_events(order, modelling)) {
    if (!event::has_modes(event::definition(marked_event.event->id).kind)) continue;
    slots += marked_event.place ? 1 : 0;
    has_instructions = has_instructions || (marked_event.place && fixed_counter(marked_event.event->id) == 0);
    const std::string name = event::name(*marked_event.event);
    if (const auto place = fixed_counter(marked_event.event->id)) {
      fixed[*place] = {fixed[*place].selector, name, marked_event.reason};
    } else if (others.size() < std::size(channel::Marks{}.selector)) {
      others.push_back({static_cast<std::uint32_t>(others.size()), name, marked_event.reason});
    }
  }
  // Instructions are always counted, if there is a free slot.
  if (!has_instructions)
    fixed[0] = {fixed[0].selector, "instructions", slots == channel::mark_event_limit ? too_many() : ""};
  for (Counter& counter : fixed)
    if (counter.name == "cycles" || counter.name == "ref-cycles") counter.reason = "not among the events that -e names";
  others.insert(others.end(), fixed.begin(), fixed.end());
  return others;
}

}  // namespace

std::string readable_counters(const Order& order, const Modelling& modelling) {
  struct Missing {
    std::vector<std::string> selectors, names;
    std::string reason;
  };
  std::vector<std::string> available;
  std::vector<Missing> missing;
  for (const Counter& counter : counters_of(order, modelling)) {
    std::string selector =
        counter.selector < 4 ? std::to_string(counter.selector) : fmt::format("{:#x}", counter.selector);
    if (counter.reason.empty()) {
      available.push_back(fmt::format("{} for {}", selector, printable(counter.name)));
      continue;
    }
    if (missing.empty() || missing.back().reason != counter.reason) missing.push_back({{}, {}, counter.reason});
    missing.back().selectors.push_back(std::move(selector));
    missing.back().names.push_back(printable(counter.name));
  }
  std::vector<std::string> absences;
  for (const Missing& one : missing)
    absences.push_back(fmt::format("{} ({}: {})", join(one.selectors, " or "), join(one.names, ", "), one.reason));
  return fmt::format("rdpmc reads counter {}; any other ends the program by SIGSEGV{}{}", join(available, ", "),
                     absences.empty() ? "" : ": there is no ", join(absences, ", no "));
}

}  // namespace tally::backend::engine
