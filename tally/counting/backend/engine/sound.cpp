#include "tally/counting/backend/engine/sound.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <vector>

#include "tally/counting/backend/engine/count/reasons.hpp"
#include "tally/linux/process/conditions.hpp"
#include "tally/linux/process/finishing.hpp"

namespace tally::backend::engine {
namespace {

using channel::State;

constexpr const char* contradicting = "its records contradict each other: it may have written over the engine's memory";
constexpr const char* impossible =
    "its counts are impossible, such as more instructions than fit in its time: it may have written over the engine's "
    "memory";
constexpr const char* contradicting_run =
    "the engine's records contradict each other: a program may have written over its memory";

constexpr const char* more_than_is_read =
    "the engine's records exceed what tally reads: it may have written over the engine's memory";

/// An upper bound for any processor: eight instructions per cycle at 6 GHz. Times of short programs are inaccurate.
constexpr double most_per_nanosecond = 8 * 6;
constexpr Nanoseconds inaccuracy = std::chrono::milliseconds(50);

template <class Enum>
bool is_known(Enum value, Enum last) {
  return static_cast<std::uint32_t>(value) <= static_cast<std::uint32_t>(last);
}

template <class Record>
bool is_empty(const Record& record) {
  const auto* const bytes = reinterpret_cast<const char*>(&record);
  return std::all_of(bytes, bytes + sizeof record, [](char byte) { return byte == 0; });
}

/// State of the check of all records.
class RecordCheck {
 public:
  explicit RecordCheck(const Channel& shared)
      : records_(shared.records), processes_(claimed_processes(shared)), threads_(claimed_threads(shared)) {}

  bool all_sound() {
    const channel::Header& header = records_.header();
    if (processes_ < std::min(header.next_process, channel::process_limit - 1) ||
        threads_ < std::min(header.next_thread, channel::thread_limit - 1))
      return false;
    if (processes_ + 1 < channel::process_limit && !is_empty(records_.process(processes_ + 1))) return false;
    if (threads_ + 1 < channel::thread_limit && !is_empty(records_.thread(threads_ + 1))) return false;
    for (std::uint32_t i = 1; i <= processes_; ++i) {
      if (!contradiction_of(records_.process(i), i).empty()) return false;
    }
    for (std::uint32_t i = 1; i <= threads_; ++i) {
      if (!is_thread_sound(records_.thread(i))) return false;
    }
    for (std::uint32_t i = 1; i <= processes_; ++i) {
      if (records_.process(i).state == State::ended && has_thread_.count(i) == 0) return false;
    }
    return true;
  }

 private:
  bool is_thread_sound(const channel::Thread& thread) {
    // A thread that never started was killed, or its process failed; that is reported elsewhere.
    if (thread.state == State::free || thread.process == 0 || thread.process > processes_) return false;
    if (records_.process(thread.process).state == State::free || !contradiction_of(thread).empty()) return false;
    has_thread_.insert(thread.process);
    return thread.state == State::ended || thread.area == 0 || areas_.insert(thread.area).second;
  }

