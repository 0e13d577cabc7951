#include "tally/engine/models/branch/tage.hpp"

#include <array>
#include <bit>

#include "tally/engine/models/branch/counter2.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace tally::models {

namespace {

// Entries age after this surplus of failed over successful allocations: twice the entries of one table.
constexpr std::uint32_t failures_to_age = 2u << Tage::index_bits;

// The state of a tagged entry: how often it was right when the next shorter history was wrong (useful, 0 … 3), above a
// counter (0 … 7, taken from 4 on). The two-bit counters of the base table are states too, with a mark of their own,
// so that every provider is treated alike.
constexpr unsigned state_bits = 5;
constexpr unsigned weakly_not = 3, weakly_taken = 4;  // of a fresh entry
constexpr unsigned taken_bit = 4;
constexpr unsigned useful_one = 8, useful_bits = 3 * useful_one;
constexpr unsigned base_mark = 1u << state_bits;
constexpr unsigned states = 2 * base_mark;

constexpr bool is_fresh(unsigned state) { return state == weakly_not || state == weakly_taken; }
constexpr unsigned base_state(Counter2 counter) { return base_mark | static_cast<unsigned>(counter) << 1; }
constexpr Counter2 base_counter(unsigned state) { return static_cast<Counter2>(state >> 1 & 3); }

// A prediction and its outcome: the key that determines how the state changes.
constexpr unsigned taken_key = states, alternative_key = 2 * states, trusted_key = 4 * states, keys = 8 * states;

struct Step {
  std::uint8_t state = 0;  // of the entry afterwards
  bool stays = false;      // nothing changes
  bool wrong = false;
  std::int8_t trust = 0;  // change of trust_fresh_
};

constexpr Step tagged_step(unsigned state, bool taken, bool alternative) {
  unsigned useful = state / useful_one, counter = state % useful_one;
  int trust = 0;
  const bool predicted = (state & taken_bit) != 0;
  if (predicted != alternative) {
    const bool right = predicted == taken;
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
  const bool predicted = (state & taken_bit) != 0;
  step.wrong = (is_fresh(state) && (key & trusted_key) == 0 ? alternative : predicted) != taken;
  step.stays = step.state == state;
  return step;
}

constexpr auto steps = [] {
  std::array<Step, keys> table{};
  for (unsigned key = 0; key < keys; ++key) table[key] = step_of(key);
  return table;
}();

// settle() skips all updates if the state stays: so nothing else may change then, whatever trust_fresh_ is.
constexpr bool only_states_change() {
  for (unsigned key = 0; key < keys; ++key) {
    const Step& step = steps[key];
    if (step.stays != steps[key % trusted_key].stays || (step.stays && (step.wrong || step.trust != 0))) return false;
  }
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

// The lanes of the provider and of the alternate provider, indexed by the tables with a matching tag, one bit each.
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

// A history is a polynomial over GF(2) whose constant term is the latest outcome. Its hash is the remainder of a
// division by a primitive polynomial: x^16 + x^15 + x^14 + x^13 + x^12 + x^11 + x^10 + x^7 + x^6 + x^3 + 1. So
// histories that differ in few outcomes have different hashes, whatever their period; with folding by exclusive or,
// those of some periods cancel out. A divisor with few and low powers is worse: with x^5 + x^3 + x^2 + 1 after x^16,
// noise displaced eighteen times as many patterns (tage_test.cpp).
constexpr unsigned divisor = 0xfcc9;

constexpr unsigned power_of_x(unsigned exponent) {
  unsigned power = 1;
  for (; exponent != 0; --exponent) power = (power << 1 & 0xffff) ^ (power >> 15) * divisor;
  return power;
}

constexpr Lanes16 divisors = lanes_of([](unsigned) { return divisor; }, 0);
constexpr Lanes16 divisors_by_x = lanes_of([](unsigned) { return power_of_x(17); }, 0);
// The contribution of an outcome that leaves a history.
constexpr Lanes16 leaving_ones = lanes_of([](unsigned table) { return power_of_x(Tage::history_lengths[table]); }, 0);

// The number of outcomes that a lane holds.
constexpr std::uint32_t lane_bits = 16;

// Bits of a word: the outcome, the branch's number, and the upper bits of the number that are folded into an index.
constexpr unsigned outcome_bit = 0, number_bit = 1, upper_bit = number_bit + Tage::index_bits;

#if defined(__SSE2__)

#define TALLY_AVX2 __attribute__((target("avx2")))

constexpr int upper_half = 0xf0;

TALLY_AVX2 inline __m256i in_both(const Lanes16& lanes) {
  return _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(&lanes)));
}

TALLY_AVX2 inline __m256i times_x(__m256i hash) {
  const __m256i over = _mm256_and_si256(_mm256_srai_epi16(hash, 15), in_both(divisors));
  return _mm256_xor_si256(_mm256_add_epi16(hash, hash), over);
}

// Advances the hash by two branches: four dependent operations, where two calls of times_x() would have six.
TALLY_AVX2 inline __m256i times_x_squared(__m256i hash, __m256i changes) {
  const __m256i twice = _mm256_add_epi16(hash, hash);
  const __m256i upper = _mm256_and_si256(_mm256_srai_epi16(hash, 15), in_both(divisors_by_x));
  const __m256i lower = _mm256_and_si256(_mm256_srai_epi16(twice, 15), in_both(divisors));
  const __m256i rest = _mm256_xor_si256(_mm256_slli_epi16(hash, 2), changes);
  return _mm256_xor_si256(_mm256_xor_si256(rest, upper), lower);
}

/// Two branches, each in half a register.
struct BranchPair {
  __m256i word, index;  ///< as in Tage::place()
  __m256i change;       ///< of the hashes by their outcomes
  __m256i leaving;      ///< outcomes that leave, in the top bits
};

TALLY_AVX2 inline BranchPair two_of(const std::uint32_t* words, __m256i leaving) {
  const __m256i low_of_each = _mm256_setr_epi8(0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1,  //
                                               4, 5, 4, 5, 4, 5, 4, 5, 4, 5, 4, 5, 4, 5, 4, 5);
  const __m256i both = _mm256_broadcastq_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(words)));
  const __m256i numbers = _mm256_xor_si256(_mm256_srli_epi32(both, number_bit), _mm256_srli_epi32(both, upper_bit));
  BranchPair pair;
  pair.word = _mm256_shuffle_epi8(both, low_of_each);
  pair.index = _mm256_shuffle_epi8(numbers, low_of_each);
  pair.leaving = leaving;
  const __m256i leave = _mm256_and_si256(_mm256_srai_epi16(leaving, 15), in_both(leaving_ones));
  pair.change = _mm256_xor_si256(_mm256_and_si256(pair.word, in_both(youngest)), leave);
  return pair;
}

