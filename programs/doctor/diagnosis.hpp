// What `tally doctor` found, as plain data: the doctor fills it, the formats print it.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "tally/core/count/trust.hpp"
#include "tally/output/result/provenance.hpp"

namespace tally::doctor {

/// A step that the user can take.
struct Step {
  std::string text;                   ///< whole sentences
  std::vector<std::string> commands;  ///< to type, or to write into a file, verbatim
  bool operator==(const Step&) const = default;
};

/// Events, and how they are counted on this machine.
struct CountableEvents {
  std::string what;  ///< names of events, or a description of several
  Trust trust = Trust::absent;
  std::string source;  ///< the PMU or backend that counts; empty if none does
  std::string reason;  ///< why it is absent or partial
  bool operator==(const CountableEvents&) const = default;
};

/// A fact, for programs (name, value) and for people (text).
struct Fact {
  std::string name;                                                     ///< "perfmon_version"
  std::variant<std::monostate, bool, std::int64_t, std::string> value;  ///< monostate: unknown or missing
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
  bool hardware = false;              ///< the kernel can count the processor's events here
  std::string cause;                  ///< one word of docs/reference/doctor-json.md: "no-vpmu"
  std::string verdict;                ///< the answer, in a sentence or two
  std::vector<std::string> evidence;  ///< facts that the verdict is based on
  std::vector<Step> next;             ///< the best step first
  std::vector<CountableEvents> countable;
  std::vector<FactGroup> facts;
  result::Provenance provenance = {};
  bool operator==(const Diagnosis&) const = default;
};

}  // namespace tally::doctor
