// Walks over lines in regions of its own: the misses of a first level can be computed by hand.
//
// usage: walks [thread]      thread: a second thread walks, too
#include <cstdio>
#include <thread>

#include "tally/library/tally.hpp"

namespace {

constexpr std::size_t line = 64, lines = 128, entries = 4;

// Two lines for each set of a first level of 32 KB in eight ways: the library's lines still fit.
struct Area {
  alignas(4096) unsigned char bytes[entries][lines * line];
};
Area area, other;

[[gnu::noinline]] unsigned walk(const unsigned char* from) {
  const volatile unsigned char* const bytes = from;
  unsigned sum = 0;
  for (std::size_t i = 0; i < lines; ++i) sum += bytes[i * line];
  return sum;
}

// Each entry has lines of its own.
unsigned walks(tally::Counters& counters, const Area& in) {
  unsigned sum = 0;
  for (const auto& part : in.bytes) {
    const tally::Region around{counters, "both"};
    {
      const tally::Region first{counters, "first"};
      sum += walk(part);
    }
    const tally::Region again{counters, "again"};
    sum += walk(part);
  }
  return sum;
}

}  // namespace

int main(int argc, char**) {
  auto counters = tally::Counters::open({});
  if (!counters) {
    std::fprintf(stderr, "%s\n", counters.error().message.c_str());
    return 77;
  }
  unsigned sum = walks(*counters, area);
  if (argc > 1) std::thread([&] { sum += walks(*counters, other); }).join();
  return sum == 0 ? 0 : 1;
}
