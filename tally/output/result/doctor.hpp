// What `tally doctor` found out, as plain data: the doctor fills it, reporting prints it.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "tally/core/count/trust.hpp"

namespace tally::result {

/// Something that can be done about it.
struct Step {
  std::string text;                   ///< whole sentences
  std::vector<std::string> commands;  ///< to be typed, or written into a file, as they stand
  bool operator==(const Step&) const = default;
};

/// Events, and how they are counted on this machine.
struct Countable {
  std::string what;  ///< names of events, or words for a kind of them
  Trust trust = Trust::absent;
  std::string source;  ///< who counts; empty where nobody does
  std::string reason;  ///< why it is absent or partial
  bool operator==(const Countable&) const = default;
};

/// A fact, for programs (name, value) and for people (text).
struct Fact {
  std::string name;                                                     ///< "perfmon_version"
  std::variant<std::monostate, bool, std::int64_t, std::string> value;  ///< monostate: not known, or there is none
  std::string text;
  bool operator==(const Fact&) const = default;
};

/// Facts of one kind.
struct FactGroup {
  std::string name;  ///< "processor"
  std::vector<Fact> facts;
  bool operator==(const FactGroup&) const = default;
};

/// The whole answer.
struct Diagnosis {
  bool hardware = false;              ///< events of the processor can be counted here, by the kernel
  std::string cause;                  ///< one word of docs/reference/doctor-json.md: "no-vpmu"
  std::string verdict;                ///< the answer, in a sentence or two
  std::vector<std::string> evidence;  ///< what it was concluded from
  std::vector<Step> next;             ///< the best first
  std::vector<Countable> countable;
  std::vector<FactGroup> facts;
  bool operator==(const Diagnosis&) const = default;
};

}  // namespace tally::result
