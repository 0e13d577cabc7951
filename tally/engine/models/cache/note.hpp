// A note: an access that is not to the most recent line of its set, recorded for the models.
#pragma once

#include <cstdint>

#include "tally/engine/models/cache/hierarchy.hpp"

namespace tally::models {

/// An access to a line: the line's address, with the Access and same_access in the bits below it. Lines have at least
/// 64 bytes.
using Note = std::uint64_t;
/// The access is the same one as that of the previous note, on another line.
constexpr Note same_access = 8;
/// A note and the instruction of its access, adjacent in memory.
struct PlacedNote {
  Note note;
  std::uint64_t site;  ///< its address, with its mapping (channel::code_site())
};
static_assert(sizeof(PlacedNote) == 16);
constexpr Note note_of(std::uint64_t line, Access access) { return line | static_cast<Note>(access); }
constexpr Access access_of(Note note) { return static_cast<Access>(note & 55); }
constexpr std::uint64_t line_of_note(Note note) { return note & ~Note{63}; }

}  // namespace tally::models
