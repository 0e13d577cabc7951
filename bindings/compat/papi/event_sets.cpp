// PAPI's event sets over tally's counters, for C and Fortran.
#include <time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bindings/compat/fortran_name.hpp"
#include "bindings/compat/papi/papi.h"
#include "tally/library/tally.h"
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace {

constexpr std::size_t most_events = 8, most_sets = 1024;

struct Preset {
  int code;
  const char* name;
};
constexpr Preset presets[] = {
#include "papi_presets.inc"
};

struct CloseCounters {
  void operator()(tally_counters* counters) const { tally_close(counters); }
};
using Counters = std::unique_ptr<tally_counters, CloseCounters>;
using Reading = std::array<tally_count, most_events>;
using Values = std::array<long long, most_events>;

struct EventSet {
  std::vector<int> codes;
  Counters counters;        // of all events; null without events
  std::thread::id running;  // the thread that started it; none if it does not run
  Reading start{};
  Values stopped{};  // counts when it stopped

  bool is_running() const { return running != std::thread::id(); }
};

// By their numbers. A set is used without a lock: a lock would be counted.
std::array<std::atomic<EventSet*>, most_sets> sets;

EventSet* find_set(int number) {
  return number < 0 || number >= static_cast<int>(most_sets) ? nullptr : sets[static_cast<std::size_t>(number)].load();
}

std::mutex events_mutex;
std::vector<std::string> native_events;  // that are no presets, by their codes without PAPI_NATIVE_MASK
std::set<std::string> countable_events;

// Why the thread's last event could not be added.
thread_local std::string last_reason;

std::string message_and_hint() {
  const std::string hint = tally_hint();
  return hint.empty() ? tally_error() : std::string(tally_error()) + "; " + hint;
}

bool is_number(const tally_count& count) {
  const std::string_view trust = count.trust;
  return trust == "exact" || trust == "counted" || trust == "modelled";
}

Counters open_counters(const std::string& events) { return Counters(tally_open(events.c_str())); }

// Returns why an event cannot be counted here; "" if it can.
std::string why_not_counted(const std::string& name) {
  const Counters counters = open_counters(name);
  if (counters == nullptr) return message_and_hint();
  Reading reading{};
  if (tally_read(counters.get(), reading.data(), most_events) != 1) return "'" + name + "' is not one event";
  return is_number(reading[0]) ? "" : reading[0].reason;
}

bool can_count(const std::string& name) {
  const std::lock_guard lock(events_mutex);
  if (countable_events.contains(name)) return true;
  last_reason = why_not_counted(name);
  if (!last_reason.empty()) return false;
  countable_events.insert(name);
  return true;
}

// The name of an event; empty if the code is unknown.
std::string name_of(int code) {
  for (const Preset& preset : presets)
    if (preset.code == code) return preset.name;
  const std::lock_guard lock(events_mutex);
  const auto index = static_cast<std::size_t>(code & ~PAPI_NATIVE_MASK);
  if ((code & PAPI_NATIVE_MASK) != 0 && index < native_events.size()) return native_events[index];
  last_reason = "no event has the code " + std::to_string(code);
  return {};
}

int code_of_native(const std::string& name) {
  const std::lock_guard lock(events_mutex);
  auto found = std::find(native_events.begin(), native_events.end(), name);
  if (found == native_events.end()) found = native_events.insert(found, name);
  return PAPI_NATIVE_MASK | static_cast<int>(found - native_events.begin());
}

// Opens counters of all events; null if they cannot be counted together.
Counters open_together(const std::vector<int>& codes) {
  if (codes.size() > most_events) return nullptr;
  std::string list;
  for (const int code : codes) list += (list.empty() ? "" : ",") + name_of(code);
  Counters counters = open_counters(list);
  Reading reading{};
  if (counters == nullptr) return nullptr;
  const auto events = static_cast<std::size_t>(tally_read(counters.get(), reading.data(), most_events));
  const auto* const end = reading.begin() + events;
  return events == codes.size() && std::all_of(reading.cbegin(), end, is_number) ? std::move(counters) : nullptr;
}

// Reads the counters of a set, of the calling thread.
void read_counters(const EventSet& set, Reading& reading) {
  (void)tally_read(set.counters.get(), reading.data(), most_events);
}

// Writes the counts of a set, and returns PAPI_OK or an error. `now`: what was read if the set runs.
int write_counts(const EventSet& set, long long* counts, Reading& now) {
  if (!set.is_running()) {
    std::copy_n(set.stopped.begin(), set.codes.size(), counts);
    return PAPI_OK;
  }
  if (set.running != std::this_thread::get_id()) return PAPI_EINVAL;
  read_counters(set, now);
  int code = PAPI_OK;
  for (std::size_t i = 0; i < set.codes.size(); ++i) {
    if (!is_number(now[i])) code = PAPI_ECLOST;
    counts[i] = now[i].value - set.start[i].value;
  }
  return code;
}

long long nanoseconds_of(clockid_t clock) {
  timespec time{};
  (void)clock_gettime(clock, &time);
  constexpr long long in_a_second = 1'000'000'000;
  return time.tv_sec * in_a_second + time.tv_nsec;
}

constexpr long long in_a_microsecond = 1000;

}  // namespace

