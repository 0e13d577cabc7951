#include <fmt/format.h>

#include <map>

#include "tally/core/base/text.hpp"
#include "tally/output/analysis/profile_sums.hpp"
#include "tally/output/analysis/whole_functions.hpp"
#include "tally/output/kit/grid.hpp"
#include "tally/output/text/code_listing.hpp"
#include "tally/output/text/count_cells.hpp"

namespace tally::output {
namespace {

/// The counts of an instruction, over all threads.
struct Counted {
  std::vector<std::int64_t> counts;
  std::int64_t taken = 0;
  std::uint32_t source = 0, line = 0;
};
using Instructions = std::map<std::uint64_t, Counted>;

// "call 3a80 <std::vector<…>::push_back>": the name of a target in at most 60 columns.
std::string with_short_target(const std::string& text) {
  constexpr std::size_t most = 60;
  const std::size_t begin = text.find(" <");
  if (begin == std::string::npos || !text.ends_with('>')) return text;
  const std::string name = text.substr(begin + 2, text.size() - begin - 3);
  return text.substr(0, begin + 2) + shortened_cell(name, most) + ">";
}

std::string function_text(const result::Profile& profile, const result::ProfileFunction& function,
                          const Instructions& counted, const std::map<std::uint64_t, std::string>& texts,
                          std::size_t terminal) {
  const CountCells counts(profile);
  std::vector<Column> columns = counts.columns();
  columns.push_back({"taken", Align::right});
  columns.push_back(key_column("address", Align::right));
  const std::size_t code = columns.size();
  for (const char* heading : {"instruction", "line"}) columns.push_back({heading});
  CodeListing listing(std::move(columns), code);
  std::string last_location;
  for (const auto& [address, text] : texts) {
    const auto found = counted.find(address);
    std::vector<std::string> cells = counts.cells(found == counted.end() ? nullptr : &found->second.counts);
    cells.push_back(found == counted.end() || found->second.taken == 0 ? "" : thousands(found->second.taken));
    cells.push_back(fmt::format("{:x}", address));
    cells.push_back(with_short_target(text));
    const std::string location =
        found == counted.end() ? "" : location_of(profile, found->second.source, found->second.line);
    cells.push_back(location == last_location ? "" : location);
    if (found != counted.end()) last_location = location;
    listing.add(std::move(cells));
  }
  const std::string title =
      fmt::format("{} ({})\n", printable(function.name), printable(profile.objects[function.object].name));
  return wrapped_lines(title, terminal) + "\n" + listing.text(terminal);
}

}  // namespace

Result<std::string> annotated_instructions(const result::Profile& profile, std::string_view name,
                                           const InstructionReader& read, std::size_t terminal) {
  const auto called = functions_called(profile, name);
  std::map<std::uint32_t, Instructions> functions;
  for (std::size_t i = 0; i < profile.rows.size(); ++i) {
    const result::ProfileRow& row = profile.rows[i];
    if (called.count(row.function) == 0) continue;
    Counted& one = functions[row.function][row.address];
    one.counts.resize(profile.event_count());
    for (std::size_t e = 0; e < one.counts.size(); ++e) one.counts[e] += profile.count(i, e);
    one.taken += row.taken;
    one.source = row.source;
    one.line = row.line;
  }
  if (functions.empty())
    return fail(Code::bad_usage, fmt::format("no executed function is called {}", printable(std::string(name))),
                "use a function name from the table; --top 0 shows all functions");
  std::string text;
  for (const auto& [number, counted] : functions) {
    const result::ProfileFunction& function = profile.functions[number];
    constexpr std::uint64_t longest = 15;
    // Samples may have hit few of its instructions, so show it from its beginning; a section is not a function.
    const bool from_beginning = profile.is_sampled() && !function.name.starts_with('[');
    const std::uint64_t begin = from_beginning ? function.address : counted.begin()->first;
    const auto texts = read(profile.objects[function.object], begin, counted.rbegin()->first + longest);
    if (!texts) return fail(texts.error());
    // Later instructions belong to the next function, or were not executed.
    std::map<std::uint64_t, std::string> shown(texts->begin(), texts->upper_bound(counted.rbegin()->first));
    text += (text.empty() ? "" : "\n") + function_text(profile, function, counted, shown, terminal);
  }
  return text;
}

}  // namespace tally::output
