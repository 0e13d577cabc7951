#include "tally/engine/models/cache/crowded_sets.hpp"

namespace tally::models {

CrowdedSets::Crowd CrowdedSets::pass(std::uint64_t address, const CacheShape& shape) {
  constexpr unsigned recent = 8;
  if (shape.sets == 0 || shape.sets > most_sets || (shape.sets & (shape.sets - 1)) != 0) return {};
  const std::uint64_t tag = (address >> shape.line_bits) + 1, set = tag & (shape.sets - 1);
  Crowd crowd{0, true};
  for (unsigned i = 1; i <= recent; ++i) crowd.is_far &= (lines_[(next_ - i) % window] - tag + 1) > 2;
  if (const std::uint64_t old = lines_[next_]; old != 0) --under_way_[old & (shape.sets - 1)];
  lines_[next_] = tag;
  unsigned lines = ++under_way_[set];
  if (lines > shape.ways) {
    // Back to the last miss of the same line, after which the same lines come again.
    for (unsigned since = 1, at = next_; since < lines;) {
      at = (at - 1) % window;
      if (lines_[at] == tag) lines = since;
      since += (lines_[at] & (shape.sets - 1)) == set ? 1 : 0;
    }
  }
  next_ = (next_ + 1) % window;
  crowd.lines = 2 * lines > shape.ways ? lines : 0;
  return crowd;
}

unsigned CrowdedSets::longer(Crowd crowd, unsigned ways, bool loads, bool stores, bool is_hidden,
                             const CrowdTimes& times) {
  constexpr unsigned whole = 256;
  if (loads && crowd.lines != 0 && !is_hidden) parts_ += whole / 2;
  if (crowd.lines > ways) {
    const unsigned more = (crowd.lines - ways) * whole;
    parts_ += (loads ? times.load * more / (window - ways) : 0) + (stores ? times.store * more / crowd.lines : 0);
  }
  const unsigned cycles = parts_ / whole;
  parts_ %= whole;
  return cycles;
}

}  // namespace tally::models
