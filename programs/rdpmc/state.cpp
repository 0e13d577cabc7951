#include "programs/rdpmc/state.hpp"

#include <fmt/format.h>

#include <sstream>

#include "tally/core/base/text.hpp"

namespace tally::rdpmc {
namespace {

constexpr std::string_view first_line = "tally-rdpmc/1";
constexpr std::string_view last_line = "end";

bool read_line(const std::string& line, State& state) {
  std::istringstream words(line);
  std::string kind;
  words >> kind;
  if (kind == "holder") {
    words >> state.holder.number >> state.holder.started;
  } else if (kind == "switch") {
    SwitchChange one;
    words >> one.pmu >> one.before >> one.set;
    state.switches.push_back(std::move(one));
  } else if (kind == "counter" || kind == "none") {
    Row row;
    if (kind == "counter") {
      row.place.emplace();
      words >> row.place->selector >> row.place->width;
    }
    words >> row.processors;
    // The rest of the line: names of events may contain spaces.
    std::getline(words >> std::ws, row.event);
    state.rows.push_back(std::move(row));
  } else {
    return false;
  }
  return !words.fail();
}

}  // namespace

std::string text_of(const State& state) {
  std::string text = fmt::format("{}\nholder {} {}\n", first_line, state.holder.number, state.holder.started);
  for (const SwitchChange& change : state.switches)
    text += fmt::format("switch {} {} {}\n", change.pmu, change.before, change.set);
  for (const Row& row : state.rows) {
    text += row.place
                ? fmt::format("counter {} {} {} {}\n", row.place->selector, row.place->width, row.processors, row.event)
                : fmt::format("none {} {}\n", row.processors, row.event);
  }
  return text + std::string(last_line) + "\n";
}

Result<State> parse_state(std::string_view text) {
  const std::vector<std::string> lines = split(trimmed(text), '\n');
  State state;
  bool is_whole = lines.size() > 2 && lines.front() == first_line && lines.back() == last_line;
  for (std::size_t i = 1; is_whole && i + 1 < lines.size(); ++i) is_whole = read_line(lines[i], state);
  if (!is_whole) return fail(Code::cannot_measure, "this version of tally cannot read this state of `tally rdpmc`");
  return state;
}

}  // namespace tally::rdpmc
