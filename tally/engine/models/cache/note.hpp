// What is written down of an access by who looks at the most recent line of its set himself.
#pragma once

#include <cstdint>

#include "tally/engine/models/cache/hierarchy.hpp"

namespace tally::models {

/// An access to a line: the line's address, and in the bits below it the Access and same_access. Lines have at least 8
/// bytes.
using Note = std::uint64_t;
/// The line is touched by the same access as that of the note before.
constexpr Note same_access = 4;
/// A note with the instruction whose access it is, as both stand one after the other.
struct PlacedNote {
  Note note;
  std::uint64_t site;  ///< its address, with its mapping (channel::code_site())
};
static_assert(sizeof(PlacedNote) == 16);
constexpr Note note_of(std::uint64_t line, Access access) { return line | static_cast<Note>(access); }
constexpr Access access_of(Note note) { return static_cast<Access>(note & 3); }
constexpr std::uint64_t line_of_note(Note note) { return note & ~Note{7}; }

}  // namespace tally::models
