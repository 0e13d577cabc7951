// The accesses of instructions for which they depend on register values: masked elements, nested frames of `enter`, and
// parts of the processor's state. The rules are those of the manual (Intel SDM volume 1, chapter 13, and volume 2). The
// order is by element and address.
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

  /// Two words of the access log.
  constexpr std::uint64_t word() const { return bytes | static_cast<std::uint64_t>(what) << 32; }
  static constexpr ElementAccess of(const std::uint64_t* words) {
    return {words[0], static_cast<std::uint32_t>(words[1]), static_cast<Access>(words[1] >> 32 & 3)};
  }
};

/// The accesses of one instruction, in order.
struct AccessSequence {
  static constexpr std::uint32_t limit = 80;  ///< `enter` with 31 levels makes 63
  ElementAccess accesses[limit];
  std::uint32_t count = 0;

  void add(std::uint64_t address, std::uint64_t bytes, Access what) {
    if (bytes != 0 && count < limit) accesses[count++] = {address, static_cast<std::uint32_t>(bytes), what};
  }
};

/// Elements of a vector in memory.
struct Elements {
  std::uint8_t count;        ///< 64 at most
  std::uint8_t bytes;        ///< of one element
  std::uint8_t index_bytes;  ///< 4 or 8, of a signed index
  std::uint8_t scale;        ///< log2
  bool low;                  ///< addresses are 32 bits wide
};

/// Adds a gather or scatter: one access for each selected element, the first one first. Bit i of `mask` selects element
/// i; `indices` is the content of the vector register.
void add_elements(AccessSequence& to, const Elements& of, std::uint64_t base, std::uint64_t mask,
                  const std::uint8_t* indices, Access what);

/// Adds a masked move: one access from the first selected element to the last one; none if no element is selected.
void add_masked(AccessSequence& to, const Elements& of, std::uint64_t address, std::uint64_t mask, Access what);

/// Returns a mask from a vector register: the top bit of each element.
std::uint64_t mask_of_signs(const Elements& of, const std::uint8_t* vector);

/// Adds `enter` with a level of 1 or more: it pushes the frame pointer, then level - 1 pointers of the previous frame,
/// then the new one. `bytes` of each: 8 or 2.
void add_frames(AccessSequence& to, std::uint64_t frame, std::uint64_t stack, unsigned level, unsigned bytes);

/// Offsets of the components of the processor's extended state (CPUID leaf 0DH), from component 2 on.
struct StateLayout {
  struct Component {
    std::uint32_t offset;  ///< in the standard form
    std::uint32_t bytes;
    bool aligned;  ///< to 64 bytes in the compacted form
  };
  Component component[64];
};

/// A form of the XSAVE area: the components that it contains, as in XCOMP_BV; 0: the standard form.
constexpr std::uint64_t compacted = std::uint64_t{1} << 63;

/// Returns the offset of component `which` (2 or higher) in an area of this form; 0 if the compacted form does not
/// contain it.
std::uint64_t place_of_component(const StateLayout& layout, std::uint64_t form, unsigned which);

/// Adds the accesses that save or restore the area at `address`. `components`: those that are written or read. MXCSR
/// belongs to component 1; in the standard form also to component 2, if that is in `requested`. Adjacent components are
/// one access. A read of the header, of `header` bytes, comes first. A save is stores only: the read of the header by
/// xsave, which rewrites it, is not a load.
void add_state(AccessSequence& to, const StateLayout& layout, std::uint64_t address, std::uint64_t components,
               std::uint64_t requested, std::uint64_t form, unsigned header, Access what);

}  // namespace tally::models
