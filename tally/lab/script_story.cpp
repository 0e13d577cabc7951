#include "tally/lab/script_story.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tally/base/text.hpp"

namespace tally::lab {
namespace {

constexpr std::size_t statement_width = 34;

std::vector<std::uint64_t> counters_of(const Machine& machine) {
  std::vector<std::uint64_t> values;
  for (const int number : counter_numbers(machine.pmu().profile())) values.push_back(machine.pmu().counter(number));
  return values;
}

}  // namespace

// What the statement did to the counters, beside its text.
std::string ScriptStory::close(const Machine& machine) {
  if (current_ < 0) return {};
  if (static_cast<std::size_t>(current_) < first_) {
    lines_.clear();
    return {};
  }
  std::vector<std::string> changes;
  const auto now = counters_of(machine);
  const auto numbers = counter_numbers(machine.pmu().profile());
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (now[i] == before_[i]) continue;
    const std::string name = pmu::emulated::counter_name(numbers[i]).substr(5);
    // One that was set to overflow soon has not counted so much.
    const std::uint64_t left = (1ULL << machine.pmu().profile().width) - now[i];
    changes.push_back(left < now[i]         ? fmt::format("{} = 2^{} - {}", name, machine.pmu().profile().width, left)
                      : now[i] > before_[i] ? fmt::format("{} +{}", name, now[i] - before_[i])
                                            : fmt::format("{} = {}", name, now[i]));
  }
  const std::string& statement = script_.statements[static_cast<std::size_t>(current_)].text;
  std::string text = fmt::format("{:<{}}  {}", statement, statement_width, join(changes, "  "));
  text = text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  for (const std::string& line : lines_) text += line;
  lines_.clear();
  return text;
}

std::string ScriptStory::hear(const Entry& entry, const Machine& machine) {
  if (entry.kind == Entry::Kind::breakpoint) {
    std::string text = close(machine);
    current_ = -1;
    for (std::size_t i = 0; i < script_.statements.size(); ++i) {
      if (script_.statements[i].address == entry.address) current_ = static_cast<int>(i);
    }
    before_ = counters_of(machine);
    return text;
  }
  if (current_ < 0) return {};
  const int version = machine.pmu().profile().version;
  const std::string indent = "    ";
  switch (entry.kind) {
    case Entry::Kind::output: lines_.push_back(indent + "| " + entry.text); break;
    case Entry::Kind::write: {
      std::string line = fmt::format("{}{} = {:#x}", indent, register_name(entry.number, version), entry.value);
      if (!entry.text.empty()) {
        lines_.push_back(fmt::format("{}: #GP(0)\n", line));
        lines_.push_back(fmt::format("{}{}\n", indent, entry.text));
        break;
      }
      if (const auto meaning = meaning_of(entry, version); !meaning.empty()) line += ": " + meaning;
      lines_.push_back(line + "\n" + remarks_text(entry.remarks, telling_.explains, indent));
      break;
    }
    case Entry::Kind::read:
      lines_.push_back(fmt::format("{}{} is {:#x}", indent, register_name(entry.number, version), entry.value));
      if (const auto meaning = meaning_of(entry, version); !meaning.empty()) lines_.back() += ": " + meaning;
      lines_.back() += "\n" + remarks_text(entry.remarks, telling_.explains, indent);
      break;
    case Entry::Kind::rdpmc:
      lines_.push_back(entry.text.empty() ? fmt::format("{}{} is {} ({:X}H)\n", indent, rdpmc_name(entry.number),
                                                        thousands(static_cast<std::int64_t>(entry.value)), entry.value)
                                          : fmt::format("{}#GP(0): {}\n", indent, entry.text));
      break;
    case Entry::Kind::overflow: lines_.push_back(fmt::format("{}{} overflows\n", indent, entry.text)); break;
    case Entry::Kind::pmi: lines_.push_back(fmt::format("{}PMI {}\n", indent, entry.text)); break;
    case Entry::Kind::frozen: lines_.push_back(indent + "the counters freeze\n"); break;
    case Entry::Kind::enter:
      lines_.push_back(
          fmt::format("{}vector {:X}H is taken: the lab's handler sends an EOI and returns, 5 instructions\n", indent,
                      entry.number));
      break;
    case Entry::Kind::leave: lines_.push_back(remarks_text(entry.remarks, telling_.explains, indent)); break;
    default: break;
  }
  return {};
}

std::string ScriptStory::finish(const Machine& machine) {
  std::string text = close(machine);
  current_ = -1;
  return text;
}

}  // namespace tally::lab
