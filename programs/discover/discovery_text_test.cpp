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

TEST(DiscoveryText, begins_with_the_invented_pmu_and_names_all_payloads_that_distinguish) {
  result::Discovery discovery;
  discovery.backend = "engine";
  discovery.unseen = {"barriers"};
  for (const char* const splits : {"call-alone", "never-taken"}) {
    result::DiscoveredEvent& event = discovery.events.emplace_back();
    event.code = discovery.events.size();
    event.kind = result::EventClass::counts;
    event.terms = {{"calls", 1, 0}};
    event.aliases = {{"returns", splits}};
  }
  discovery.events[0].same_as = {2};
  discovery.events[1].same_as = {1};
  const std::string text = discover_text(discovery, false, 0);
  EXPECT_TRUE(text.starts_with("\n These are the events of an invented PMU")) << text;
  EXPECT_NE(text.find("add all of them: --payload call-alone --payload never-taken\n"), std::string::npos) << text;
  EXPECT_NE(text.find("- r1, r2: calls or returns\n"), std::string::npos) << text;
  EXPECT_NE(text.find("without --payload tally runs all payloads"), std::string::npos) << text;
}

}  // namespace
}  // namespace tally::output
