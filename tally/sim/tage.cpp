#include "tally/sim/tage.hpp"

#include <array>
#include <bit>

#include "tally/sim/counter2.hpp"

namespace tally::sim {

namespace {

// Aging after so many more failed than successful allocations: a table's worth of entries, twice.
constexpr std::uint32_t failures_to_age = 1024;

// The state of an entry with a tag: how often it was right where the next shorter history was wrong (useful, 0 … 3),
// above a counter (0 … 7, taken from 4 on). The base table's counters of two bits are states too, with a mark of their
// own, so that whoever predicts is treated alike.
constexpr unsigned state_bits = 5;
constexpr unsigned weakly_not = 3, weakly_taken = 4;  // of a fresh entry
constexpr unsigned taken_bit = 4;
constexpr unsigned useful_one = 8, useful_bits = 3 * useful_one;
constexpr unsigned base_mark = 1u << state_bits;
constexpr unsigned states = 2 * base_mark;

constexpr bool is_fresh(unsigned state) { return state == weakly_not || state == weakly_taken; }
constexpr unsigned base_state(Counter2 counter) { return base_mark | static_cast<unsigned>(counter) << 1; }
constexpr Counter2 base_counter(unsigned state) { return static_cast<Counter2>(state >> 1 & 3); }

// A prediction and its outcome: all that decides how the state changes.
constexpr unsigned taken_key = states, alternative_key = 2 * states, trusted_key = 4 * states, keys = 8 * states;

struct Step {
  std::uint8_t state = 0;  // of the entry afterwards
  bool stays = false;      // nothing changes at all
  bool wrong = false;
  std::int8_t trust = 0;  // to trust_fresh_
};

constexpr Step tagged_step(unsigned state, bool taken, bool alternative) {
  unsigned useful = state / useful_one, counter = state % useful_one;
  int trust = 0;
  const bool said = (state & taken_bit) != 0;
  if (said != alternative) {
    const bool right = said == taken;
    if (is_fresh(state)) trust = right ? -1 : 1;
    if (right && useful < 3) ++useful;
    if (!right && useful > 0) --useful;
  }
  if (taken && counter < 7) ++counter;
  if (!taken && counter > 0) --counter;
  return {.state = static_cast<std::uint8_t>(useful * useful_one + counter), .trust = static_cast<std::int8_t>(trust)};
}

constexpr Step step_of(unsigned key) {
  const unsigned state = key % states;
  const bool taken = (key & taken_key) != 0, alternative = (key & alternative_key) != 0;
  Step step = state < base_mark
                  ? tagged_step(state, taken, alternative)
                  : Step{.state = static_cast<std::uint8_t>(base_state(trained(base_counter(state), taken)))};
  const bool said = (state & taken_bit) != 0;
  step.wrong = (is_fresh(state) && (key & trusted_key) == 0 ? alternative : said) != taken;
  step.stays = step.state == state;
  return step;
}

constexpr auto steps = [] {
  std::array<Step, keys> table{};
  for (unsigned key = 0; key < keys; ++key) table[key] = step_of(key);
  return table;
}();

// play() leaves everything as it is where the state stays: then nothing else may change.
constexpr bool only_states_change() {
  for (const Step& step : steps)
    if (step.stays && (step.wrong || step.trust != 0)) return false;
  return true;
}
static_assert(only_states_change());

constexpr unsigned base_lane = Tage::tables;
constexpr unsigned table_of(unsigned lane) { return Tage::tables - 1 - lane; }

// `value(table)` in the lane of each table, `base` in that of the base table.
template <class Value>
constexpr Lanes16 lanes_of(Value value, unsigned base) {
  Lanes16 lanes;
  for (unsigned lane = 0; lane < base_lane; ++lane)
    lanes.lane[lane] = static_cast<std::uint16_t>(value(table_of(lane)));
  lanes.lane[base_lane] = static_cast<std::uint16_t>(base);
  return lanes;
}
constexpr Lanes16 all_of(unsigned value) {
  return lanes_of([&](unsigned) { return value; }, value);
}

// The lanes of who predicts, and of who would if that one had no entry, by the tables whose tags are right, a bit each.
struct Providers {
  std::uint8_t first = 0, second = 0;
};
constexpr auto providers = [] {
  std::array<Providers, 1u << (base_lane + 1)> table{};
  for (unsigned matches = 0; matches < table.size(); ++matches) {
    const unsigned first = matches | 1u << base_lane, second = (first & (first - 1)) | 1u << base_lane;
    table[matches] = {.first = static_cast<std::uint8_t>(std::countr_zero(first)),
                      .second = static_cast<std::uint8_t>(std::countr_zero(second))};
  }
  return table;
}();

constexpr Lanes16 youngest = lanes_of([](unsigned) { return 1u; }, 0);
constexpr Lanes16 tags = lanes_of([](unsigned) { return 0xffffu << state_bits; }, 0);
constexpr Lanes16 useful_lanes = all_of(useful_bits);
constexpr Lanes16 index_masks = lanes_of([](unsigned) { return (1u << Tage::index_bits) - 1; }, Tage::base_entries - 1);

// A history is a polynomial over two elements, the youngest outcome its constant, and its hash the rest that a
// primitive one leaves of it: x^16 + x^15 + x^14 + x^13 + x^12 + x^11 + x^10 + x^7 + x^6 + x^3 + 1. So two histories
// that differ in few outcomes differ in their hashes, whatever their period; folded by exclusive or, those of some
// periods cancel out. A divisor with few and low powers is no good: with x^5 + x^3 + x^2 + 1 behind x^16 noise drove
// out eighteen times as many patterns (tage_test.cpp).
constexpr unsigned divisor = 0xfcc9;

constexpr unsigned power_of_x(unsigned exponent) {
  unsigned power = 1;
  for (; exponent != 0; --exponent) power = (power << 1 & 0xffff) ^ (power >> 15) * divisor;
  return power;
}

constexpr Lanes16 divisors = lanes_of([](unsigned) { return divisor; }, 0);
// What an outcome is worth that leaves a history.
constexpr Lanes16 leaving_ones = lanes_of([](unsigned table) { return power_of_x(Tage::history_lengths[table]); }, 0);

// As many outcomes as a lane holds: play() looks so far ahead.
constexpr std::uint32_t stretch = 16;

// Of a word: what was the outcome, the branch's number, and of that more for an index.
constexpr unsigned outcome_bit = 0, number_bit = 1, upper_bit = number_bit + Tage::index_bits;

}  // namespace

void Tage::reset() {
  for (unsigned i = 0; i < tagged_entries; ++i) entries_[i] = weakly_taken;
  for (unsigned i = tagged_entries; i < std::size(entries_); ++i) entries_[i] = base_state(1);
  hash_ = Lanes16{};
  history_ = 0;
  random_ = 1;
  failures_ = 0;
  trust_fresh_ = 0;
}

// Outcomes that leave each history while the next `n` come, the first in the top bit of its lane.
Lanes16 Tage::pass(const std::uint32_t* words, std::uint32_t n) {
  std::uint32_t outcomes = 0, i = 0;
  for (; i + 4 <= n; i += 4) outcomes = outcomes << 4 | low_bits_of_four(words + i);
  for (; i < n; ++i) outcomes = outcomes << 1 | (words[i] & 1);
  const std::uint64_t recent = static_cast<std::uint64_t>(history_) << stretch | outcomes << (stretch - n);
  std::uint64_t leaving[2] = {};
#pragma GCC unroll 8
  for (unsigned lane = 0; lane < base_lane; ++lane) {
    const unsigned length = history_lengths[table_of(lane)];
    const auto bits = length < stretch ? recent >> length : static_cast<std::uint64_t>(history_ >> (length - stretch));
    leaving[lane / 4] |= (bits & 0xffff) << lane % 4 * 16;
  }
  history_ = history_ << n | outcomes;
  Lanes16 result;
  Lanes(leaving[0], leaving[1]).store(result);
  return result;
}

// Where the next `n` branches are looked for: that goes by outcomes, and by no prediction.
void Tage::place(const std::uint32_t* words, std::uint32_t n, Place* places) {
  Lanes hash(hash_), leaving(pass(words, n));
  // `word` and `index` have the low 16 bits of what their names say in all lanes.
  const auto next = [&](Place& at, Lanes word, Lanes index) {
    ((index ^ hash) & Lanes(index_masks)).store(at.where);
    ((word.left<state_bits - number_bit>() ^ hash) & Lanes(tags)).store(at.wanted);
    const Lanes change = (word & Lanes(youngest)) ^ (leaving.signs() & Lanes(leaving_ones));
    leaving = leaving.doubled();
    hash = (hash.doubled() ^ change) ^ (hash.signs() & Lanes(divisors));
  };
  std::uint32_t i = 0;
  for (; i + 4 <= n; i += 4) {
    Lanes word[4], index[4];
    Lanes::spread<outcome_bit>(words + i, word);
    Lanes::spread<number_bit, upper_bit>(words + i, index);
    for (unsigned j = 0; j < 4; ++j) next(places[i + j], word[j], index[j]);
  }
  for (; i < n; ++i)
    next(places[i], Lanes::spread(words[i]), Lanes::spread(words[i] >> number_bit ^ words[i] >> upper_bit));
  hash.store(hash_);
}

// An entry of a longer history than the provider's, among those that are free; false where entries were aged instead.
bool Tage::allocate(const Place& place, unsigned provider, unsigned free, bool taken) {
  // A linear-feedback shift register: every other time the next longer history is passed over, so that branches which
  // need long ones reach them.
  random_ = random_ >> 1 ^ (0xd0000001u & -(random_ & 1));
  const unsigned passed = random_ & static_cast<unsigned>(provider > 1);
  const unsigned choice = free & ((1u << (provider - passed)) - 1);
  if (choice != 0) {
    const auto lane = static_cast<unsigned>(std::bit_width(choice)) - 1;
    entry(place, lane) = static_cast<Entry>(place.wanted.lane[lane] | (weakly_not + taken));
    failures_ -= failures_ > 0;
    return true;
  }
  if (++failures_ < failures_to_age) return true;
  failures_ = 0;
  for (unsigned i = 0; i < tagged_entries; ++i)
    entries_[i] = static_cast<Entry>((entries_[i] & ~useful_bits) | ((entries_[i] & useful_bits) >> 1 & useful_bits));
  return false;
}

// What follows from a prediction that does not leave everything as it is; `free` are the lanes of entries never useful.
void Tage::learn(const Place& place, unsigned provider, unsigned free, unsigned key) {
  const Step& step = steps[key];
  Entry& found = entry(place, provider);
  const unsigned wanted = place.wanted.lane[provider];
  unsigned state = step.state;
  if (step.wrong && provider != 0 && !allocate(place, provider, free, (key & taken_key) != 0))
    state = steps[key - key % states + (found ^ wanted)].state;
  found = static_cast<Entry>(wanted | state);
  const int trust = trust_fresh_ + step.trust;
  if (trust >= -8 && trust <= 7) trust_fresh_ = trust;
}

// Predicts branches and learns from them; how many were predicted wrongly.
std::uint32_t Tage::settle(const std::uint32_t* words, std::uint32_t n, const Place* places) {
  std::uint32_t wrong = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    const Place& place = places[i];
    const Lanes wanted(place.wanted), entries = Lanes::picked<1u << index_bits>(entries_, place.where);
    // A state where the tag is right.
    const Lanes difference = entries ^ wanted;
    Lanes16 found;
    difference.store(found);
    const Providers& by = providers[difference.right<state_bits>().zeroes()];
    const unsigned key = found.lane[by.first] + (found.lane[by.second] & taken_bit) * (alternative_key / taken_bit) +
                         (words[i] & 1) * taken_key + (trust_fresh_ < 0 ? trusted_key : 0);
    // As it mostly is. To store what is there already would have the next branches wait for it.
    if (steps[key].stays) continue;
    wrong += static_cast<std::uint32_t>(steps[key].wrong);
    const unsigned free = steps[key].wrong ? (entries & Lanes(useful_lanes)).zeroes() : 0;
    learn(place, by.first, free, key);
  }
  return wrong;
}

bool Tage::predict(std::uint64_t pc, bool taken) {
  const std::uint32_t one = outcome_of(pc, taken);
  return play(&one, 1) == 0;
}

std::uint64_t Tage::play(const std::uint32_t* words, std::uint32_t n) {
  std::uint64_t wrong = 0;
  Place places[stretch];
  while (n != 0) {
    const std::uint32_t some = n < stretch ? n : stretch;
    place(words, some, places);
    wrong += settle(words, some, places);
    words += some;
    n -= some;
  }
  return wrong;
}

}  // namespace tally::sim
