// What an instruction accesses where only its registers tell: elements by a mask, frames of frames, the parts of the
// processor's state. The rules are the manual's (Intel SDM volume 1, chapter 13, and volume 2); the order is that of
// elements and addresses.
#pragma once

#include <cstdint>

#include "tally/engine/models/cache/hierarchy.hpp"

namespace tally::models {

/// One access.
struct ElementAccess {
  std::uint64_t address;
  std::uint32_t bytes;
  Access what;
  bool operator==(const ElementAccess&) const = default;

  /// Two words of the tape.
  constexpr std::uint64_t word() const { return bytes | static_cast<std::uint64_t>(what) << 32; }
  static constexpr ElementAccess of(const std::uint64_t* words) {
    return {words[0], static_cast<std::uint32_t>(words[1]), static_cast<Access>(words[1] >> 32 & 3)};
  }
};

/// The accesses of one instruction in their order.
struct AccessSequence {
  static constexpr std::uint32_t limit = 80;  ///< `enter` with 31 levels has 63
  ElementAccess piece[limit];
  std::uint32_t count = 0;

  void add(std::uint64_t address, std::uint64_t bytes, Access what) {
    if (bytes != 0 && count < limit) piece[count++] = {address, static_cast<std::uint32_t>(bytes), what};
  }
};

/// Elements of a vector in memory.
struct Elements {
  std::uint8_t count;        ///< 64 at most
  std::uint8_t bytes;        ///< of one
  std::uint8_t index_bytes;  ///< 4 or 8, of a signed index
  std::uint8_t scale;        ///< log2
  bool low;                  ///< addresses have 32 bits
};

/// A gather or scatter: an access for each element that is selected, the first one first. Bit i of `mask` selects
/// element i; `indices` as they lie in the vector register.
void add_elements(AccessSequence& to, const Elements& of, std::uint64_t base, std::uint64_t mask,
                  const std::uint8_t* indices, Access what);

/// A move by a mask: one access from the first element that is selected to the last one; none if there is none.
void add_masked(AccessSequence& to, const Elements& of, std::uint64_t address, std::uint64_t mask, Access what);

/// A mask from a vector register: the topmost bit of each element.
std::uint64_t mask_of_signs(const Elements& of, const std::uint8_t* vector);

/// `enter` with a level of 1 or more: the frame pointer is pushed, then level - 1 pointers of the frame before, then
/// the new one. `bytes` of each, 8 or 2.
void add_frames(AccessSequence& to, std::uint64_t frame, std::uint64_t stack, unsigned level, unsigned bytes);

/// Where the components of the processor's extended state lie (CPUID leaf 0DH), from component 2 on.
struct StateLayout {
  struct Component {
    std::uint32_t offset;  ///< in the standard form
    std::uint32_t bytes;
    bool aligned;  ///< to 64 bytes in the compacted form
  };
  Component component[64];
};

/// A form of the XSAVE area: the components that have a place in it, as XCOMP_BV has them; 0: the standard form.
constexpr std::uint64_t compacted = std::uint64_t{1} << 63;

/// Where the component `which`, from 2 on, is in an area of this form; 0 where the compacted form has no place for it.
std::uint64_t place_of_component(const StateLayout& layout, std::uint64_t form, unsigned which);

/// What is saved or restored of the area at `address`. `components`: which of them are written or read. MXCSR goes with
/// component 1, and in the standard form with component 2 too where it is in `requested`. What lies side by side is one
/// access; the header, of which `header` bytes are accessed, comes first where it is read. What is saved is one store:
/// that xsave reads the header that it rewrites is no load.
void add_state(AccessSequence& to, const StateLayout& layout, std::uint64_t address, std::uint64_t components,
               std::uint64_t requested, std::uint64_t form, unsigned header, Access what);

}  // namespace tally::models
