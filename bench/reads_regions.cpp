// tally's own regions: what a program marks with tally/tally.hpp.
#include "bench/reads.hpp"
#include "tally/tally.hpp"

namespace bench {
namespace {

std::string add_region(const Meter& meter, Table& regions, const std::vector<std::string>& events, bool extremes,
                       const std::string& what) {
  auto counters = tally::Counters::open(events, {.extremes = extremes});
  if (!counters) return "tally: " + counters.error().message;
  const auto enter = [&] { const tally::Region region{*counters, "bench"}; };
  enter();
  regions.rows.push_back({"tally: Region", what + ", " + std::string(counters->path()), cost(meter, enter)});
  return {};
}

}  // namespace

std::string add_regions(const Meter& meter, Table& regions) {
  const std::vector<std::string> two{"instructions:u", "cycles:u"};
  const std::vector<std::string> four{"instructions:u", "cycles:u", "instructions:k", "cycles:k"};
  std::string why = add_region(meter, regions, two, false, "two events");
  if (why.empty()) why = add_region(meter, regions, four, false, "four events");
  if (why.empty()) why = add_region(meter, regions, four, true, "four events, least and most");
  return why;
}

}  // namespace bench