int PAPI_create_eventset(int* set) {
  if (set == nullptr) return PAPI_EINVAL;
  auto made = std::make_unique<EventSet>();
  for (std::size_t i = 0; i < most_sets; ++i) {
    EventSet* none = nullptr;
    if (!sets[i].compare_exchange_strong(none, made.get())) continue;
    (void)made.release();
    *set = static_cast<int>(i);
    return PAPI_OK;
  }
  return PAPI_ENOMEM;
}

int PAPI_add_event(int number, int code) {
  EventSet* const set = find_set(number);
  if (set == nullptr) return PAPI_ENOEVST;
  if (set->is_running()) return PAPI_EISRUN;
  if (PAPI_query_event(code) != PAPI_OK) return PAPI_ENOEVNT;
  if (std::find(set->codes.begin(), set->codes.end(), code) != set->codes.end()) return PAPI_ECNFLCT;
  std::vector<int> codes = set->codes;
  codes.push_back(code);
  Counters counters = open_together(codes);
  if (counters == nullptr) return PAPI_ECNFLCT;
  set->counters = std::move(counters);
  set->codes = std::move(codes);
  set->stopped = {};
  return PAPI_OK;
}

int PAPI_add_named_event(int set, const char* name) {
  int code = PAPI_NULL;
  const int known = PAPI_event_name_to_code(name, &code);
  return known == PAPI_OK ? PAPI_add_event(set, code) : known;
}

int PAPI_add_events(int set, int* codes, int number) {
  if (codes == nullptr || number <= 0) return PAPI_EINVAL;
  for (int i = 0; i < number; ++i)
    if (const int added = PAPI_add_event(set, codes[i]); added != PAPI_OK) return i == 0 ? added : i;
  return PAPI_OK;
}

int PAPI_query_event(int code) {
  const std::string name = name_of(code);
  return !name.empty() && can_count(name) ? PAPI_OK : PAPI_ENOEVNT;
}

int PAPI_query_named_event(const char* name) {
  int code = PAPI_NULL;
  const int known = PAPI_event_name_to_code(name, &code);
  return known == PAPI_OK ? PAPI_query_event(code) : known;
}

int PAPI_event_name_to_code(const char* name, int* code) {
  if (name == nullptr || code == nullptr) return PAPI_EINVAL;
  for (const Preset& preset : presets) {
    if (std::strcmp(preset.name, name) != 0) continue;
    *code = preset.code;
    return PAPI_OK;
  }
  if (open_counters(name) == nullptr) {
    last_reason = message_and_hint();
    return PAPI_ENOEVNT;
  }
  *code = code_of_native(name);
  return PAPI_OK;
}

