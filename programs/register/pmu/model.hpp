// PMU models: the registers, versions and common mistakes of a kind of PMU.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/hardware/pmu/register.hpp"

namespace tally::pmu {

/// A version of a PMU's architecture.
struct Version {
  int number = 0;
  std::string_view name;  ///< the usual name: "3", "PMUv3p5"
};

/// The severity of a remark.
enum class Severity {
  wrong,    ///< the write faults, or the counter never counts
  caution,  ///< it works, but probably not as intended
  note,     ///< worth knowing
};

/// A remark about a value.
struct Remark {
  Severity severity = Severity::note;
  std::string text;
  Source source;
};

/// A check of one register's values. A register may have several rules.
struct Rule {
  std::string_view name;           ///< for tests and the reference: "edge-of-counter-0"
  std::string_view register_name;  ///< as in the table, with its `#`
  void (*check)(const Value& value, std::vector<Remark>& remarks) = nullptr;
};

/// A kind of PMU. To add one, define it in a file and add its name to TALLY_MODELS.
struct Model {
  std::string_view name;   ///< "intel": the argument of --model
  std::string_view title;  ///< "Intel architectural performance monitoring"
  std::span<const Version> versions;
  std::span<const Register> registers;
  std::span<const Rule> rules;
};

/// All models.
std::span<const Model* const> models();

/// Finds a model by name; null if unknown.
const Model* model_of(std::string_view name);

/// Finds a version by name or number. Errors: bad_usage, with the valid versions.
Result<int> version_of(const Model& model, std::string_view text);

/// A register of a model; in a row of registers, one of them.
struct RegisterInstance {
  const Model* model = nullptr;
  const Register* reg = nullptr;
  int index = 0;  ///< in a row of registers, from 0
};

/// The name with its index: "IA32_PERFEVTSEL0".
std::string name(const RegisterInstance& place);

/// The address: "MSR 186H", "S3_3_C9_C12_0", "CPUID.0AH:EAX", "CR4".
std::string address(const RegisterInstance& place);

/// All registers of a model, including each register of a row.
std::vector<RegisterInstance> places(const Model& model);

/// Finds a register by name or number (hexadecimal, decimal, NNNH, S3_3_C9_C12_0), ignoring case, the prefixes IA32_
/// and MSR_ and the suffixes _EL0 and _EL1. Searches all models if `model` is null.
/// Errors: bad_usage; the hint suggests the nearest registers. Cost: the first call builds an index of all names.
Result<RegisterInstance> find_register(std::string_view text, const Model* model = nullptr);

/// All registers whose name, address or text contains the pattern, or matches it if it has * or ?. Empty: all.
std::vector<RegisterInstance> matching(std::string_view pattern, const Model* model = nullptr);

/// Parses a number: 0x38D, 38DH, 909, 0b101, with _ or ' between digits. Returns nothing if it is not a number or does
/// not fit 64 bits.
std::optional<std::uint64_t> parse_number(std::string_view text);

// The models, in the order in which names are searched. To add one, define NAME_model in a file and list NAME here.
#define TALLY_MODELS(one) one(intel) one(amd) one(x86) one(arm) one(apple)

#define TALLY_DECLARE(name) extern const Model name##_model;
TALLY_MODELS(TALLY_DECLARE)
#undef TALLY_DECLARE

}  // namespace tally::pmu