TALLY_AVX2 inline BranchPair first_two(const std::uint32_t* words, const Lanes16& leaving) {
  const __m256i first = in_both(leaving);
  return two_of(words, _mm256_blend_epi32(first, _mm256_add_epi16(first, first), upper_half));
}

bool has_avx2() {
  static const bool has = __builtin_cpu_supports("avx2") != 0;
  return has;
}

#endif

// The outcomes that an indirect branch adds to the history, two bits.
constexpr Outcome outcomes_of(std::uint32_t target) { return target * 0x85eb'ca6bu >> 30; }

// Returns a bit for each word that is the first one of an indirect branch. `is_target`: the first word is the second
// one of another.
std::uint64_t indirect_in(const std::uint32_t* words, std::uint32_t n, bool is_target) {
  std::uint64_t marked = 0;  // a target may have that bit, too
  std::uint32_t i = 0;
  for (; i + 4 <= n; i += 4) marked |= std::uint64_t{top_bits_of_four(words + i)} << i;
  for (; i < n; ++i) marked |= std::uint64_t{words[i] >> 31} << i;
  if (is_target) marked &= ~std::uint64_t{1};
  for (std::uint64_t left = marked; left != 0;) {
    const std::uint64_t first = left & -left;
    marked &= ~(first << 1);
    left &= ~(first | first << 1);
  }
  return marked;
}

}  // namespace

void Tage::reset() {
  for (unsigned i = 0; i < tagged_entries; ++i) entries_[i] = weakly_taken;
  for (unsigned i = tagged_entries; i < std::size(entries_); ++i) entries_[i] = base_state(1);
  hash_ = Lanes16{};
  history_ = 0;
  random_ = 1;
  failures_ = 0;
  targets_ = IndirectTargets{};
  trust_fresh_ = 0;
}

// Returns the outcomes that leave each history while the next `n` (at most a lane's bits) arrive, the first one in the
// top bit of its lane.
Lanes16 Tage::pass(const std::uint32_t* words, std::uint32_t n) {
  std::uint32_t outcomes = 0, i = 0;
  for (; i + 4 <= n; i += 4) outcomes = outcomes << 4 | low_bits_of_four(words + i);
  for (; i < n; ++i) outcomes = outcomes << 1 | (words[i] & 1);
  const std::uint64_t recent = static_cast<std::uint64_t>(history_) << lane_bits | outcomes << (lane_bits - n);
  std::uint64_t leaving[2] = {};
#pragma GCC unroll 8
  for (unsigned lane = 0; lane < base_lane; ++lane) {
    const unsigned length = history_lengths[table_of(lane)];
    const auto bits =
        length < lane_bits ? recent >> length : static_cast<std::uint64_t>(history_ >> (length - lane_bits));
    leaving[lane / 4] |= (bits & 0xffff) << lane % 4 * 16;
  }
  history_ = history_ << n | outcomes;
  Lanes16 result;
  Lanes(leaving[0], leaving[1]).store(result);
  return result;
}

