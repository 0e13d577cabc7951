// Walks over lines in regions of its own: the misses of a first level can be computed by hand.
//
// usage: walks [thread|chains]      thread: a second thread walks, too
//                                   chains: 60 entries of 1,000 dependent multiplications, which take 3 cycles each
#include <cstdio>
#include <string_view>
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

[[gnu::noinline]] unsigned multiply(unsigned product) {
  for (int i = 0; i < 1000; ++i) asm volatile("imul %0, %0" : "+r"(product));
  return product;
}

unsigned chains(tally::Counters& counters) {
  unsigned sum = 0;
  for (unsigned i = 0; i < 60; ++i) {
    const tally::Region region{counters, "chain"};
    sum += multiply(i);
  }
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  auto counters = tally::Counters::open({});
  if (!counters) {
    std::fprintf(stderr, "%s\n", counters.error().message.c_str());
    return 77;
  }
  unsigned sum = walks(*counters, area);
  const std::string_view word = argc > 1 ? argv[1] : "";
  if (word == "thread") std::thread([&] { sum += walks(*counters, other); }).join();
  if (word == "chains") sum += chains(*counters);
  return sum == 0 ? 0 : 1;
}
