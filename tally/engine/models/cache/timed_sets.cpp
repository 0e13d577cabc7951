#include "tally/engine/models/cache/timed_sets.hpp"

#include <initializer_list>

namespace tally::models {

namespace {

constexpr std::uint64_t places(const CacheShape& shape) { return std::uint64_t{shape.sets} * shape.ways; }

}  // namespace

std::uint64_t TimedSets::words(const CacheShape& code, const CacheShape& data) {
  return std::uint64_t{2} * known_size * (sizeof(PresentLine) / sizeof(std::uint64_t)) + places(code) + places(data);
}

bool TimedSets::fits(const CacheShape& code, const CacheShape& data) {
  const auto is_list = [](const CacheShape& shape) { return shape.sets != 0 && shape.replacement == Replacement::lru; };
  return is_list(code) && is_list(data) && code.line_bits == data.line_bits;
}

TimedSets::TimedSets(const LevelTable& code, const LevelTable& data, std::uint64_t* words)
    : line_bits_(data.shape.line_bits) {
  code_.cache = Cache(code.shape, code.words);
  data_.cache = Cache(data.shape, data.words);
  lay_out(code.words, data.words, words);
}

TimedSets TimedSets::over(std::uint64_t* code, std::uint64_t* data, std::uint64_t* words) const {
  TimedSets made = *this;
  made.lay_out(code, data, words);
  return made;
}

void TimedSets::lay_out(std::uint64_t* code, std::uint64_t* data, std::uint64_t* words) {
  code_.ways = code;
  data_.ways = data;
  code_.known = reinterpret_cast<PresentLine*>(words);
  data_.known = code_.known + known_size;
  code_.times = reinterpret_cast<std::uint64_t*>(data_.known + known_size);
  data_.times = code_.times + places(code_.cache.shape());
}

void TimedSets::begin() {
  clock_ = most_ways;
  for (const Level* level : {&code_, &data_}) {
    const std::uint32_t ways = level->cache.shape().ways;
    for (std::uint64_t i = 0; i < places(level->cache.shape()); ++i) level->times[i] = ways - i % ways;
  }
}

void TimedSets::end() {
  for (Level* level : {&code_, &data_})
    for (std::uint64_t i = 0; i < places(level->cache.shape()); i += level->cache.shape().ways) sort(*level, i);
}

// Sorts the set that begins at `first`: the most recent way first, empty ways last. No line of it is in the table
// afterwards.
void TimedSets::sort(Level& level, std::uint64_t first) {
  std::uint64_t* const ways = level.ways + first;
  std::uint64_t* const times = level.times + first;
  for (std::uint32_t i = 0; i < level.cache.shape().ways; ++i) {
    const std::uint64_t tag = ways[i];
    PresentLine& known = at(level.known, number_of(tag));
    std::uint64_t time = tag != 0 ? times[i] : 0;
    if (tag != 0 && known.line == number_of(tag)) {
      time = known.time;
      known.line = 0;
    }
    std::uint32_t place = i;
    for (; place > 0 && times[place - 1] < time; --place) {
      ways[place] = ways[place - 1];
      times[place] = times[place - 1];
    }
    ways[place] = tag;
    times[place] = time;
  }
}

std::uint32_t TimedSets::oldest(const Level& level, std::uint64_t first) const {
  std::uint32_t chosen = 0;
  std::uint64_t least = ~std::uint64_t{0};
  for (std::uint32_t i = 0; i < level.cache.shape().ways; ++i) {
    const std::uint64_t tag = level.ways[first + i];
    if (tag == 0) return i;
    const PresentLine& known = at(level.known, number_of(tag));
    const std::uint64_t time = known.line == number_of(tag) ? known.time : level.times[first + i];
    chosen = time < least ? i : chosen;
    least = time < least ? time : least;
  }
  return chosen;
}

// Searches for a line that is not in its entry of the hash table. Returns whether it is in its set.
bool TimedSets::seek(Level& level, PresentLine& known, std::uint64_t line) {
  const std::uint32_t ways = level.cache.shape().ways;
  const auto first_way = [&](std::uint64_t address) { return std::uint64_t{level.cache.set_of(address)} * ways; };
  if (known.line != 0) {
    const std::uint64_t address = ~known.line << line_bits_, first = first_way(address);
    level.times[first + place_of(level.ways + first, ways, tag_of(address, line_bits_))] = known.time;
    known.line = 0;
  }
  const std::uint64_t address = ~line << line_bits_, first = first_way(address), tag = tag_of(address, line_bits_);
  const bool found = place_of(level.ways + first, ways, tag) < ways;
  if (!found) {
    std::uint64_t& way = level.ways[first + oldest(level, first)];
    PresentLine& leaves = at(level.known, number_of(way));
    if (way != 0 && leaves.line == number_of(way)) leaves.line = 0;
    way = tag;
  }
  known.line = line;
  return found;
}

std::uint32_t TimedSets::use_all(const Note* notes, std::uint32_t n, std::uint32_t* missed) {
  PresentLine* const known_for[] = {data_.known, data_.known, data_.known, code_.known};  // by Access
  const unsigned line_bits = line_bits_;
  std::uint64_t now = clock_;
  std::uint32_t misses = 0, sought = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    const Note note = notes[i];
    const std::uint64_t line = ~note >> line_bits;
    PresentLine& known = at(known_for[note & 3], line);
    if (known.line != line) [[unlikely]] {
      ++sought;
      missed[misses] = i;
      misses += seek(access_of(note) == Access::fetch ? code_ : data_, known, line) ? 0 : 1;
    }
    known.time = ++now;
  }
  clock_ = now;
  sought_ = sought;
  return misses;
}

}  // namespace tally::models
