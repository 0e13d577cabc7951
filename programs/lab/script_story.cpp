#include "programs/lab/script_story.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tally/core/base/text.hpp"

namespace tally::lab {
namespace {

constexpr std::size_t statement_width = 34;

}  // namespace

// Returns the changes of the counters by the statement, next to its text.
std::string ScriptStory::close(const Computer& machine) {
  if (current_ < 0) return {};
  if (static_cast<std::size_t>(current_) < first_) {
    lines_.clear();
    return {};
  }
  std::vector<std::string> changes;
  const std::vector<CounterState> now = machine.counters();
  for (std::size_t i = 0; i < now.size(); ++i) {
    const std::uint64_t before = before_[i].value;
    if (now[i].value == before) continue;
    const std::string name = short_name(now[i].name);
    // A counter that was set to overflow soon is shown by its distance.
    const std::uint64_t left = (pmu::low_ones(now[i].overflow_bit) - now[i].value) + 1;
    changes.push_back(left < now[i].value && now[i].value <= pmu::low_ones(now[i].overflow_bit)
                          ? fmt::format("{} = 2^{} - {}", name, now[i].overflow_bit, left)
                      : now[i].value > before ? fmt::format("{} +{}", name, now[i].value - before)
                                              : fmt::format("{} = {}", name, now[i].value));
  }
  const std::string& statement = script_.statements[static_cast<std::size_t>(current_)].text;
  std::string text = fmt::format("{:<{}}  {}", statement, statement_width, join(changes, "  "));
  text = text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  for (const std::string& line : lines_) text += line;
  lines_.clear();
  return text;
}

std::string ScriptStory::hear(const Entry& entry, const Computer& machine) {
  if (entry.kind == Entry::Kind::breakpoint) {
    std::string text = close(machine);
    current_ = -1;
    for (std::size_t i = 0; i < script_.statements.size(); ++i) {
      if (script_.statements[i].address == entry.address) current_ = static_cast<int>(i);
    }
    before_ = machine.counters();
    return text;
  }
  if (current_ < 0) return {};
  const std::string indent = "    ";
  switch (entry.kind) {
    case Entry::Kind::output: lines_.push_back(indent + "| " + entry.text); break;
    case Entry::Kind::write: {
      std::string line = fmt::format("{}{} = {:#x}", indent, machine.register_name(entry.number), entry.value);
      if (!entry.text.empty()) {
        lines_.push_back(fmt::format("{}: {}\n", line, machine.refusal()));
        lines_.push_back(fmt::format("{}{}\n", indent, entry.text));
        break;
      }
      if (const auto meaning = machine.meaning(entry); !meaning.empty()) line += ": " + meaning;
      lines_.push_back(line + "\n" + remarks_text(entry.remarks, telling_.explains, indent));
      break;
    }
    case Entry::Kind::read:
      lines_.push_back(fmt::format("{}{} is {:#x}", indent, machine.register_name(entry.number), entry.value));
      if (const auto meaning = machine.meaning(entry); !meaning.empty()) lines_.back() += ": " + meaning;
      lines_.back() += "\n" + remarks_text(entry.remarks, telling_.explains, indent);
      break;
    case Entry::Kind::rdpmc:
      lines_.push_back(entry.text.empty()
                           ? fmt::format("{}{} is {} ({:X}H)\n", indent, machine.counter_name(entry.number),
                                         thousands(static_cast<std::int64_t>(entry.value)), entry.value)
                           : fmt::format("{}{}: {}\n", indent, machine.refusal(), entry.text));
      break;
    case Entry::Kind::overflow: lines_.push_back(fmt::format("{}{} overflows\n", indent, entry.text)); break;
    case Entry::Kind::pmi: lines_.push_back(fmt::format("{}PMI {}\n", indent, entry.text)); break;
    case Entry::Kind::frozen: lines_.push_back(indent + "the counters freeze\n"); break;
    case Entry::Kind::record:
      lines_.push_back(indent + machine.words(entry) + "\n" + remarks_text(entry.remarks, telling_.explains, indent));
      break;
    case Entry::Kind::enter: lines_.push_back(indent + machine.handler_words(entry) + "\n"); break;
    case Entry::Kind::leave: lines_.push_back(remarks_text(entry.remarks, telling_.explains, indent)); break;
    default: break;
  }
  return {};
}

std::string ScriptStory::finish(const Computer& machine) {
  std::string text = close(machine);
  current_ = -1;
  return text;
}

}  // namespace tally::lab
