/// The tables of libpfm4 are relocated when a name needs them: cmake/defer_relocations.cpp takes their relocations out
/// of those that a program makes at its start.
#pragma once

namespace tally::linux {

/// Relocates the tables, if that was deferred, and makes the constants among them read-only. Call it once, before
/// anything of libpfm4.
void make_deferred_relocations();

}  // namespace tally::linux
