#include "tally/engine/models/access_sequence.hpp"

namespace tally::models {
namespace {

/// Returns the index of element `i`, sign-extended.
std::uint64_t index_of(const Elements& of, const std::uint8_t* indices, unsigned i) {
  if (of.index_bytes == 8) {
    std::uint64_t index = 0;
    __builtin_memcpy(&index, indices + std::uint64_t{i} * 8, 8);
    return index;
  }
  std::int32_t index = 0;
  __builtin_memcpy(&index, indices + std::uint64_t{i} * 4, 4);
  return static_cast<std::uint64_t>(std::int64_t{index});
}

/// Extends the last access if the new one starts at its end; otherwise adds an access.
void add_or_extend(AccessSequence& to, std::uint32_t first, std::uint64_t address, std::uint64_t bytes, Access what) {
  if (to.count > first) {
    ElementAccess& last = to.accesses[to.count - 1];
    if (last.address + last.bytes == address) {
      last.bytes += static_cast<std::uint32_t>(bytes);
      return;
    }
  }
  to.add(address, bytes, what);
}

}  // namespace

void add_elements(AccessSequence& to, const Elements& of, std::uint64_t base, std::uint64_t mask,
                  const std::uint8_t* indices, Access what) {
  for (unsigned i = 0; i < of.count; ++i) {
    if ((mask >> i & 1) == 0) continue;
    const std::uint64_t address = base + (index_of(of, indices, i) << of.scale);
    to.add(of.low ? static_cast<std::uint32_t>(address) : address, of.bytes, what);
  }
}

void add_masked(AccessSequence& to, const Elements& of, std::uint64_t address, std::uint64_t mask, Access what) {
  if (of.count < 64) mask &= (std::uint64_t{1} << of.count) - 1;
  if (mask == 0) return;
  const auto first = static_cast<unsigned>(__builtin_ctzll(mask));
  const auto last = 63 - static_cast<unsigned>(__builtin_clzll(mask));
  to.add(address + std::uint64_t{first} * of.bytes, std::uint64_t{last - first + 1} * of.bytes, what);
}

std::uint64_t mask_of_signs(const Elements& of, const std::uint8_t* vector) {
  std::uint64_t mask = 0;
  for (unsigned i = 0; i < of.count; ++i) mask |= static_cast<std::uint64_t>(vector[(i + 1U) * of.bytes - 1] >> 7) << i;
  return mask;
}

void add_frames(AccessSequence& to, std::uint64_t frame, std::uint64_t stack, unsigned level, unsigned bytes) {
  to.add(stack -= bytes, bytes, Access::store);
  for (unsigned i = 1; i < level; ++i) {
    to.add(frame -= bytes, bytes, Access::load);
    to.add(stack -= bytes, bytes, Access::store);
  }
  to.add(stack - bytes, bytes, Access::store);
}

namespace {

constexpr std::uint64_t header_at = 512, extended_at = 576;

/// Returns the offset of this component in the compacted form; `next` is the end of the previous one.
std::uint64_t compacted_place(const StateLayout::Component& component, std::uint64_t next) {
  return component.aligned ? (next + 63) & ~std::uint64_t{63} : next;
}

}  // namespace

std::uint64_t place_of_component(const StateLayout& layout, std::uint64_t form, unsigned which) {
  if ((form & compacted) == 0) return layout.component[which].offset;
  if ((form >> which & 1) == 0) return 0;
  std::uint64_t at = extended_at;
  for (unsigned i = 2; i < which; ++i)
    if (form >> i & 1) at = compacted_place(layout.component[i], at) + layout.component[i].bytes;
  return compacted_place(layout.component[which], at);
}

void add_state(AccessSequence& to, const StateLayout& layout, std::uint64_t address, std::uint64_t components,
               std::uint64_t requested, std::uint64_t form, unsigned header, Access what) {
  constexpr std::uint64_t x87 = 1, sse = 2, avx = 4;
  const bool loads = what == Access::load, standard = (form & compacted) == 0;
  if (loads) to.add(address + header_at, header, what);
  const std::uint32_t first = to.count;
  if (components & x87) to.add(address, 24, what);
  if ((components & sse) || (standard && (requested & (sse | avx)))) add_or_extend(to, first, address + 24, 8, what);
  if (components & x87) add_or_extend(to, first, address + 32, 128, what);
  if (components & sse) add_or_extend(to, first, address + 160, 256, what);
  if (!loads) to.add(address + header_at, header, what);
  std::uint64_t at = extended_at;
  for (unsigned i = 2; i < 63; ++i) {
    const StateLayout::Component& component = layout.component[i];
    const std::uint64_t bit = std::uint64_t{1} << i;
    if (standard) {
      at = component.offset;
    } else if ((form & bit) == 0) {
      continue;
    } else {
      at = compacted_place(component, at);
    }
    if (components & bit) add_or_extend(to, first, address + at, component.bytes, what);
    at += component.bytes;
  }
}

}  // namespace tally::models
