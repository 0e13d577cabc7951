// LIKWID's functions that return the results of all regions and threads, and the names of events.
#include "bindings/compat/likwid/results.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/compat/likwid/likwid.h"
#include "bindings/compat/likwid/times.hpp"

namespace {

using namespace tally::compat;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

struct ThreadResult {
  std::vector<double> counts = {};
  int entries = 0;
  double seconds = 0;
};

struct Region {
  std::string name;
  std::map<int, ThreadResult> threads = {};  // by the kernel's ID
};

struct Results {
  std::vector<Region> regions = {};
  std::vector<int> threads = {};  // kernel's IDs by LIKWID's numbers; -1: no thread has the number

  const ThreadResult* of(int region, int thread) const {
    if (region < 0 || static_cast<std::size_t>(region) >= regions.size() || thread < 0 ||
        static_cast<std::size_t>(thread) >= threads.size())
      return nullptr;
    const auto& all = regions[static_cast<std::size_t>(region)].threads;
    const auto found = all.find(threads[static_cast<std::size_t>(thread)]);
    return found == all.end() ? nullptr : &found->second;
  }
};

// Collects what tally_visit_regions() visits.
struct Collector {
  Results results = {};
  std::map<int, int> numbers = {};  // OpenMP's number, or -1, of each thread

  void add(const tally_thread_region& one) {
    numbers[one.thread] = one.openmp_thread;
    const long long entries = one.events > 0 ? one.counts[0].entries : 0;
    if (entries == 0) return;
    auto& regions = results.regions;
    if (regions.empty() || regions.back().name != one.region) regions.push_back({one.region});
    ThreadResult& thread = regions.back().threads[one.thread];
    for (int i = 0; i < one.events; ++i) thread.counts.push_back(number_of(one.counts[i].total));
    thread.entries = static_cast<int>(entries);
    if (ThreadTimes* const times = times_of(one.thread); times != nullptr)
      thread.seconds = std::chrono::duration<double>(times->region(one.region).total.load()).count();
  }

  // Threads that OpenMP numbers have its numbers. The others follow in the order of their kernel's IDs, which is mostly
  // that in which they were created. A number that two threads have is that of the first one.
  void number_threads() {
    std::vector<int> others;
    for (const auto& [thread, number] : numbers) {
      const auto index = static_cast<std::size_t>(std::max(number, 0));
      if (number >= 0 && index >= results.threads.size()) results.threads.resize(index + 1, -1);
      if (number >= 0 && results.threads[index] == -1)
        results.threads[index] = thread;
      else
        others.push_back(thread);
    }
    results.threads.insert(results.threads.end(), others.begin(), others.end());
  }
};

Results results_so_far() {
  Collector collector;
  (void)tally_visit_regions([](const tally_thread_region* one, void* to) { static_cast<Collector*>(to)->add(*one); },
                            &collector);
  collector.number_threads();
  return std::move(collector.results);
}

Results& kept() {
  static auto* const results = new Results;
  return *results;
}

Region* kept_region(int region) {
  return region < 0 || static_cast<std::size_t>(region) >= kept().regions.size()
             ? nullptr
             : &kept().regions[static_cast<std::size_t>(region)];
}

double count_of(const ThreadResult* thread, int event) {
  return thread == nullptr || event < 0 || static_cast<std::size_t>(event) >= thread->counts.size()
             ? not_a_number
             : thread->counts[static_cast<std::size_t>(event)];
}

// A text that is valid until the thread's next call.
char* text(std::string_view of) {
  static thread_local std::string kept_text;
  kept_text = of;
  return kept_text.data();
}

}  // namespace

double tally::compat::number_of(const tally_count& count) {
  return std::string_view(count.trust) == "absent" ? not_a_number : static_cast<double>(count.value);
}

int perfmon_getNumberOfGroups() { return 1; }

int perfmon_getIdOfActiveGroup() { return 0; }

char* perfmon_getGroupName(int group) {
  static char name[] = "Custom";
  return group == 0 ? name : text("");
}

int perfmon_getNumberOfEvents(int group) { return group == 0 ? std::max(tally_read_region("", nullptr, 0), 0) : 0; }

char* perfmon_getEventName(int group, int event) {
  std::array<tally_region_count, most_events> read{};
  const int events = tally_read_region("", read.data(), most_events);
  return text(group == 0 && event >= 0 && event < events ? read[static_cast<std::size_t>(event)].total.event : "");
}

int perfmon_getNumberOfMetrics(int) { return 0; }
char* perfmon_getMetricName(int, int) { return text(""); }
int perfmon_getMetricsOfRegion(int) { return 0; }
double perfmon_getMetricOfRegionThread(int, int, int) { return not_a_number; }

double perfmon_getResult(int group, int event, int thread) {
  const Results results = results_so_far();
  if (group != 0 || thread < 0 || static_cast<std::size_t>(thread) >= results.threads.size()) return not_a_number;
  const ThreadTimes* const times = times_of(results.threads[static_cast<std::size_t>(thread)]);
  const TimedRegion* const last = times == nullptr ? nullptr : times->ended_last.load();
  for (std::size_t i = 0; last != nullptr && i < results.regions.size(); ++i)
    if (results.regions[i].name == last->name) return count_of(results.of(static_cast<int>(i), thread), event);
  return not_a_number;
}

int perfmon_readMarkerFile(const char*) {
  if (tally_read_region("", nullptr, 0) < 0) return -1;
  kept() = results_so_far();
  return perfmon_getNumberOfRegions();
}

void perfmon_destroyMarkerResults() { kept() = {}; }

int perfmon_getNumberOfRegions() { return static_cast<int>(kept().regions.size()); }

int perfmon_getGroupOfRegion(int) { return 0; }

char* perfmon_getTagOfRegion(int region) {
  Region* const found = kept_region(region);
  return found == nullptr ? text("") : found->name.data();
}

int perfmon_getEventsOfRegion(int region) { return kept_region(region) == nullptr ? 0 : perfmon_getNumberOfEvents(0); }

int perfmon_getThreadsOfRegion(int region) {
  return kept_region(region) == nullptr ? 0 : static_cast<int>(kept().threads.size());
}

int perfmon_getCountOfRegion(int region, int thread) {
  const ThreadResult* const found = kept().of(region, thread);
  return found == nullptr ? 0 : found->entries;
}

double perfmon_getTimeOfRegion(int region, int thread) {
  const ThreadResult* const found = kept().of(region, thread);
  return found == nullptr ? 0 : found->seconds;
}

double perfmon_getResultOfRegionThread(int region, int event, int thread) {
  return count_of(kept().of(region, thread), event);
}
