// A program as release 0.9.0 compiled it: its regions have room for eight events.
//
// usage: old_regions EVENTS      prints the number of events and whether what follows the region was overwritten
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "tally/tally.hpp"

namespace {

struct OldRegion {
  alignas(tally::detail::Open) std::uint8_t open[104];
  std::uint64_t after[32];
};

tally::Expected<tally::Counters> old_open(const std::vector<std::string>& events, tally::Options options) asm(
    "_ZN5tally8Counters4openERKSt6vectorINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESaIS7_EENS_7OptionsE");

}  // namespace

int main(int argc, char** argv) {
  auto counters = old_open(argc > 1 ? std::vector<std::string>{argv[1]} : std::vector<std::string>{}, {});
  if (!counters) {
    std::printf("%s\n", counters.error().message.c_str());
    return 0;
  }
  OldRegion region;
  std::fill_n(region.after, 32, 7u);
  auto& open = reinterpret_cast<tally::detail::Open&>(region.open);
  tally::detail::begin(open, **reinterpret_cast<tally::detail::Shared**>(&*counters), "old");
  tally::detail::end(open);
  const bool is_whole = std::all_of(region.after, region.after + 32, [](std::uint64_t word) { return word == 7; });
  std::printf("%zu events, %s\n", counters->regions().at(0).all.events.size(), is_whole ? "whole" : "overwritten");
}
