// Code that is loaded and unloaded: built twice, with only the region's name different.
#include "tally/tally.hpp"

extern "C" {

__attribute__((visibility("default"))) const char* enter(tally::Counters& counters) {
  constexpr auto& name = PLUGIN_NAME;
  const tally::Region region{counters, name};
  return name;
}
}