int PAPI_event_code_to_name(int code, char* name) {
  if (name == nullptr) return PAPI_EINVAL;
  const std::string known = name_of(code);
  if (known.empty()) return PAPI_ENOEVNT;
  name[known.copy(name, PAPI_MAX_STR_LEN - 1)] = '\0';
  return PAPI_OK;
}

int PAPI_num_events(int number) {
  const EventSet* const set = find_set(number);
  return set == nullptr ? PAPI_ENOEVST : static_cast<int>(set->codes.size());
}

int PAPI_num_hwctrs() { return PAPI_query_event(PAPI_TOT_INS) == PAPI_OK ? static_cast<int>(most_events) : 0; }

int PAPI_start(int number) {
  EventSet* const set = find_set(number);
  if (set == nullptr) return PAPI_ENOEVST;
  if (set->is_running()) return PAPI_EISRUN;
  if (set->codes.empty()) return PAPI_EINVAL;
  set->running = std::this_thread::get_id();
  read_counters(*set, set->start);
  return PAPI_OK;
}

int PAPI_read(int number, long long* counts) {
  const EventSet* const set = find_set(number);
  if (set == nullptr) return PAPI_ENOEVST;
  if (counts == nullptr) return PAPI_EINVAL;
  Reading now;
  return write_counts(*set, counts, now);
}

int PAPI_accum(int number, long long* counts) {
  EventSet* const set = find_set(number);
  if (set == nullptr) return PAPI_ENOEVST;
  if (counts == nullptr) return PAPI_EINVAL;
  Values values;
  Reading now;
  const int code = write_counts(*set, values.data(), now);
  if (code == PAPI_EINVAL) return code;
  for (std::size_t i = 0; i < set->codes.size(); ++i) counts[i] += values[i];
  set->start = now;
  set->stopped = {};
  return code;
}

int PAPI_reset(int number) {
  EventSet* const set = find_set(number);
  if (set == nullptr) return PAPI_ENOEVST;
  set->stopped = {};
  if (!set->is_running()) return PAPI_OK;
  if (set->running != std::this_thread::get_id()) return PAPI_EINVAL;
  read_counters(*set, set->start);
  return PAPI_OK;
}

int PAPI_stop(int number, long long* counts) {
  EventSet* const set = find_set(number);
  if (set == nullptr) return PAPI_ENOEVST;
  if (!set->is_running()) return PAPI_ENOTRUN;
  Reading now;
  const int code = write_counts(*set, set->stopped.data(), now);
  if (code == PAPI_EINVAL) return code;
  set->running = {};
  if (counts != nullptr) std::copy_n(set->stopped.begin(), set->codes.size(), counts);
  return code;
}

int PAPI_cleanup_eventset(int number) {
  EventSet* const set = find_set(number);
  if (set == nullptr) return PAPI_ENOEVST;
  if (set->is_running()) return PAPI_EISRUN;
  *set = EventSet();
  return PAPI_OK;
}

int PAPI_destroy_eventset(int* number) {
  if (number == nullptr) return PAPI_EINVAL;
  EventSet* const set = find_set(*number);
  if (set == nullptr) return PAPI_ENOEVST;
  if (!set->codes.empty()) return PAPI_EINVAL;
  delete sets[static_cast<std::size_t>(*number)].exchange(nullptr);
  *number = PAPI_NULL;
  return PAPI_OK;
}

void PAPI_shutdown() {
  for (std::atomic<EventSet*>& set : sets) delete set.exchange(nullptr);
}

