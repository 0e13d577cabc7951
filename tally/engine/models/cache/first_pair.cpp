#include "tally/engine/models/cache/first_pair.hpp"

#include <bit>

namespace tally::models {

namespace {

// With `times`, a miss searches a set, which takes as long as eight lookups with vectors.
constexpr std::uint64_t too_many = 8, few_enough = 16;
constexpr std::uint64_t notes_by_times = 1 << 13;
constexpr std::uint64_t least_patience = 1 << 14, most_patience = 1 << 22;

// Writes the indices of the bytes that are 0, and returns their number.
std::uint32_t zeroes_in(const std::uint8_t* bytes, std::uint32_t n, std::uint32_t* places) {
  std::uint32_t count = 0, i = 0;
  for (; i + 8 <= n; i += 8) {
    std::uint64_t eight = 0;
    __builtin_memcpy(&eight, bytes + i, sizeof eight);
    constexpr std::uint64_t below_top = 0x7f7f'7f7f'7f7f'7f7f;
    std::uint64_t zero = ~(((eight & below_top) + below_top) | eight | below_top);
    for (; zero != 0; zero &= zero - 1) places[count++] = i + static_cast<std::uint32_t>(std::countr_zero(zero)) / 8;
  }
  for (; i < n; ++i) {
    places[count] = i;
    count += bytes[i] == 0 ? 1 : 0;
  }
  return count;
}

}  // namespace

FirstPair::FirstPair(const LevelTable& code, const LevelTable& data, std::uint64_t* times) {
  if (code.shape.sets != 0) code_ = Cache(code.shape, code.words);
  if (data.shape.sets != 0) data_ = Cache(data.shape, data.words);
  by_vectors_ = vector_levels(vector_levels_, code, data);
  has_times_ = times != nullptr && TimedSets::fits(code.shape, data.shape);
  if (has_times_) timed_ = TimedSets(code, data, times);
}

FirstPair FirstPair::over(std::uint64_t* code, std::uint64_t* data, std::uint64_t* times) const {
  FirstPair made({code_.shape(), code}, {data_.shape(), data}, nullptr);
  made.timed_ = timed_.over(code, data, times);
  made.has_times_ = has_times_;
  made.by_times_ = by_times_;
  made.looked_ = looked_;
  made.costly_ = costly_;
  made.patience_ = patience_;
  return made;
}

std::uint32_t FirstPair::find(const Note* notes, std::uint32_t n, std::uint32_t (&missed)[batch]) {
  std::uint32_t count = 0;
  if (by_times_) {
    count = timed_.use_all(notes, n, missed);
  } else {
    std::uint8_t hits[batch];
    if (by_vectors_) {
      use_vector_levels(vector_levels_, notes, n, hits);
    } else {
      for (std::uint32_t i = 0; i < n; ++i)
        hits[i] = (access_of(notes[i]) == Access::fetch ? code_ : data_).touch(line_of_note(notes[i])) ? 1 : 0;
    }
    count = zeroes_in(hits, n, missed);
  }
  if (has_times_) choose(n, by_times_ ? timed_.sought() : count);
  return count;
}

// Switching to `times` and back costs the time of some ten thousand notes, so the wait before a switch grows with each
// switch back.
void FirstPair::choose(std::uint32_t n, std::uint32_t costly) {
  looked_ += n;
  costly_ += costly;
  if (looked_ < (by_times_ ? notes_by_times : patience_)) return;
  if (by_times_) {
    const bool goes = costly_ * too_many > looked_;
    if (goes) timed_.end();
    by_times_ = !goes;
    if (goes && patience_ < most_patience) patience_ *= 2;
    if (!goes && patience_ > least_patience) patience_ -= patience_ / 8;
  } else if (costly_ * few_enough < looked_) {
    timed_.begin();
    by_times_ = true;
  }
  looked_ = costly_ = 0;
}

}  // namespace tally::models
