// What `tally register` is asked: text → a register and what to do with it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/hardware/pmu/codec.hpp"

namespace tally::pmu {

/// What a request names: one register, or the four outputs of a leaf of CPUID.
struct Request {
  std::vector<Value> values;          ///< one; for a leaf those of its outputs that have a table
  bool has_value = false;             ///< false: only the layout is asked for, or this machine's leaf
  bool encoded = false;               ///< the value was made from fields
  std::optional<std::uint64_t> leaf;  ///< a leaf of CPUID was named: its number and sub-leaf as in cpuid_output()
};

/// What limits the search for a register and its fields.
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

/// The register that a request names; for a leaf of CPUID its first output. Errors: as parse_request().
Result<Place> register_named(std::string_view text, const Choice& choice = {});

/// The same request with the outputs of a leaf as this machine gave them, EAX to EDX.
Request with_leaf(Request request, const std::uint32_t (&outputs)[4]);

}  // namespace tally::pmu
