// LIKWID's marker functions over tally's regions, for C and Fortran.
#include "tally/library/compat/likwid/likwid.h"

#include <array>
#include <chrono>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "tally/library/compat/fortran_name.hpp"
#include "tally/library/tally.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr int most_events = 8;

// The time that a thread spent in a region.
struct Timed {
  std::string name;
  Clock::time_point start{};
  Clock::duration total{};
};
thread_local std::vector<Timed> times;

Timed& time_of(std::string_view name) {
  for (Timed& one : times)
    if (one.name == name) return one;
  return times.emplace_back(Timed{std::string(name)});
}

double number_of(const tally_count& count) {
  return std::string_view(count.trust) == "absent" ? std::numeric_limits<double>::quiet_NaN()
                                                   : static_cast<double>(count.value);
}

// Opens the counters of the calling thread.
void open_counters() { (void)tally_read_region("", nullptr, 0); }

}  // namespace

void likwid_markerInit() { open_counters(); }

void likwid_markerThreadInit() { open_counters(); }

void likwid_markerNextGroup() {}

int likwid_markerRegisterRegion(const char*) { return 0; }

// The clock is read before the region begins and after it ends, so it is in the counts of regions around this one only.
int likwid_markerStartRegion(const char* name) {
  time_of(name).start = Clock::now();
  return tally_region_begin(name);
}

int likwid_markerStopRegion(const char* name) {
  const int ended = tally_region_end(name);
  if (ended != 0) return ended;
  Timed& time = time_of(name);
  time.total += Clock::now() - time.start;
  return 0;
}

void likwid_markerGetRegion(const char* name, int* room, double* counts, double* seconds, int* entries) {
  std::array<tally_region_count, most_events> read{};
  const int events = tally_read_region(name, read.data(), most_events);
  const int written = room == nullptr || counts == nullptr || events < 0 ? 0 : events < *room ? events : *room;
  for (int i = 0; i < written; ++i) counts[i] = number_of(read[static_cast<std::size_t>(i)].total);
  if (room != nullptr) *room = written;
  if (seconds != nullptr) *seconds = std::chrono::duration<double>(time_of(name).total).count();
  if (entries != nullptr) *entries = events > 0 ? static_cast<int>(read[0].entries) : 0;
}

int likwid_markerResetRegion(const char* name) {
  if (const int reset = tally_reset_region(name); reset != 0) return reset;
  time_of(name).total = {};
  return 0;
}

void likwid_markerClose() {}

// What Fortran's compilers call.
extern "C" {
using tally::compat::fortran_name;

void likwid_markerinit_() { likwid_markerInit(); }
void likwid_markerthreadinit_() { likwid_markerThreadInit(); }
void likwid_markernextgroup_() { likwid_markerNextGroup(); }
void likwid_markerclose_() { likwid_markerClose(); }
void likwid_markerregisterregion_(const char*, std::size_t) {}
void likwid_markerstartregion_(const char* name, std::size_t length) {
  (void)likwid_markerStartRegion(fortran_name(name, length).c_str());
}
void likwid_markerstopregion_(const char* name, std::size_t length) {
  (void)likwid_markerStopRegion(fortran_name(name, length).c_str());
}
void likwid_markerresetregion_(const char* name, std::size_t length) {
  (void)likwid_markerResetRegion(fortran_name(name, length).c_str());
}
void likwid_markergetregion_(const char* name, int* room, double* counts, double* seconds, int* entries,
                             std::size_t length) {
  likwid_markerGetRegion(fortran_name(name, length).c_str(), room, counts, seconds, entries);
}
}
