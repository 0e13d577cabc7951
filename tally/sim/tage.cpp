#include "tally/sim/tage.hpp"

#include <bit>

namespace tally::sim {

namespace {

constexpr std::uint32_t index_mask = (1u << Tage::index_bits) - 1;
constexpr std::uint32_t tag_mask = (1u << Tage::tag_bits) - 1;
// Aging after so many more failed than successful allocations: a table's worth of entries, twice.
constexpr std::uint32_t failures_to_age = 1024;

}  // namespace

void Tage::reset() {
  for (auto& table : entries_)
    for (Entry& entry : table) entry = Entry{};
  for (Counter2& counter : base_) counter = 1;
  for (unsigned i = 0; i < tables; ++i) index_[i] = tag_[i] = tag2_[i] = Folded{};
  history_ = 0;
  random_ = 1;
  failures_ = 0;
  trust_fresh_ = 0;
}

void Tage::Folded::shift(unsigned length, unsigned bits, bool in, bool out) {
  value = value << 1 | static_cast<std::uint32_t>(in);
  value ^= static_cast<std::uint32_t>(out) << length % bits;
  value ^= value >> bits;
  value &= (1u << bits) - 1;
}

bool Tage::says(int table, const Lookup& lookup, std::uint32_t hash) const {
  return table < 0 ? predicts_taken(base_[hash % base_entries]) : entries_[table][lookup.index[table]].counter >= 0;
}

Tage::Lookup Tage::look_up(std::uint32_t hash) const {
  Lookup lookup;
  for (unsigned i = 0; i < tables; ++i) {
    lookup.index[i] = static_cast<std::uint16_t>((hash ^ hash >> (index_bits - i) ^ index_[i].value) & index_mask);
    lookup.tag[i] = static_cast<std::uint16_t>((hash ^ tag_[i].value ^ tag2_[i].value << 1) & tag_mask);
  }
  // A tag of 0 in an unused entry is harmless: such an entry says what a fresh one says, and is replaced first.
  std::uint32_t matches = 0;
  for (unsigned i = 0; i < tables; ++i)
    matches |= static_cast<std::uint32_t>(entries_[i][lookup.index[i]].tag == lookup.tag[i]) << i;
  lookup.provider = static_cast<int>(std::bit_width(matches)) - 1;
  if (matches != 0) lookup.alternate = static_cast<int>(std::bit_width(matches & ~(1u << lookup.provider))) - 1;
  lookup.alternative = says(lookup.alternate, lookup, hash);
  lookup.provided = says(lookup.provider, lookup, hash);
  if (lookup.provider >= 0) {
    const Entry& entry = entries_[lookup.provider][lookup.index[lookup.provider]];
    lookup.fresh = entry.useful == 0 && (entry.counter == 0 || entry.counter == -1);
  }
  lookup.prediction = lookup.fresh && trust_fresh_ >= 0 ? lookup.alternative : lookup.provided;
  return lookup;
}

void Tage::allocate(const Lookup& lookup, bool taken) {
  int first = lookup.provider + 1;
  // A linear-feedback shift register: every other time the next longer history is passed over, so that branches which
  // need long ones reach them.
  random_ = random_ >> 1 ^ (random_ & 1 ? 0xd0000001u : 0u);
  if ((random_ & 1) != 0 && first + 1 < static_cast<int>(tables)) ++first;
  for (int i = first; i < static_cast<int>(tables); ++i) {
    Entry& entry = entries_[i][lookup.index[i]];
    if (entry.useful != 0) continue;
    entry = {.tag = lookup.tag[i], .counter = static_cast<std::int8_t>(taken ? 0 : -1), .useful = 0};
    if (failures_ > 0) --failures_;
    return;
  }
  if (++failures_ < failures_to_age) return;
  failures_ = 0;
  for (auto& table : entries_)
    for (Entry& entry : table) entry.useful = static_cast<std::uint8_t>(entry.useful >> 1);
}

void Tage::train(const Lookup& lookup, std::uint32_t hash, bool taken) {
  if (lookup.provider < 0) {
    Counter2& counter = base_[hash % base_entries];
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

void Tage::remember(bool taken) {
  for (unsigned i = 0; i < tables; ++i) {
    const bool out = (history_ >> (history_lengths[i] - 1) & 1) != 0;
    index_[i].shift(history_lengths[i], index_bits, taken, out);
    tag_[i].shift(history_lengths[i], tag_bits, taken, out);
    tag2_[i].shift(history_lengths[i], tag_bits - 1, taken, out);
  }
  history_ = history_ << 1 | static_cast<unsigned>(taken);
}

bool Tage::predict(std::uint64_t pc, bool taken) {
  const std::uint32_t one = word(pc, taken);
  return play(&one, 1) == 0;
}

std::uint64_t Tage::play(const std::uint32_t* words, std::uint32_t n) {
  std::uint64_t wrong = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint32_t hash = words[i] >> 1;
    const bool taken = (words[i] & 1) != 0;
    const Lookup lookup = look_up(hash);
    const bool right = lookup.prediction == taken;
    wrong += static_cast<std::uint64_t>(!right);
    if (!right && lookup.provider + 1 < static_cast<int>(tables)) allocate(lookup, taken);
    train(lookup, hash, taken);
    remember(taken);
  }
  return wrong;
}

}  // namespace tally::sim
