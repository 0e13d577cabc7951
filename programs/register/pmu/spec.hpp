// Parses the arguments of `tally register`: a register, and optionally a value or fields.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "programs/register/pmu/codec.hpp"
#include "tally/core/base/result.hpp"

namespace tally::pmu {

/// A request: one register, or the four outputs of a CPUID leaf.
struct Request {
  std::vector<Value> values;          ///< one; for a leaf, its outputs that have a table
  bool has_value = false;             ///< false: show the layout, or this machine's leaf
  bool encoded = false;               ///< the value was encoded from fields
  std::optional<std::uint64_t> leaf;  ///< a CPUID leaf: its number and sub-leaf as in cpuid_output()
};

/// Limits the search for a register and its fields.
struct Choice {
  const Model* model = nullptr;     ///< null: all
  std::optional<int> version = {};  ///< of `model`
};

/// Reads a request:
///   REGISTER                    its layout
///   REGISTER=VALUE              the value, decoded
///   REGISTER:FIELD=N,FIELD,…    a value made of fields; a field without a number is set
///   REGISTER=VALUE:FIELD=N,…    a value with fields changed
///   CPUID.0AH                   a leaf
///   CPUID.0AH=EAX,EBX,ECX,EDX   a leaf of another machine
/// Names and numbers as find_register() and parse_number() take them.
/// Errors: bad_usage, with what is wrong and what it may have been meant to be.
Result<Request> parse_request(std::string_view text, const Choice& choice = {});

/// The register that a request names; for a CPUID leaf, its first output. Errors: as parse_request().
Result<RegisterInstance> register_named(std::string_view text, const Choice& choice = {});

/// The same request with the outputs of a leaf from this machine, EAX to EDX.
Request with_leaf(Request request, const std::uint32_t (&outputs)[4]);

}  // namespace tally::pmu
