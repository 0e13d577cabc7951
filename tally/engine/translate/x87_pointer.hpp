/// The x87 instruction pointer: the address of the last x87 instruction, which programs can store. In generated code it
/// is that of a copy.
#pragma once
#include "tally/engine/translate/decode.hpp"

namespace tally::engine::translate {

/// Whether the instruction may store the pointer: fnstenv, fnsave, fxsave, xsave and their variants. It is the first
/// one of its trace, and the engine is entered before it (source_probes.hpp).
bool stores_x87_pointer(const Instruction& in);

/// Replaces the address of a copy by that of the program's instruction, or by 0 if the copy has been removed. `area`:
/// in the form of FXSAVE, such as the beginning of a signal frame's. Returns whether it did.
bool show_program_x87(u8* area);

/// The same in the processor.
void show_program_x87();

}  // namespace tally::engine::translate
