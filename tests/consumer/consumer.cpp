#include <tally/tally.hpp>

int main() {
  auto counters = tally::Counters::open({"page-faults"});
  if (!counters) {
    std::printf("%s\n", counters.error().message.c_str());
    return 77;
  }
  { const tally::Region region{*counters, "by C++"}; }
  const tally::Values read = counters->read() - counters->read();
  for (const auto& region : counters->regions()) tally::print(region, stdout);
  return read["page-faults"].trust == tally::Trust::counted ? 0 : 1;
}