// Computes the indices and tags of the next `n` branches, at most a batch. They depend on outcomes only, not on
// predictions.
void Tage::place(const std::uint32_t* words, std::uint32_t n, Places& places) {
#if defined(__SSE2__)
  if (n == batch && has_avx2()) return locate_batch(words, places);
#endif
  Lanes hash(hash_), leaving;
  // `word` and `index` have the low 16 bits of those values in all lanes.
  const auto next = [&](std::uint32_t at, Lanes word, Lanes index) {
    ((index ^ hash) & Lanes(index_masks)).store(places.where[at]);
    ((word.left<state_bits - number_bit>() ^ hash ^ hash.from_next()) & Lanes(tags)).store(places.wanted[at]);
    const Lanes change = (word & Lanes(youngest)) ^ (leaving.signs() & Lanes(leaving_ones));
    leaving = leaving.doubled();
    hash = (hash.doubled() ^ change) ^ (hash.signs() & Lanes(divisors));
  };
  for (std::uint32_t begin = 0; begin < n; begin += lane_bits) {
    const std::uint32_t end = n - begin < lane_bits ? n : begin + lane_bits;
    leaving = Lanes(pass(words + begin, end - begin));
    std::uint32_t i = begin;
    for (; i + 4 <= end; i += 4) {
      Lanes word[4], index[4];
      Lanes::spread<outcome_bit>(words + i, word);
      Lanes::spread<number_bit, upper_bit>(words + i, index);
      for (unsigned j = 0; j < 4; ++j) next(i + j, word[j], index[j]);
    }
    for (; i < end; ++i)
      next(i, Lanes::spread(words[i]), Lanes::spread(words[i] >> number_bit ^ words[i] >> upper_bit));
  }
  hash.store(hash_);
}

#if defined(__SSE2__)

// The same for a whole batch, two branches at a time. It takes six tenths of the time, because all operations from one
// hash to the next depend on each other.
TALLY_AVX2 void Tage::locate_batch(const std::uint32_t* words, Places& places) {
  Lanes16 leaving_of[batch / lane_bits];
  for (std::uint32_t i = 0; i < batch; i += lane_bits) leaving_of[i / lane_bits] = pass(words + i, lane_bits);
  BranchPair pair = first_two(words, leaving_of[0]);
  const __m256i before = in_both(hash_);
  __m256i hash = _mm256_blend_epi32(
      before, _mm256_xor_si256(times_x(before), _mm256_permute2x128_si256(pair.change, pair.change, 0x00)), upper_half);
  for (std::uint32_t i = 0; i < batch; i += 2) {
    const __m256i where = _mm256_and_si256(_mm256_xor_si256(pair.index, hash), in_both(index_masks));
    const __m256i number = _mm256_slli_epi16(pair.word, state_bits - number_bit);
    const __m256i tag = _mm256_xor_si256(_mm256_xor_si256(number, hash), _mm256_srli_si256(hash, 2));
    const __m256i wanted = _mm256_and_si256(tag, in_both(tags));
    _mm256_store_si256(reinterpret_cast<__m256i*>(places.where + i), where);
    _mm256_store_si256(reinterpret_cast<__m256i*>(places.wanted + i), wanted);
    const __m256i change = pair.change;
    const std::uint32_t next = i + 2;
    pair = next == batch           ? BranchPair{}
           : next % lane_bits == 0 ? first_two(words + next, leaving_of[next / lane_bits])
                                   : two_of(words + next, _mm256_slli_epi16(pair.leaving, 2));
    const __m256i change_of_second = _mm256_permute2x128_si256(change, pair.change, 0x21);
    const __m256i changes = _mm256_xor_si256(times_x(change), change_of_second);
    hash = times_x_squared(hash, changes);
  }
  _mm_store_si128(reinterpret_cast<__m128i*>(&hash_), _mm256_castsi256_si128(hash));
}

#endif

// Allocates a free entry in a table of a longer history than the provider's. Returns false if it aged the entries
// instead.
bool Tage::allocate(const Lanes16& where, const Lanes16& wanted, unsigned provider, unsigned free, bool taken) {
  // A linear-feedback shift register: every second time the next longer history is skipped, so that branches that need
  // long histories reach them.
  random_ = random_ >> 1 ^ (0xd0000001u & -(random_ & 1));
  const unsigned passed = random_ & static_cast<unsigned>(provider > 1);
  const unsigned choice = free & ((1u << (provider - passed)) - 1);
  if (choice != 0) {
    const auto lane = static_cast<unsigned>(std::bit_width(choice)) - 1;
    entry(where, lane) = static_cast<Entry>(wanted.lane[lane] | (weakly_not + taken));
    failures_ -= failures_ > 0;
    return true;
  }
  if (++failures_ < failures_to_age) return true;
  failures_ = 0;
  for (unsigned i = 0; i < tagged_entries; ++i)
    entries_[i] = static_cast<Entry>((entries_[i] & ~useful_bits) | ((entries_[i] & useful_bits) >> 1 & useful_bits));
  return false;
}