  channel::Records records_;
  std::uint32_t processes_, threads_;
  std::set<std::uint32_t> has_thread_, areas_;
};

bool is_free(const channel::Process& process) { return process.state == State::free && process.pid == 0; }
bool is_free(const channel::Thread& thread) { return thread.state == State::free && thread.process == 0; }

/// Records are allocated in order and written at once. Only processes that are killed in between leave free records, a
/// limited number in a row. After more of them, records are ignored.
constexpr std::uint32_t most_free = 256;

/// Returns the number of records: the header's number, limited to the written ones. Does not read unwritten pages,
/// because that would allocate them. `record(i)`: returns a record by its index.
template <class Record, class RecordOf>
std::uint32_t claimed(const Channel& shared, std::uint32_t in_header, std::uint32_t limit, std::uint64_t offset,
                      RecordOf&& record) {
  const int file = shared.file.get();
  const std::uint64_t end = offset + limit * sizeof(Record);
  const auto offset_of = [&](std::uint32_t number) { return offset + number * sizeof(Record); };
  in_header = std::min(in_header, limit - 1);
  std::uint32_t last = 0, written_to = 0;  // the last record in use; the end of written data
  for (std::uint32_t i = 1; i <= in_header && i - last <= most_free; ++i) {
    if (i >= written_to) {
      const linux::DataRange range = linux::next_data(file, offset_of(i), end);
      if (range.begin == range.end) break;
      i = std::max(i, static_cast<std::uint32_t>((range.begin - offset) / sizeof(Record)));
      // A record may be in two pages, of which one was written.
      written_to = static_cast<std::uint32_t>((range.end - offset + sizeof(Record) - 1) / sizeof(Record));
      if (i > in_header || i - last > most_free) break;
    }
    if (!is_free(record(i))) last = i;
  }
  // Free records after it count as well, as far as their page was written.
  return std::min({in_header, last + most_free, std::max(last, written_to == 0 ? 0 : written_to - 1)});
}

}  // namespace

std::uint32_t claimed_processes(const Channel& shared) {
  const std::uint32_t in_header = __atomic_load_n(&shared.records.header().next_process, __ATOMIC_ACQUIRE);
  return claimed<channel::Process>(
      shared, in_header, channel::process_limit, channel::process_offset,
      [&](std::uint32_t number) -> const channel::Process& { return shared.records.process(number); });
}

std::uint32_t claimed_threads(const Channel& shared) {
  const std::uint32_t in_header = __atomic_load_n(&shared.records.header().next_thread, __ATOMIC_ACQUIRE);
  return claimed<channel::Thread>(
      shared, in_header, channel::thread_limit, channel::thread_offset,
      [&](std::uint32_t number) -> const channel::Thread& { return shared.records.thread(number); });
}

std::uint32_t claimed_code_logs(const Channel& shared) {
  const std::uint32_t in_header =
      std::min(__atomic_load_n(&shared.records.header().next_code_log, __ATOMIC_ACQUIRE), channel::code_log_limit - 1);
  std::uint32_t last = 0;
  for (std::uint32_t i = 1; i <= in_header && i - last <= most_free; ++i) {
    const std::uint64_t begin = channel::code_log_offset(i);
    if (linux::data_end(shared.file.get(), begin, begin + sizeof(channel::CodeLog)) != begin) last = i;
  }
  return last;
}

std::string contradiction_in(const Channel& shared, std::string_view settings) {
  const channel::Header& header = shared.records.header();
  const bool is_same = header.magic == channel::magic && header.layout_version == channel::layout_version &&
                       settings == settings_in(shared);
  return is_same && RecordCheck(shared).all_sound() ? "" : contradicting_run;
}

std::string_view settings_in(const Channel& shared) {
  const channel::Settings& settings = shared.records.header().settings;
  return {reinterpret_cast<const char*>(&settings), sizeof settings};
}

std::string contradiction_of(const channel::Thread& thread) {
  const bool is_sound = is_known(thread.state, State::ended) && thread.area < channel::area_limit &&
                        (thread.state != State::ended || thread.check == channel::check_of(thread));
  return is_sound ? "" : contradicting;
}

std::string contradiction_of(const channel::Process& process, std::uint32_t number) {
  const bool is_sound = is_known(process.state, State::ended) && is_known(process.end, channel::End::executed) &&
                        process.forked_from < number && process.vectors < channel::area_limit &&
                        process.segments <= channel::segment_limit && (process.partial & ~known_reasons()) == 0;
  return is_sound ? "" : contradicting;
}

std::string why_impossible(const channel::Totals& totals, Nanoseconds time, bool whole) {
  const auto& f = totals.field;
  const double most = most_per_nanosecond * static_cast<double>((time + inaccuracy).count());
  const auto instructions = static_cast<double>(f[channel::instructions]);
  if (instructions > most || instructions < -most) return impossible;
  if (!whole) return "";
  if (std::any_of(std::begin(f), std::end(f), [](std::int64_t count) { return count < 0; })) return impossible;
  double branches = 0;
  for (const std::uint32_t kind : {channel::conditional, channel::direct_jumps, channel::indirect_jumps,
                                   channel::direct_calls, channel::indirect_calls, channel::returns, channel::far})
    branches += static_cast<double>(f[kind]);
  return f[channel::taken] > f[channel::conditional] || branches > instructions ? impossible : "";
}

bool is_possible(const channel::ModelValues& values, const channel::Totals& totals) {
  // Each access may miss several levels, and prefetches add more.
  constexpr double most_of_each = 64, to_begin_with = 1e6;
  const auto& f = totals.field;
  const double executed = static_cast<double>(f[channel::instructions]) + static_cast<double>(f[channel::loads]) +
                          static_cast<double>(f[channel::stores]);
  std::uint64_t counts[sizeof values / sizeof(std::uint64_t)];
  std::memcpy(counts, &values, sizeof values);
  return std::all_of(std::begin(counts), std::end(counts), [&](std::uint64_t number) {
    return static_cast<double>(number) <= most_of_each * executed + to_begin_with;
  });
}

Nanoseconds time_of_all_processors(Nanoseconds time) { return time * std::max(1L, linux::configured_processors()); }

std::string shared_area() { return contradicting; }
std::string too_much() {
  return linux::is_interrupted() ? "tally was interrupted while it collected the counts" : more_than_is_read;
}

std::vector<std::string> all_contradictions() {
  return {contradicting, contradicting_run, impossible, more_than_is_read};
}

}  // namespace tally::backend::engine
