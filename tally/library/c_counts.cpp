// Implements the functions of tally.h that return counts to the program.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "tally/core/base/text.hpp"
#include "tally/core/base/unit_names.hpp"
#include "tally/hardware/event/event.hpp"
#include "tally/hardware/event/generic_events.hpp"
#include "tally/library/c_interface.hpp"
#include "tally/library/region_output.hpp"
#include "tally/library/region_thread.hpp"
#include "tally/library/tally.h"

struct tally_counters {
  tally::Expected<tally::Counters> opened;
  std::vector<std::string> names;  // of the events
  std::vector<const char*> units;
  std::string why_absent;  // if the counters did not open
};

namespace tally::detail {
namespace {

std::string with_hint(const Error& error) {
  return error.hint.empty() ? error.message : error.message + "; " + error.hint;
}

const char* unit_word(const event::Event& event) {
  if (event.id == event::Id::code) return "events";
  return unit_name(event::definition(event.id).unit);
}

// Programs of release 0.9.0 have arrays of eight counts, and use as many as were reported.
int reported(std::size_t events, int room) { return std::min(static_cast<int>(events), std::max(room, 8)); }

tally_count c_count(const Count& count, const char* event, const char* unit, const char* reason) {
  return {count.value.value_or(0), event, unit, name(count.trust).data(), reason};
}

void write(const tally_counters& from, std::size_t event, const Count& count, const char* reason, tally_count* to,
           std::size_t room) {
  if (event < room) to[event] = c_count(count, from.names[event].c_str(), from.units[event], reason);
}

void write_absent(const tally_counters& from, const char* reason, tally_count* to, std::size_t room) {
  for (std::size_t i = 0; i < from.names.size(); ++i) write(from, i, absent(""), reason, to, room);
}

// Converts the counts before the reading ends: the conversion is not a part of the program.
[[gnu::noinline]] void read_opened(tally_counters& from, tally_count* to, std::size_t room) {
  Shared& shared = Access::shared(*from.opened);
  Thread* const thread = this_thread(shared);
  if (thread == nullptr) return write_absent(from, "this thread's counters do not exist", to, room);
  thread->has_readings = true;
  const Excluded reading(*thread, &Overhead::reading);
  if (!reading.known()) return write_absent(from, "its counter cannot be read", to, room);
  for (std::size_t i = 0; i < from.names.size(); ++i) {
    const backend::OwnEvent& own = shared.own[i];
    const std::string& reason = own.absent.empty() ? own.doubt : own.absent;
    const bool is_unknown = own.absent.empty() && (thread->unknown >> i & 1) != 0;
    write(from, i, count_of(*thread, i, reading.before(i)), is_unknown ? unknown_amounts : reason.c_str(), to, room);
  }
}

// The events that a Counters would have opened, for counts that are absent.
std::vector<event::Event> events_of(const tally_counters& from, const std::string& asked) {
  if (from.opened) return Access::shared(*from.opened).events;
  const char* const chosen = secure_getenv("TALLY_EVENTS");
  const bool is_chosen = chosen != nullptr && *chosen != '\0';
  auto events = event::parse_lists({!asked.empty() ? asked : is_chosen ? chosen : "instructions,cycles"});
  return events ? *std::move(events) : std::vector<event::Event>{};
}

// What two calls of tally_read() differ by.
Numbers between_readings(tally_counters* from) {
  std::array<tally_count, most_events> before{}, after{};
  (void)tally_read(from, before.data(), most_events);
  (void)tally_read(from, after.data(), most_events);
  Numbers between{};
  for (std::size_t i = 0; i < most_events; ++i) between[i] = after[i].value - before[i].value;
  return between;
}

const RegionEvent* event_of(const RegionResult& region, const EventName& asked) {
  for (const RegionEvent& one : region.all.events) {
    if (one.event == asked || (!asked.mode && one.event.base == asked.base)) return &one;
  }
  return nullptr;
}

void write_region_event(const Count& total, const std::string& event, const char* unit, tally_region_count* to) {
  const TwoTexts texts = keep_texts(event, total.reason);
  *to = {c_count(total, texts.first, unit, texts.second), 0, 0, 0};
}

// Writes the count of a region of these counters. Returns whether it has the region. Errors: bad_usage if there is no
// such event.
Result<bool> write_region(Shared& shared, std::string_view region, const EventName& asked, tally_region_count* to) {
  for (const RegionResult& one : results_of(shared)) {
    if (one.name != region) continue;
    const RegionEvent* const event = event_of(one, asked);
    if (event == nullptr) {
      if (const auto known = event::parse(asked.text()); !known) return fail(known.error());
      write_region_event(absent("this event was not requested: name it in TALLY_EVENTS"), asked.text(), "events", to);
      to->entries = static_cast<long long>(one.all.entries);
      return true;
    }
    const auto index = static_cast<std::size_t>(event - one.all.events.data());
    write_region_event(event->total, event->event.text(), unit_word(shared.events[index]), to);
    to->entries = static_cast<long long>(one.all.entries);
    to->least = event->least.value_or(0);
    to->most = event->most.value_or(0);
    return true;
  }
  return false;
}

// The counters of C regions, and the calling thread's state in them; null without one.
struct OwnRegions {
  Shared* shared = nullptr;
  Thread* thread = nullptr;
};

OwnRegions own_regions() {
  Shared* const shared = shared_of_marks();
  return {shared, shared == nullptr ? nullptr : this_thread(*shared)};
}

bool is_entered(const RegionCounts& counts) { return counts.entries + counts.dropped + counts.open > 0; }

// The calling thread's counts of a region; those of a region without entries if it has not entered it.
RegionCounts counts_of_thread(Shared& shared, const Thread& thread, std::string_view name) {
  for (const RegionResult& region : results_of(shared)) {
    if (region.name != name) continue;
    for (const RegionThread& one : region.threads)
      if (one.thread == thread.number && is_entered(one.counts)) return one.counts;
  }
  RegionCounts none;
  for (std::size_t i = 0; i < shared.events.size(); ++i)
    none.events.push_back({event::event_name(shared.events[i]), count_of(thread, i, 0), {}, {}, 0, 0, 0, false, {}});
  return none;
}

// The counts of a region in a thread, with their texts.
struct RegionInC {
  std::vector<tally_region_count> counts;
  std::vector<std::string> texts;
};

RegionInC in_c(const Shared& shared, const RegionCounts& all) {
  RegionInC region;
  region.texts.reserve(2 * all.events.size());
  for (std::size_t i = 0; i < all.events.size(); ++i) {
    const RegionEvent& event = all.events[i];
    const char* const name = region.texts.emplace_back(event.event.text()).c_str();
    const char* const reason = region.texts.emplace_back(event.total.reason).c_str();
    region.counts.push_back({c_count(event.total, name, unit_word(shared.events[i]), reason),
                             static_cast<long long>(all.entries), event.least.value_or(0), event.most.value_or(0)});
  }
  return region;
}

// What tally_read_region() returned last.
thread_local RegionInC region_read;

}  // namespace
}  // namespace tally::detail

