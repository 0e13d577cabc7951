// A program that reads its own counters, around work with a known number of instructions, loads and stores.
//
// usage: readings CASE      each case prints a line for each event: its name, and its count
#include <algorithm>
#include <cstdio>
#include <string_view>

#include "tally/tally.hpp"

namespace {

#if defined(__x86_64__)
// Three thousand and one instructions, a thousand loads.
[[gnu::always_inline]] inline void work() {
  static volatile int word;
  asm volatile(
      "mov $1000, %%ecx\n"
      "1: mov %0, %%eax\n"
      "dec %%ecx\n"
      "jnz 1b\n" ::"m"(word)
      : "ecx", "eax", "cc");
}
#else
inline void work() {}
#endif

void print(const tally::Values& values) {
  for (const tally::EventValue& one : values.events) {
    std::printf("%s %lld\n", one.event.text().c_str(), static_cast<long long>(one.count.value.value_or(-1)));
  }
}

// The largest of many differences.
tally::Values one_after_the_other(tally::Counters& counters) {
  const tally::Values first = counters.read();
  tally::Values most = counters.read() - first;
  for (int i = 0; i < 50; ++i) {
    const tally::Values before = counters.read();
    const tally::Values after = counters.read();
    const tally::Values between = after - before;
    for (std::size_t e = 0; e < between.events.size(); ++e)
      most.events[e].count.value = std::max(*most.events[e].count.value, *between.events[e].count.value);
  }
  return most;
}

tally::Values around_regions(tally::Counters& counters) {
  const tally::Values before = counters.read();
  for (int i = 0; i < 10; ++i) {
    const tally::Region outer{counters, "outer"};
    const tally::Region inner{counters, "inner"};
    work();
  }
  return counters.read() - before;
}

tally::Values within_a_region(tally::Counters& counters) {
  const tally::Values before = counters.read();
  const tally::Region region{counters, "open"};
  work();
  return counters.read() - before;
}

// The readings are kept: the program has to free them.
void regions_around_readings(tally::Counters& counters) {
  static tally::Values kept[10];
  for (tally::Values& values : kept) {
    const tally::Region region{counters, "reads"};
    values = counters.read();
    work();
  }
  for (const tally::RegionResult& region : counters.regions()) {
    for (const tally::RegionEvent& one : region.all.events)
      std::printf("%s %lld\n", one.event.text().c_str(), static_cast<long long>(one.total.value.value_or(-1)));
  }
}

}  // namespace

int main(int argc, char** argv) {
  auto counters = tally::Counters::open({});
  if (!counters) return std::fprintf(stderr, "%s\n", counters.error().message.c_str()), 77;
  const std::string_view which = argc > 1 ? argv[1] : "";
  if (which == "first") print(counters->read());
  if (which == "twice") print(one_after_the_other(*counters));
  if (which == "measure") print(counters->measure(work));
  if (which == "around") print(around_regions(*counters));
  if (which == "within") print(within_a_region(*counters));
  if (which == "regions") regions_around_readings(*counters);
  return 0;
}
