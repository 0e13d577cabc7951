#include "tally/output/text/mix_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tally/core/base/text.hpp"
#include "tally/output/kit/grid.hpp"

namespace tally::output {
namespace {

using result::InstructionMix;
using Shares = std::vector<InstructionMix::Share>;

std::int64_t count_in(const Shares& shares, const std::string& name) {
  const auto share = std::ranges::find(shares, name, &InstructionMix::Share::name);
  return share == shares.end() ? 0 : share->count;
}

}  // namespace

std::string share_text(std::int64_t count, std::int64_t instructions) {
  if (instructions == 0) return "";
  return percent_text(100.0 * static_cast<double>(count) / static_cast<double>(instructions));
}

std::string mix_table(const std::vector<NamedMix>& mixes, std::size_t terminal) {
  constexpr std::size_t most_names = 12;
  const InstructionMix& all = mixes.front().mix;
  std::vector<Column> columns{{"instructions"}, {"count", Align::right}, {"share", Align::right}};
  for (std::size_t i = 1; i < mixes.size(); ++i) columns.push_back({mixes[i].name, Align::right});
  Grid grid(std::move(columns));
  const auto add = [&](const std::string& name, const auto& count_of, const auto& whole_of) {
    std::vector<std::string> cells{name, thousands(count_of(all))};
    for (const NamedMix& named : mixes) cells.push_back(share_text(count_of(named.mix), whole_of(named.mix)));
    grid.add(std::move(cells));
  };
  const auto instructions_of = [](const InstructionMix& mix) { return mix.instructions; };
  const auto add_all = [&](const std::string& title, Shares InstructionMix::*shares, std::size_t most,
                           const auto& whole_of) {
    if ((all.*shares).empty()) return;
    grid.add({title});
    for (std::size_t i = 0; i < std::min(most, (all.*shares).size()); ++i)
      add(
          "  " + (all.*shares)[i].name,
          [&](const InstructionMix& mix) { return count_in(mix.*shares, (all.*shares)[i].name); }, whole_of);
  };
  const auto add_accesses = [&](const char* title, Shares InstructionMix::*shares) {
    add_all(title, shares, (all.*shares).size(), [&](const InstructionMix& mix) {
      std::int64_t sum = 0;
      for (const InstructionMix::Share& share : mix.*shares) sum += share.count;
      return sum;
    });
  };
  const auto add_field = [&](const char* name, std::int64_t InstructionMix::*field) {
    add(
        name, [&](const InstructionMix& mix) { return mix.*field; }, instructions_of);
  };
  add_field("all", &InstructionMix::instructions);
  if (all.unknown != 0) add_field("not known, in no row below", &InstructionMix::unknown);
  add_field("with packed vector registers", &InstructionMix::vector);
  add_field("floating-point arithmetic", &InstructionMix::fp);
  add_field("  with packed vector registers", &InstructionMix::fp_vector);
  add_all("by category", &InstructionMix::categories, all.categories.size(), instructions_of);
  add_all("by largest register", &InstructionMix::widths, all.widths.size(), instructions_of);
  add_all(fmt::format("most frequent of {} names", all.names.size()), &InstructionMix::names, most_names,
          instructions_of);
  add_accesses("loads by size (without rep and gathers)", &InstructionMix::loads);
  add_accesses("stores by size (without rep and scatters)", &InstructionMix::stores);
  return grid.text(terminal);
}

}  // namespace tally::output