// Updates the predictor after a prediction that changes something. `free`: the lanes of entries that were never useful.
void Tage::learn(const Lanes16& where, const Lanes16& wanted, unsigned provider, unsigned free, unsigned key) {
  const Step& step = steps[key];
  Entry& found = entry(where, provider);
  const unsigned tag = wanted.lane[provider];
  unsigned state = step.state;
  if (step.wrong && provider != 0 && !allocate(where, wanted, provider, free, (key & taken_key) != 0))
    state = steps[key - key % states + (found ^ tag)].state;
  found = static_cast<Entry>(tag | state);
  const int trust = trust_fresh_ + step.trust;
  if (trust >= -8 && trust <= 7) trust_fresh_ = trust;
}

// Predicts conditional branches and updates the predictor. Returns the number of mispredictions, and writes their words
// if `list` is not null.
std::uint32_t Tage::settle(const std::uint32_t* words, std::uint32_t from, std::uint32_t to, const Places& places,
                           Outcome*& list) {
  std::uint32_t wrong = 0;
  for (std::uint32_t i = from; i < to; ++i) {
    const Lanes wanted(places.wanted[i]), entries = Lanes::picked<1u << index_bits>(entries_, places.where[i]);
    // Contains the entry's state if its tag matches.
    const Lanes difference = entries ^ wanted;
    Lanes16 found;
    difference.store(found);
    const Providers& by = providers[difference.right<state_bits>().zeroes()];
    unsigned key = found.lane[by.first] + (found.lane[by.second] & taken_bit) * (alternative_key / taken_bit) +
                   (words[i] & 1) * taken_key;
    // The common case. Storing the same value would make the next branches wait for the store.
    if (steps[key].stays) continue;
    key += trust_fresh_ < 0 ? trusted_key : 0;
    wrong += static_cast<std::uint32_t>(steps[key].wrong);
    if (list != nullptr && steps[key].wrong) *list++ = words[i];
    const unsigned free = steps[key].wrong ? (entries & Lanes(useful_lanes)).zeroes() : 0;
    learn(places.where[i], places.wanted[i], by.first, free, key);
  }
  return wrong;
}

bool Tage::predict(std::uint64_t pc, bool taken) {
  const Outcome outcome = outcome_of(pc, taken);
  return play(&outcome, 1).conditional == 0;
}

bool Tage::predict_target(std::uint64_t pc, std::uint64_t target) {
  const Outcome words[] = {indirect_outcome_of(pc), static_cast<Outcome>(target)};
  return play(words, 2).indirect == 0;
}

Mispredictions Tage::play(const std::uint32_t* words, std::uint32_t n, Outcome* list) {
  Mispredictions wrong;
  Places places;
  Outcome replaced[batch];
  bool is_target = false;  // the first word, of a branch in the batch before
  while (n != 0) {
    const std::uint32_t some = n < batch ? n : batch;
    const Outcome* outcomes = words;
    std::uint64_t indirect = indirect_in(words, some, is_target);
    if (indirect != 0 || is_target) {
      __builtin_memcpy(replaced, words, some * sizeof *words);
      outcomes = replaced;
      if (is_target) replaced[0] = outcomes_of(words[0]) & 1;
      for (std::uint64_t left = indirect; left != 0; left &= left - 1) {
        const auto i = static_cast<std::uint32_t>(std::countr_zero(left));
        const Outcome two = i + 1 < n ? outcomes_of(words[i + 1]) : 0;
        replaced[i] |= two >> 1;
        if (i + 1 < some) replaced[i + 1] = two & 1;
      }
    }
    place(outcomes, some, places);
    std::uint32_t next = is_target ? 1 : 0;
    for (; indirect != 0; indirect &= indirect - 1) {
      const auto i = static_cast<std::uint32_t>(std::countr_zero(indirect));
      wrong.conditional += settle(outcomes, next, i, places, list);
      const std::uint32_t target = i + 1 < n ? words[i + 1] : 0;
      if (!targets_.predict(address_of(words[i]), target, places.where[i], places.wanted[i], state_bits)) {
        ++wrong.indirect;
        if (list != nullptr) *list++ = words[i], *list++ = target;
      }
      next = i + 2;
    }
    wrong.conditional += settle(outcomes, next, some, places, list);
    is_target = next > some;
    words += some;
    n -= some;
  }
  return wrong;
}

}  // namespace tally::models
