// LIKWID's marker functions over tally's regions, for C and Fortran.
#include "bindings/compat/likwid/likwid.h"

#include <sched.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string>

#include "bindings/compat/fortran_name.hpp"
#include "bindings/compat/likwid/results.hpp"
#include "bindings/compat/likwid/times.hpp"
#include "tally/library/tally.h"

namespace {

using namespace tally::compat;
using Clock = std::chrono::steady_clock;

// Pins a thread, by its kernel ID; 0 is the calling one. Returns LIKWID's 1 for success, 0 for failure.
int pin(pid_t thread, int processor) {
  if (processor < 0 || processor >= CPU_SETSIZE) return 0;
  cpu_set_t processors;
  CPU_ZERO(&processors);
  CPU_SET(static_cast<std::size_t>(processor), &processors);
  return sched_setaffinity(thread, sizeof processors, &processors) == 0 ? 1 : 0;
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
  own_times().region(name).start = Clock::now();
  return tally_region_begin(name);
}

int likwid_markerStopRegion(const char* name) {
  const int ended = tally_region_end(name);
  if (ended != 0) return ended;
  ThreadTimes& times = own_times();
  TimedRegion& region = times.region(name);
  region.total = region.total.load() + (Clock::now() - region.start);
  times.ended_last = &region;
  return 0;
}

void likwid_markerGetRegion(const char* name, int* room, double* counts, double* seconds, int* entries) {
  std::array<tally_region_count, most_events> read{};
  const int events = tally_read_region(name, read.data(), most_events);
  const int written = room == nullptr || counts == nullptr || events < 0 ? 0 : events < *room ? events : *room;
  for (int i = 0; i < written; ++i) counts[i] = number_of(read[static_cast<std::size_t>(i)].total);
  if (room != nullptr) *room = written;
  if (seconds != nullptr) *seconds = std::chrono::duration<double>(own_times().region(name).total.load()).count();
  if (entries != nullptr) *entries = events > 0 ? static_cast<int>(read[0].entries) : 0;
}

int likwid_markerResetRegion(const char* name) {
  if (const int reset = tally_reset_region(name); reset != 0) return reset;
  own_times().region(name).total = Clock::duration{};
  return 0;
}

void likwid_markerClose() {}

// A pinned thread may still be on the processor that it leaves.
int likwid_getProcessorId() {
  cpu_set_t processors;
  CPU_ZERO(&processors);
  if (sched_getaffinity(0, sizeof processors, &processors) == 0 && CPU_COUNT(&processors) == 1) {
    int processor = 0;
    while (!CPU_ISSET(static_cast<std::size_t>(processor), &processors)) ++processor;
    return processor;
  }
  return sched_getcpu();
}

int likwid_pinThread(int processorId) { return pin(0, processorId); }

int likwid_pinProcess(int processorId) { return pin(getpid(), processorId); }

// What Fortran's compilers call.
extern "C" {
void likwid_markerinit_() { likwid_markerInit(); }
void likwid_markerthreadinit_() { likwid_markerThreadInit(); }
void likwid_markernextgroup_() { likwid_markerNextGroup(); }
void likwid_markerclose_() { likwid_markerClose(); }
int likwid_getprocessorid_() { return likwid_getProcessorId(); }
int likwid_pinthread_(const int* processor) { return likwid_pinThread(*processor); }
int likwid_pinprocess_(const int* processor) { return likwid_pinProcess(*processor); }
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
