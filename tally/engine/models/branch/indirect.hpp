// Target prediction of indirect jumps and calls: ITTAGE (A. Seznec, "A 64-Kbytes ITTAGE indirect branch predictor",
// JWAC-2, 2011).
#pragma once

#include <bit>
#include <cstdint>

#include "tally/engine/models/lanes.hpp"

namespace tally::models {

/// Last targets by address, and five tables whose entries are indexed and tagged by address, the last targets of all
/// indirect branches, and in the longer tables the history of TAGE. The longest context with a matching entry predicts;
/// while that entry is new, the next shorter one. Only targets that were used lately are predicted. 27 KB in hardware:
/// 1,024 last targets, 5 × 384 entries and 512 sets of 4 targets. On a Zen 5 (2026-11-30) a call of 1,000 functions in
/// turn mispredicts 2 % of them (modelled 0 %), of 2,000 functions 64 % (20 to 50 %), and an interpreter of 16 kinds of
/// operations 11 and 36 % in a sequence of 1,000 and 2,000 (1 and 37 %). Addresses are the low 32 bits. The initial
/// state is all zero.
class IndirectTargets {
 public:
  static constexpr unsigned tables = 5;
  static constexpr unsigned size = 384;  ///< entries of a table
  static constexpr unsigned last_bits = 10;
  static constexpr unsigned set_bits = 9, ways = 4;  ///< of targets
  static constexpr unsigned tag_bits = 11;
  static constexpr unsigned most_targets = 8;  ///< in the longest context

  /// Updates the tables with an indirect branch from `pc` to `target`. Returns whether the prediction was right.
  /// `where`, `tags`: of the branch in the tables of TAGE (tage.hpp), in its order, and `tag_shift` bits below each
  /// tag.
  bool predict(std::uint32_t pc, std::uint32_t target, const Lanes16& where, const Lanes16& tags, unsigned tag_shift) {
    Entry* candidates[tables];
    std::uint16_t tag[tables];
    std::uint16_t path[most_targets + 1] = {};
    for (unsigned i = 0; i < most_targets; ++i)
      path[i + 1] = path[i] ^ std::rotl(static_cast<std::uint16_t>(targets_ >> 16 * i), static_cast<int>(3 * i % 16));
    unsigned provider = none, shorter = none;
    for (unsigned i = 0; i < tables; ++i) {
      const Context& context = contexts[i];
      const std::uint32_t before = path[context.targets];
      candidates[i] = &entries_[i][(where.lane[context.lane] ^ before) % size];
      tag[i] = static_cast<std::uint16_t>(tags.lane[context.lane] >> tag_shift ^ before >> (16 - tag_bits) ^
                                          spread(pc) >> (16 - tag_bits));
      tag[i] %= 1u << tag_bits;
      if (candidates[i]->target == 0 || candidates[i]->tag != tag[i]) continue;
      shorter = provider;
      provider = i;
    }
    std::uint32_t& last = last_[(pc ^ pc >> last_bits ^ pc >> 2 * last_bits) % (1u << last_bits)];
    const std::uint32_t alternative = shorter != none ? candidates[shorter]->target : last;
    const std::uint32_t longest = provider != none ? candidates[provider]->target : last;
    const bool is_new = provider != none && candidates[provider]->confidence == 0;
    const bool right = uses_again(target) && (is_new ? alternative : longest) == target;
    if (provider != none) train(*candidates[provider], target, alternative);
    if (!right && longest != target) allocate(candidates, tag, provider + 1, target);
    last = target;
    targets_ = targets_ << 16 | spread(target);
    return right;
  }

 private:
  static constexpr unsigned none = ~0u;
  /// Entries age after this surplus of failed over successful allocations.
  static constexpr std::uint32_t failures_to_age = 512;

  struct Entry {
    std::uint32_t target;
    std::uint16_t tag;
    std::uint8_t confidence;  ///< 0 … 3; 0: new
    std::uint8_t useful;      ///< it was right when a shorter context was wrong
  };
  /// What a table's entries depend on in addition to the address: the last targets, and the history of a lane of TAGE.
  /// Lane 7, of the base table, has none.
  struct Context {
    std::uint8_t targets, lane;
  };
  static constexpr Context contexts[tables] = {{1, 7}, {2, 7}, {3, 5}, {4, 3}, {most_targets, 1}};

  /// Returns 16 bits that depend on all bits of an address.
  static constexpr std::uint16_t spread(std::uint32_t address) {
    return static_cast<std::uint16_t>(address * 0x9e37'79b1u >> 16);
  }

  static void train(Entry& entry, std::uint32_t target, std::uint32_t alternative) {
    if (entry.target == target) {
      entry.useful |= alternative != target ? 1 : 0;
      entry.confidence = static_cast<std::uint8_t>(entry.confidence + (entry.confidence < 3 ? 1 : 0));
    } else if (entry.confidence != 0) {
      --entry.confidence;
    } else {
      entry.target = target;
      entry.useful = 0;
    }
  }

  /// Returns whether a target is among the latest of its set, of which it is now the first.
  bool uses_again(std::uint32_t target) {
    auto& set = used_[target * 0x9e37'79b1u >> (32 - set_bits)];
    unsigned i = 0;
    while (i + 1 < ways && set[i] != target) ++i;
    const bool is_used = set[i] == target;
    for (; i > 0; --i) set[i] = set[i - 1];
    set[0] = target;
    return is_used;
  }

  /// Replaces an entry that is not useful, in the first table from `table` on that has one. Every second time a table
  /// is skipped: otherwise two contexts could always replace each other's entry before it is useful.
  void allocate(Entry* const* candidates, const std::uint16_t* tag, unsigned table, std::uint32_t target) {
    random_ = random_ * 5 + 1;
    for (std::uint32_t skips = random_ >> 28; skips % 2 != 0 && table + 1 < tables; skips /= 2) ++table;
    for (; table < tables; ++table) {
      if (candidates[table]->useful != 0) continue;
      *candidates[table] = {.target = target, .tag = tag[table], .confidence = 0, .useful = 0};
      failures_ -= failures_ > 0 ? 1 : 0;
      return;
    }
    if (++failures_ < failures_to_age) return;
    failures_ = 0;
    for (auto& entries : entries_)
      for (Entry& entry : entries) entry.useful = 0;
  }

  Entry entries_[tables][size] = {};
  std::uint32_t last_[1u << last_bits] = {};
  std::uint32_t used_[1u << set_bits][ways] = {};  ///< targets, the latest first
  unsigned __int128 targets_ = 0;                  ///< 16 bits of each of the last targets, the latest in the low bits
  std::uint32_t failures_ = 0, random_ = 0;
};

}  // namespace tally::models