char* PAPI_strerror(int code) {
  const char* text = "Unknown error code";
  switch (code) {
    case PAPI_OK: text = "No error"; break;
    case PAPI_EINVAL: text = "Invalid argument"; break;
    case PAPI_ENOMEM: text = "Too many event sets"; break;
    case PAPI_ECLOST: text = "The counters were lost"; break;
    case PAPI_ENOEVNT: text = last_reason.empty() ? "Unknown event" : last_reason.c_str(); break;
    case PAPI_ECNFLCT: text = "The events of this set and the new one cannot be counted together"; break;
    case PAPI_ENOTRUN: text = "The event set does not run"; break;
    case PAPI_EISRUN: text = "The event set runs"; break;
    case PAPI_ENOEVST: text = "No event set has this number"; break;
    case PAPI_EMISC: text = tally_error(); break;
    default: break;
  }
  return const_cast<char*>(text);  // as PAPI declares it
}

long long PAPI_get_real_nsec() { return nanoseconds_of(CLOCK_MONOTONIC); }
long long PAPI_get_real_usec() { return PAPI_get_real_nsec() / in_a_microsecond; }
long long PAPI_get_virt_nsec() { return nanoseconds_of(CLOCK_THREAD_CPUTIME_ID); }
long long PAPI_get_virt_usec() { return PAPI_get_virt_nsec() / in_a_microsecond; }

long long PAPI_get_real_cyc() {
#if defined(__x86_64__)
  return static_cast<long long>(__rdtsc());
#else
  long long ticks = 0;
  asm volatile("isb; mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#endif
}

// What Fortran's compilers call: the code comes last, before the hidden length of a name.
extern "C" {
using tally::compat::fortran_name;

void papif_create_eventset_(int* set, int* code) { *code = PAPI_create_eventset(set); }
void papif_add_event_(const int* set, const int* event, int* code) { *code = PAPI_add_event(*set, *event); }
void papif_add_named_event_(const int* set, const char* name, int* code, std::size_t length) {
  *code = PAPI_add_named_event(*set, fortran_name(name, length).c_str());
}
void papif_add_events_(const int* set, int* events, const int* number, int* code) {
  *code = PAPI_add_events(*set, events, *number);
}
void papif_query_event_(const int* event, int* code) { *code = PAPI_query_event(*event); }
void papif_query_named_event_(const char* name, int* code, std::size_t length) {
  *code = PAPI_query_named_event(fortran_name(name, length).c_str());
}
void papif_event_name_to_code_(const char* name, int* event, int* code, std::size_t length) {
  *code = PAPI_event_name_to_code(fortran_name(name, length).c_str(), event);
}
void papif_event_code_to_name_(const int* event, char* name, int* code, std::size_t length) {
  std::array<char, PAPI_MAX_STR_LEN> known{};
  *code = PAPI_event_code_to_name(*event, known.data());
  std::memset(name, ' ', length);
  std::string_view(known.data()).copy(name, length);
}
void papif_num_events_(const int* set, int* number) { *number = PAPI_num_events(*set); }
void papif_num_hwctrs_(int* number) { *number = PAPI_num_hwctrs(); }
void papif_start_(const int* set, int* code) { *code = PAPI_start(*set); }
void papif_read_(const int* set, long long* counts, int* code) { *code = PAPI_read(*set, counts); }
void papif_accum_(const int* set, long long* counts, int* code) { *code = PAPI_accum(*set, counts); }
void papif_reset_(const int* set, int* code) { *code = PAPI_reset(*set); }
void papif_stop_(const int* set, long long* counts, int* code) { *code = PAPI_stop(*set, counts); }
void papif_cleanup_eventset_(const int* set, int* code) { *code = PAPI_cleanup_eventset(*set); }
void papif_destroy_eventset_(int* set, int* code) { *code = PAPI_destroy_eventset(set); }
void papif_shutdown_() { PAPI_shutdown(); }
void papif_get_real_usec_(long long* time) { *time = PAPI_get_real_usec(); }
void papif_get_real_nsec_(long long* time) { *time = PAPI_get_real_nsec(); }
void papif_get_real_cyc_(long long* time) { *time = PAPI_get_real_cyc(); }
void papif_get_virt_usec_(long long* time) { *time = PAPI_get_virt_usec(); }
}
