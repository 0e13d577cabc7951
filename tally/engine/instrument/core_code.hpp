/// Decodes instructions for the core model.
#pragma once
#include "tally/engine/models/core/core_model.hpp"
#include "tally/engine/records.hpp"
#include "tally/engine/translate/decode.hpp"

namespace tally::engine::instrument {

/// Returns the core model's view of an instruction; `unknown` if the decoder does not know it. Not thread-safe. Takes
/// about 20 ns for a form that occurred before, else about 2 µs.
models::CoreInstruction core_code(const Instruction& in);

}  // namespace tally::engine::instrument
