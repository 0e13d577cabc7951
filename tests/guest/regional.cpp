// A program with a region of known work, entered a thousand times; its argument selects the events.
#include <cstdio>

#include "tally/library/tally.hpp"
#include "tests/guest/work.hpp"

namespace {

// In a function of its own: compilers move a part of a region in a loop before the loop.
[[gnu::noinline]] void enter(tally::Counters& counters) {
  const tally::Region region{counters, "work"};
  tally::hardware_test::work(20);
}

}  // namespace

int main(int argc, char** argv) {
  auto counters = tally::Counters::open({argc > 1 ? argv[1] : "instructions"});
  if (!counters) {
    std::puts(counters.error().message.c_str());
    return 1;
  }
  for (int i = 0; i < 1000; ++i) enter(*counters);
}
