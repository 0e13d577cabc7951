// A reference implementation of TAGE as in the paper, one table after the other, for comparison with models::Tage.
#pragma once

#include <bit>
#include <cstdint>

#include "tally/engine/models/branch/counter2.hpp"
#include "tally/engine/models/branch/tage.hpp"

namespace tally::models::testing {

class PlainTage {
 public:
  PlainTage() {
    for (Counter2& counter : base_) counter = 1;
  }

  /// Returns whether the prediction was right.
  bool predict(std::uint32_t word) {
    const std::uint32_t number = word >> 1;
    const bool taken = (word & 1) != 0;
    const Lookup lookup = find_matches(number);
    const bool right = lookup.prediction == taken;
    if (!right && lookup.provider + 1 < static_cast<int>(Tage::tables)) allocate(lookup, taken);
    train(lookup, number, taken);
    remember(taken);
    return right;
  }
  /// How often all useful counters were halved for lack of an entry.
  int agings() const { return agings_; }

 private:
  static constexpr std::uint32_t index_mask = (1u << Tage::index_bits) - 1;
  static constexpr std::uint32_t tag_mask = (1u << Tage::tag_bits) - 1;
  static constexpr std::uint32_t failures_to_age = 2u << Tage::index_bits;

  struct Entry {
    std::uint16_t tag = 0;
    int counter = 0;  // −4 … 3; taken from 0 on
    int useful = 0;   // 0 … 3
  };
  // The remainder of the latest `length` outcomes, the latest in bit 0, divided without carries by x^16 + x^5 + x^3 +
  // x^2 + 1.
  static std::uint32_t hash_of(unsigned __int128 history, unsigned length) {
    std::uint32_t rest = 0;
    for (unsigned i = length; i-- > 0;) {
      rest = rest << 1 | static_cast<std::uint32_t>(history >> i & 1);
      if ((rest & 0x10000) != 0) rest ^= 0x1fcc9;
    }
    return rest;
  }
  struct Lookup {
    std::uint32_t index[Tage::tables] = {};
    std::uint16_t tag[Tage::tables] = {};
    int provider = -1;   // the table that predicts, −1 for the bimodal one
    int alternate = -1;  // the table that would predict without the provider's entry
    bool provided = false, alternative = false;
    bool fresh = false;  // the provider's entry is new: weak, and never useful yet
    bool prediction = false;
  };

  bool predicts(int table, const Lookup& lookup, std::uint32_t number) const {
    return table < 0 ? predicts_taken(base_[(number ^ number >> Tage::index_bits) % Tage::base_entries])
                     : entries_[table][lookup.index[table]].counter >= 0;
  }

  Lookup find_matches(std::uint32_t number) const {
    Lookup lookup;
    for (unsigned i = 0; i < Tage::tables; ++i) {
      const std::uint32_t rest = hash_of(history_, Tage::history_lengths[i]);
      const std::uint32_t shorter = i == 0 ? 0 : hash_of(history_, Tage::history_lengths[i - 1]);
      lookup.index[i] = (number ^ number >> Tage::index_bits ^ rest) & index_mask;
      lookup.tag[i] = static_cast<std::uint16_t>((number ^ (rest ^ shorter) >> (16 - Tage::tag_bits)) & tag_mask);
      if (entries_[i][lookup.index[i]].tag != lookup.tag[i]) continue;
      lookup.alternate = lookup.provider;
      lookup.provider = static_cast<int>(i);
    }
    lookup.alternative = predicts(lookup.alternate, lookup, number);
    lookup.provided = predicts(lookup.provider, lookup, number);
    if (lookup.provider >= 0) {
      const Entry& entry = entries_[lookup.provider][lookup.index[lookup.provider]];
      lookup.fresh = entry.useful == 0 && (entry.counter == 0 || entry.counter == -1);
    }
    lookup.prediction = lookup.fresh && trust_fresh_ >= 0 ? lookup.alternative : lookup.provided;
    return lookup;
  }

  void allocate(const Lookup& lookup, bool taken) {
    int first = lookup.provider + 1;
    random_ = random_ >> 1 ^ (random_ & 1 ? 0xd0000001u : 0u);
    if ((random_ & 1) != 0 && first + 1 < static_cast<int>(Tage::tables)) ++first;
    for (int i = first; i < static_cast<int>(Tage::tables); ++i) {
      Entry& entry = entries_[i][lookup.index[i]];
      if (entry.useful != 0) continue;
      entry = {.tag = lookup.tag[i], .counter = taken ? 0 : -1, .useful = 0};
      if (failures_ > 0) --failures_;
      return;
    }
    if (++failures_ < failures_to_age) return;
    failures_ = 0;
    ++agings_;
    for (auto& table : entries_)
      for (Entry& entry : table) entry.useful /= 2;
  }

  void train(const Lookup& lookup, std::uint32_t number, bool taken) {
    if (lookup.provider < 0) {
      Counter2& counter = base_[(number ^ number >> Tage::index_bits) % Tage::base_entries];
      counter = trained(counter, taken);
      return;
    }
    Entry& entry = entries_[lookup.provider][lookup.index[lookup.provider]];
    if (lookup.provided != lookup.alternative) {
      const bool right = lookup.provided == taken;
      if (lookup.fresh && right && trust_fresh_ > -8) --trust_fresh_;
      if (lookup.fresh && !right && trust_fresh_ < 7) ++trust_fresh_;
      if (right && entry.useful < 3) ++entry.useful;
      if (!right && entry.useful > 0) --entry.useful;
    }
    if (taken && entry.counter < 3) ++entry.counter;
    if (!taken && entry.counter > -4) --entry.counter;
  }

  void remember(bool taken) { history_ = history_ << 1 | static_cast<unsigned>(taken); }

  Entry entries_[Tage::tables][1u << Tage::index_bits];
  Counter2 base_[Tage::base_entries];
  unsigned __int128 history_ = 0;
  std::uint32_t random_ = 1, failures_ = 0;
  int trust_fresh_ = 0, agings_ = 0;
};

}  // namespace tally::models::testing
