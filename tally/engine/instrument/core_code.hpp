/// Instructions as the core model sees them.
#pragma once
#include "tally/engine/models/core/core.hpp"
#include "tally/engine/records.hpp"
#include "tally/engine/translate/decode.hpp"

namespace tally::engine::instrument {

/// What the core model has to know of an instruction. `unknown` where the decoder says nothing of it. One by one; some
/// 20 ns for a form that was met before, else some 2 µs.
models::CoreInstruction core_code(const Instruction& in);

}  // namespace tally::engine::instrument
