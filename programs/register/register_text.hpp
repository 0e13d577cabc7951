// Register values as text, and as JSON.
#pragma once

#include <string>
#include <vector>

#include "programs/register/pmu/codec.hpp"
#include "programs/register/pmu/draw.hpp"
#include "tally/output/result/provenance.hpp"

namespace tally::registers {

/// A value to show, or only the layout of its register.
struct ShownRegister {
  pmu::Value value;
  bool has_value = true;
};

/// The picture, the fields and the remarks, in lines of at most 80 columns.
std::string register_text(const ShownRegister& shown, pmu::Lines lines);

/// The same for programs (docs/reference/registers.md).
std::string register_json(const std::vector<ShownRegister>& shown, const result::Provenance& provenance);

/// Registers, one line each.
std::string register_list(const std::vector<pmu::RegisterInstance>& places);

/// All tables of docs/reference/registers.md.
std::string register_reference();

}  // namespace tally::registers
