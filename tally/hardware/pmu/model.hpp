// The models: all registers of a kind of PMU, its versions, and what is often got wrong with them.
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
  std::string_view name;  ///< what people call it: "3", "PMUv3p5"
};

/// How much a remark matters.
enum class Severity {
  wrong,    ///< the write faults, or the counter never counts
  caution,  ///< it works, and probably not as meant
  note,     ///< worth knowing
};

/// What there is to say about a value.
struct Remark {
  Severity severity = Severity::note;
  std::string text;
  Source source;
};

/// A check of one register's values. Where several mistakes are common there are several rules.
struct Rule {
  std::string_view name;           ///< for tests and the reference: "edge-of-counter-0"
  std::string_view register_name;  ///< as in the table, with its `#`
  void (*check)(const Value& value, std::vector<Remark>& remarks) = nullptr;
};

/// A kind of PMU. One file defines it, one word in TALLY_MODELS lists it.
struct Model {
  std::string_view name;   ///< "intel": what --model takes
  std::string_view title;  ///< "Intel architectural performance monitoring"
  std::span<const Version> versions;
  std::span<const Register> registers;
  std::span<const Rule> rules;
};

/// All models.
std::span<const Model* const> models();

/// The model of this name; nothing for another word.
const Model* model_of(std::string_view name);

/// The version that `text` names, by its name or number. Errors: bad_usage, with those there are.
Result<int> version_of(const Model& model, std::string_view text);

/// One register of a model.
struct Place {
  const Model* model = nullptr;
  const Register* reg = nullptr;
  int index = 0;  ///< in a row of registers, counted from the row's first index
};

/// The register's own name: "IA32_PERFEVTSEL0".
std::string name(const Place& place);

/// Where it is: "MSR 186H", "S3_3_C9_C12_0", "CPUID.0AH:EAX", "CR4".
std::string address(const Place& place);

/// Every register of a model, rows spread out.
std::vector<Place> places(const Model& model);

/// The register of this name or number (hexadecimal, decimal, NNNH, S3_3_C9_C12_0); case, the prefixes IA32_ and MSR_
/// and the suffixes _EL0 and _EL1 do not matter. Searches all models where `model` is null.
/// Errors: bad_usage; the hint names the nearest registers. Cost: the first call makes an index of all names.
Result<Place> find_register(std::string_view text, const Model* model = nullptr);

/// All registers whose name, address or text matches: a part of it, or a pattern with * and ?. Empty: all.
std::vector<Place> matching(std::string_view pattern, const Model* model = nullptr);

/// A number as people write it: 0x38D, 38DH, 909, 0b101, with _ or ' between digits. Nothing where it is none, or does
/// not fit 64 bits.
std::optional<std::uint64_t> parse_number(std::string_view text);

// The models, in the order in which names are looked up. One more is a file that defines NAME_model, and NAME here.
#define TALLY_MODELS(one) one(intel) one(amd) one(x86) one(arm) one(apple)

#define TALLY_DECLARE(name) extern const Model name##_model;
TALLY_MODELS(TALLY_DECLARE)
#undef TALLY_DECLARE

}  // namespace tally::pmu
