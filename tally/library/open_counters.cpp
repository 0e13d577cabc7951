// Opens and reads Counters.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <optional>

#include "tally/core/base/text.hpp"
#include "tally/engine/channel/count_request.hpp"
#include "tally/library/region_output.hpp"
#include "tally/library/region_thread.hpp"
#include "tally/linux/files/terminal_width.hpp"
#include "tally/linux/process/region_handoff.hpp"
#include "tally/output/kinds/regions_format.hpp"

namespace tally {
namespace {

using detail::Path;
using detail::Record;
using detail::Shared;
using detail::Thread;
using detail::ThreadRecords;

Error as_error(const Error& error) { return error; }

Error not_opened(const Shared& shared, const detail::NotOpened& failed) {
  const event::Event& event = shared.events[failed.event];
  std::string why = backend::why_refused(failed.os_errno, event);
  std::string hint = "`tally doctor` shows what this machine can count and how to get more";
  if (failed.event > 0) {
    why += fmt::format("; the {} before it can be counted together", failed.event);
    hint = "use fewer events, or two Counters: a region's events are counted at the same time";
  }
  return {Code::cannot_measure, fmt::format("cannot count {}: {}", printable(event.asked), why), hint, failed.os_errno};
}

Result<std::vector<event::Event>> events_asked(std::vector<std::string> names, std::size_t room) {
  const char* chosen = secure_getenv("TALLY_EVENTS");
  const bool is_chosen = names.empty() && chosen != nullptr && *chosen != '\0';
  if (names.empty()) names.emplace_back(is_chosen ? chosen : "instructions,cycles");
  // The program is being counted: an unknown event does not start a search of all processors' tables for suggestions.
  event::Sources sources;
  sources.suggest_others = false;
  auto events = event::parse_lists(names, sources);
  if (!events && is_chosen) {
    Error error = events.error();
    error.message = "TALLY_EVENTS: " + error.message;
    return fail(std::move(error));
  }
  if (!events || events->size() <= room) return events;
  const char* const hint = room < most_events ? "compile the program again: its regions then count more" : "";
  return fail(Code::bad_usage, fmt::format("{} events are too many: a region counts {} at most", events->size(), room),
              hint);
}

void add_from_environment(const char* variable, std::vector<std::string>& to) {
  const char* const chosen = secure_getenv(variable);
  for (std::string& name : split(chosen != nullptr ? chosen : "", ',')) {
    if (!name.empty()) to.push_back(std::move(name));
  }
}

// Leaves out what is wrong in TALLY_METRICS, so that the regions are counted all the same. The error is printed at the
// end.
void add_metrics_from_environment(std::vector<std::string>& to) {
  std::vector<std::string> chosen;
  add_from_environment("TALLY_METRICS", chosen);
  for (std::string& metric : chosen) {
    if (const auto parsed = parse_metrics({metric}); !parsed) {
      Error error = parsed.error();
      error.message = "TALLY_METRICS: " + error.message;
      detail::print_at_end(std::move(error));
    } else {
      to.push_back(std::move(metric));
    }
  }
}

// What the tally command requests when it runs this program: under the engine, which counts all of it at once, its
// events; natively only the clock, which needs no counter of the PMU.
struct AskedByCommand {
  std::vector<std::string> events, metrics;
};

AskedByCommand asked_by_command(std::size_t room) {
  AskedByCommand asked;
  const char* chosen = secure_getenv("TALLY_EVENTS");
  if (chosen != nullptr && *chosen != '\0') return asked;
  const bool by_engine =
      linux::ask_below(channel::ask_option, channel::ask_version, nullptr, 0) == channel::asking_version;
  const auto folder = linux::gathered_in();
  for (const std::string& line : split(folder ? linux::asked_in(*folder) : "", '\n')) {
    if (!by_engine && line != "event task-clock") continue;
    if (line.starts_with("event ") && asked.events.size() < room) asked.events.push_back(line.substr(6));
    if (line.starts_with("metric ")) asked.metrics.push_back(line.substr(7));
  }
  return asked;
}

Count zero_of(const backend::OwnEvent& own, bool by_engine) {
  if (!own.absent.empty()) return absent(own.absent);
  Count count = by_engine ? exact(0, own.source) : counted(0, own.source);
  if (by_engine && !own.model.empty()) {
    count.trust = Trust::modelled;
    count.model = own.model;
  }
  return own.doubt.empty() ? count : downgraded(std::move(count), Trust::partial, own.doubt);
}

Expected<Counters> opened(const std::vector<std::string>& names, Options options, std::size_t room) {
  static std::atomic<std::uint64_t> last_id = 0;
  auto shared = std::make_shared<Shared>();
  shared->id = ++last_id;
  shared->options = std::move(options);
  add_from_environment("TALLY_HISTOGRAMS", shared->options.histograms);
  add_metrics_from_environment(shared->options.metrics);
  auto metrics = parse_metrics(shared->options.metrics);
  if (!metrics) return as_error(metrics.error());
  shared->metrics = *std::move(metrics);
  auto events = events_asked(names, room);
  if (!events) return as_error(events.error());
  shared->events = *std::move(events);
  shared->by_engine =
      linux::ask_below(channel::ask_option, channel::ask_version, nullptr, 0) == channel::asking_version;
  channel::AskedModels models{};
  if (shared->by_engine) (void)linux::ask_below(channel::ask_option, channel::ask_models, &models, sizeof models);
  auto own = shared->by_engine ? backend::engine_events(shared->events, models) : backend::own_events(shared->events);
  if (!own) return as_error(own.error());
  shared->own = *std::move(own);
  for (const backend::OwnEvent& one : shared->own) shared->zeros.push_back(zero_of(one, shared->by_engine));
  shared->with_operations = backend::unknown_events(shared->own, true, false);
  shared->with_bytes = backend::unknown_events(shared->own, false, true);
  for (const backend::OwnEvent& one : shared->own) shared->asks_models = shared->asks_models || !one.model.empty();
  {
    Thread trial;
    trial.shared = shared.get();
    trial.events = static_cast<std::uint32_t>(shared->events.size());
    const auto failed = detail::open_counters(trial);
    detail::close_counters(trial);
    if (failed) return not_opened(*shared, *failed);
  }
  detail::enlist(shared);
  Counters counters = detail::Access::counters(std::move(shared));
  detail::calibrate(counters);
  return counters;
}

// Without events, counts what the command requests. If none of that can be counted in regions, uses the defaults.
Expected<Counters> opened_as_asked(const std::vector<std::string>& events, Options options, std::size_t room) {
  AskedByCommand asked;
  if (events.empty()) asked = asked_by_command(room);
  if (!asked.events.empty()) {
    Options as_asked = options;
    for (std::string& metric : asked.metrics) as_asked.metrics.push_back(std::move(metric));
    if (auto counters = opened(asked.events, std::move(as_asked), room)) return counters;
  }
  return opened(events, std::move(options), room);
}

}  // namespace

#ifdef __GLIBCXX__
#ifdef __clang__
#pragma clang diagnostic ignored "-Wreturn-type-c-linkage"
#endif
/// Counters::open() of release 0.9.0, by its mangled name.
extern "C" TALLY_API Expected<Counters>
// NOLINTNEXTLINE(bugprone-reserved-identifier)
_ZN5tally8Counters4openERKSt6vectorINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESaIS7_EENS_7OptionsE(
    const std::vector<std::string>& events, Options options) {
  return Counters::open(events, std::move(options), 8);
}
#endif

Expected<Counters> Counters::open(const std::vector<std::string>& events, Options options, std::size_t room) {
  auto counters = opened_as_asked(events, std::move(options), std::min(room, most_events));
  detail::watch_end(counters ? nullptr : &counters.error());
  Thread* const thread = counters ? detail::this_thread(detail::Access::shared(*counters)) : nullptr;
  if (thread != nullptr) detail::begin_at_nothing(*thread);
  return counters;
}

Values Counters::read() {
  Thread* const thread = detail::this_thread(*shared_);
  std::optional<detail::Excluded> reading;
  if (thread != nullptr) {
    thread->has_readings = true;
    reading.emplace(*thread, &detail::Overhead::reading);
  }
  const bool known = reading && reading->known();
  Values values;
  for (std::size_t i = 0; i < shared_->events.size(); ++i) {
    values.events.push_back(
        {event::event_name(shared_->events[i]),
         known ? detail::count_of(*thread, i, reading->before(i)) : absent("its counter cannot be read")});
  }
  return values;
}

std::string_view Counters::path() const {
  const Thread* const thread = detail::this_thread(*shared_);
  switch (thread == nullptr ? Path::none : thread->path) {
    case Path::user: return "user mode";
    case Path::group: return "system call";
    case Path::engine: return "engine";
    case Path::none: return "none";
  }
  return "none";
}

Count detail::count_of(const Thread& thread, std::size_t event, std::int64_t value) {
  Count count = thread.shared->zeros[event];
  if (!count.value) return count;
  count.value = value;
  return thread.unknown >> event & 1 ? downgraded(std::move(count), Trust::partial, unknown_amounts) : count;
}

std::vector<RegionResult> detail::results_of(Shared& shared) {
  const std::lock_guard guard(shared.lock);
  std::vector<ThreadRecords> threads;
  for (const auto& thread : shared.threads) {
    ThreadRecords& records = threads.emplace_back(ThreadRecords{thread->number, {}});
    for (const Record* record : thread->records) {
      const bool is_own = !thread->histograms.empty() && record->histograms != &thread->histograms.front();
      records.records.push_back({record, is_own ? record->histograms : nullptr});
    }
  }
  return results_of(shared, shared.names, threads);
}

std::map<std::int32_t, std::int32_t> detail::openmp_numbers(Shared& shared) {
  std::map<std::int32_t, std::int32_t> numbers;
  const std::lock_guard guard(shared.lock);
  for (const auto& thread : shared.threads)
    if (thread->openmp_number) numbers[thread->number] = *thread->openmp_number;
  return numbers;
}

std::vector<RegionResult> Counters::regions() const { return detail::results_of(*shared_); }

void print(const RegionResult& result, std::FILE* to) {
  const int stream = fileno(to);
  const bool is_standard =
      stream == static_cast<int>(linux::Stream::output) || stream == static_cast<int>(linux::Stream::error);
  const std::string text = output::region_text(
      result, is_standard ? linux::terminal_columns(static_cast<linux::Stream>(stream)) : std::size_t{0});
  (void)std::fwrite(text.data(), 1, text.size(), to);
}

Count Values::operator[](std::string_view event) const {
  const EventName asked = split_event_name(event);
  for (const EventValue& one : events) {
    if (one.event == asked || (!asked.mode && one.event.base == asked.base)) return one.count;
  }
  return absent(fmt::format("{} was not requested", printable(event)));
}

Values operator-(const Values& later, const Values& earlier) {
  Values between;
  for (std::size_t i = 0; i < later.events.size(); ++i) {
    const bool both = i < earlier.events.size() && earlier.events[i].event == later.events[i].event;
    between.events.push_back({later.events[i].event, both ? later.events[i].count - earlier.events[i].count
                                                          : absent("the two readings are of different events")});
  }
  return between;
}

}  // namespace tally