int tally_read_region(const char* region, tally_region_count* counts, int room) {
  using namespace tally::detail;
  const OwnRegions own = own_regions();
  if (own.thread == nullptr) return -1;
  region_read = in_c(*own.shared, counts_of_thread(*own.shared, *own.thread, region));
  const std::size_t events = region_read.counts.size();
  std::copy_n(region_read.counts.begin(), std::min(events, static_cast<std::size_t>(std::max(room, 0))), counts);
  return reported(events, room);
}

int tally_visit_regions(void (*visit)(const tally_thread_region* region, void* data), void* data) {
  using namespace tally::detail;
  Shared* const shared = shared_of_marks();
  if (shared == nullptr) return -1;
  const auto numbers = openmp_numbers(*shared);
  for (const tally::RegionResult& region : results_of(*shared))
    for (const tally::RegionThread& thread : region.threads) {
      if (!is_entered(thread.counts)) continue;
      const RegionInC counts = in_c(*shared, thread.counts);
      const auto number = numbers.find(thread.thread);
      const tally_thread_region one{region.name.c_str(), thread.thread, number == numbers.end() ? -1 : number->second,
                                    static_cast<int>(counts.counts.size()), counts.counts.data()};
      visit(&one, data);
    }
  return 0;
}

int tally_reset_region(const char* region) {
  using namespace tally::detail;
  const OwnRegions own = own_regions();
  if (own.thread == nullptr) return -1;
  if (!reset_records(*own.thread, region)) {
    return fail_with({tally::Code::cannot_measure,
                      fmt::format("the region '{}' is open in this thread", tally::printable(region)),
                      "reset it after its end"});
  }
  return 0;
}

tally_counters* tally_open(const char* events) {
  using namespace tally;
  const std::string asked = events == nullptr ? "" : events;
  auto opened = Counters::open(asked.empty() ? std::vector<std::string>{} : std::vector{asked});
  if (!opened && opened.error().code == Code::bad_usage) {
    (void)detail::fail_with(opened.error());
    return nullptr;
  }
  auto* const counters = new tally_counters{std::move(opened), {}, {}, {}};
  for (const event::Event& event : detail::events_of(*counters, asked)) {
    counters->names.push_back(event::name(event));
    counters->units.push_back(detail::unit_word(event));
  }
  if (!counters->opened) {
    counters->why_absent = detail::with_hint(counters->opened.error());
    return counters;
  }
  detail::calibrate_reading(*counters->opened, [counters] { return detail::between_readings(counters); });
  return counters;
}

void tally_close(tally_counters* counters) { delete counters; }

int tally_read(tally_counters* counters, tally_count* counts, int room) {
  const auto most = static_cast<std::size_t>(std::max(room, 0));
  if (counters->opened)
    tally::detail::read_opened(*counters, counts, most);
  else
    tally::detail::write_absent(*counters, counters->why_absent.c_str(), counts, most);
  return tally::detail::reported(counters->names.size(), room);
}

int tally_count_region(const char* region, const char* event, tally_region_count* count) {
  using namespace tally;
  const EventName asked = split_event_name(event);
  for (const auto& shared : detail::all_shared()) {
    const auto written = detail::write_region(*shared, region, asked, count);
    if (!written) return detail::fail_with(written.error());
    if (*written) return 0;
  }
  const Error* const error = detail::why_no_regions();
  if (error == nullptr) {
    return detail::fail_with({Code::cannot_measure,
                              fmt::format("no region with the name '{}' was entered", printable(region)),
                              "enter it before its count is read"});
  }
  if (error->code == Code::bad_usage) return detail::fail_with(*error);
  detail::write_region_event(absent(detail::with_hint(*error)), event, "events", count);
  return 0;
}
