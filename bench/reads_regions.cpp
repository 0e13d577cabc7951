// Measures tally's regions, which a program marks with tally/tally.hpp.
#include "bench/reads.hpp"
#include "tally/library/tally.hpp"

namespace bench {
namespace {

std::string add_region(const Meter& meter, const std::vector<std::string>& events, const tally::Options& options,
                       const char* what, Table& regions) {
  auto counters = tally::Counters::open(events, options);
  if (!counters) return "tally: " + counters.error().message;
  const auto enter = [&] { const tally::Region region{*counters, "bench"}; };
  enter();
  regions.rows.push_back({"tally: Region", std::string(counters->path()) + what, cost(meter, enter), true});
  return {};
}

}  // namespace

std::string add_regions(const Meter& meter, int events, Table& regions) {
  std::vector<std::string> names{"instructions:u", "cycles:u", "instructions:k", "cycles:k"};
  names.resize(static_cast<std::size_t>(events));
  std::string why = add_region(meter, names, {.extremes = false}, "", regions);
  if (why.empty()) why = add_region(meter, names, {}, ", least and most", regions);
  if (why.empty()) why = add_region(meter, names, {.histograms = {"bench"}}, ", these and a histogram", regions);
  return why;
}

}  // namespace bench
