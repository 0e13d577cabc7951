#include "tally/engine/models/cache/cache_level.hpp"

#include "tally/engine/models/cache/vector_sets.hpp"

namespace tally::models {

Cache::Cache(const CacheShape& shape, std::uint64_t* table, std::uint32_t set_words)
    : shape_(shape),
      set_words_(set_words != 0                          ? set_words
                 : shape.replacement == Replacement::lru ? Lru::words(shape.ways)
                                                         : TreePlru::words(shape.ways)),
      reciprocal_(shape.sets > 1 ? ~std::uint64_t{0} / shape.sets : 0),
      table_(table) {}

std::uint32_t Cache::set_by_division(std::uint64_t line) const {
  const std::uint32_t sets = shape_.sets;
  // The reciprocal is rounded down, so the quotient is exact or one too small (line < 2^62, because lines have at least
  // 4 bytes).
  const auto quotient = static_cast<std::uint64_t>((static_cast<unsigned __int128>(line) * reciprocal_) >> 64);
  const std::uint64_t rest = line - quotient * sets;
  return static_cast<std::uint32_t>(rest >= sets ? rest - sets : rest);
}

template <class Policy>
Lookup Cache::access_in(std::uint64_t* set, std::uint64_t tag) {
  Lookup lookup;
  const std::uint32_t place = place_of(set, shape_.ways, tag);
  lookup.hit = place < shape_.ways;
  if (lookup.hit) {
    lookup.first_use = set[place] != tag;
    set[place] = tag;
    Policy::use(set, shape_.ways, place);
  } else if (const std::uint64_t displaced = Policy::insert(set, shape_.ways, tag)) {
    lookup.displaced = line_of(displaced);
  }
  return lookup;
}

Lookup Cache::access(std::uint64_t address) {
  std::uint64_t* const set = words_of(address);
  const std::uint64_t tag = tag_of(address, shape_.line_bits);
  if (shape_.replacement != Replacement::lru) return access_in<TreePlru>(set, tag);
  const Lru::UseResult used = Lru::use_tag(set, shape_.ways, tag);
  Lookup lookup;
  lookup.hit = used.hit;
  if (used.hit) {
    lookup.first_use = used.before != tag;
  } else if (used.before != 0) {
    lookup.displaced = line_of(used.before);
  }
  return lookup;
}

namespace {

constexpr std::uint32_t words_of_a_host_line = 8;

}  // namespace

std::uint32_t Cache::access_all(std::uint64_t* lines, std::uint32_t n) {
  constexpr std::uint32_t ahead = 16;
  std::uint32_t missed = 0;
  // Does not call expect(), because compilers remove a call that changes nothing.
  const auto fetch_sets = [&](std::uint32_t from) {
    for (std::uint32_t i = from; i < from + ahead && i < n; ++i) {
      const std::uint64_t* const set = words_of(lines[i]);
      for (std::uint32_t word = 0; word < set_words_; word += words_of_a_host_line) __builtin_prefetch(set + word, 1);
    }
  };
  VectorLevel levels[4];
  const bool by_vectors = set_words_ == shape_.ways && VectorLevel::fits(shape_);
  for (VectorLevel& level : levels)
    if (by_vectors) level = VectorLevel(shape_, table_);
  std::uint8_t hits[ahead] = {};
  fetch_sets(0);
  for (std::uint32_t at = 0; at < n; at += ahead) {
    const std::uint32_t here = n - at < ahead ? n - at : ahead;
    fetch_sets(at + ahead);
    if (by_vectors) {
      use_vector_levels(levels, lines + at, here, hits);
    } else {
      for (std::uint32_t i = 0; i < here; ++i) hits[i] = touch(lines[at + i]) ? 1 : 0;
    }
    for (std::uint32_t i = 0; i < here; ++i) {
      lines[missed] = lines[at + i];
      missed += hits[i] == 0 ? 1 : 0;
    }
  }
  return missed;
}

Lookup Cache::use(std::uint64_t address) { return holds(address) ? access(address) : Lookup{}; }

Lookup Cache::prefetch(std::uint64_t address) {
  if (holds(address)) return Lookup{.hit = true};
  const Lookup lookup = access(address);
  std::uint64_t* const set = words_of(address);
  const std::uint32_t place = place_of(set, shape_.ways, tag_of(address, shape_.line_bits));
  set[place] &= ~used_bit;
  return lookup;
}

void Cache::expect(std::uint64_t address) const {
  const std::uint64_t* const set = words_of(address);
  for (std::uint32_t word = 0; word < set_words_; word += words_of_a_host_line) __builtin_prefetch(set + word, 1);
}

bool Cache::holds(std::uint64_t address) const {
  return place_of(words_of(address), shape_.ways, tag_of(address, shape_.line_bits)) < shape_.ways;
}

bool Cache::remove(std::uint64_t address) {
  std::uint64_t* const set = words_of(address);
  const std::uint32_t place = place_of(set, shape_.ways, tag_of(address, shape_.line_bits));
  if (place == shape_.ways) return false;
  if (shape_.replacement == Replacement::lru) {
    Lru::remove(set, shape_.ways, place);
  } else {
    TreePlru::remove(set, shape_.ways, place);
  }
  return true;
}

}  // namespace tally::models
