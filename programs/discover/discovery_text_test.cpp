#include "programs/discover/discovery_format.hpp"
#include "tally/output/kit/terminal_widths_testing.hpp"

namespace tally::output {
namespace {

TEST(Widths, discover) {
  result::Discovery discovery;
  for (const std::uint64_t code : {0xc0U, 0xc4U}) {
    result::DiscoveredEvent event;
    event.code = code;
    event.kind = result::EventClass::counts;
    event.terms = {{"L1-dcache-load-misses", 2, 0.01}, {"conditional-branches", 1, 0.01}};
    event.aliases = {{"L1-dcache-store-misses", ""}, {"stores", ""}};
    event.counters = {0, 1, 2, 3, 7};
    event.reason =
        "a remark of several words that says more than a narrow "
        "terminal has room for in one line";
    event.contrasts = {{"loads_of_a_line", "nothing_of_a_line", "loads", 1, 0.9991, 0.9984, 1.0002, 0.5, {}}};
    discovery.events.push_back(event);
  }
  expect_fit([&](std::size_t terminal) { return discover_text(discovery, true, terminal); }, 200);
}

}  // namespace
}  // namespace tally::output
