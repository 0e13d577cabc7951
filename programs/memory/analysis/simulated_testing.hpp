// Simulated buffers with known answers, accessed line by line.
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <unordered_map>
#include <vector>

#include "programs/memory/analysis/permutation.hpp"
#include "programs/memory/statistics/seeded_random.hpp"

namespace tally::memory {

/// Fully associative, LRU.
class LruBuffer {
 public:
  explicit LruBuffer(std::size_t entries) : entries_(entries) {}

  bool access(std::uint64_t entry) {
    const auto found = places_.find(entry);
    const bool hit = found != places_.end();
    if (hit) {
      used_.erase(found->second);
    } else if (places_.size() == entries_) {
      places_.erase(used_.back());
      used_.pop_back();
    }
    used_.push_front(entry);
    places_[entry] = used_.begin();
    return hit;
  }

 private:
  std::size_t entries_;
  std::list<std::uint64_t> used_;
  std::unordered_map<std::uint64_t, std::list<std::uint64_t>::iterator> places_;
};

/// Fully associative, random replacement.
class RandomBuffer {
 public:
  RandomBuffer(std::size_t entries, Random& random) : entries_(entries), random_(&random) {}

  bool access(std::uint64_t entry) {
    if (places_.contains(entry)) return true;
    if (held_.size() < entries_) {
      places_[entry] = held_.size();
      held_.push_back(entry);
      return false;
    }
    const std::size_t victim = random_->uniform(0, held_.size() - 1);
    places_.erase(held_[victim]);
    held_[victim] = entry;
    places_[entry] = victim;
    return false;
  }

 private:
  std::size_t entries_;
  Random* random_;
  std::vector<std::uint64_t> held_;
  std::unordered_map<std::uint64_t, std::size_t> places_;
};

/// Which lines a miss fetches ahead.
enum class Prefetcher {
  pair,       ///< the other line of the 128-byte pair
  next_line,  ///< the next line
  streamer,   ///< the next two lines, after two neighbours of a page missed in ascending order
};

/// LRU with a prefetcher; only lines below `blocks` can be fetched.
class PrefetchedBuffer {
 public:
  PrefetchedBuffer(std::size_t entries, Prefetcher prefetcher, std::uint64_t blocks)
      : buffer_(entries), prefetcher_(prefetcher), blocks_(blocks) {}

  bool access(std::uint64_t line) {
    if (buffer_.access(line)) return true;
    const std::uint64_t page = line / lines_of_page;
    if (prefetcher_ == Prefetcher::pair) fetch(line ^ 1);
    if (prefetcher_ == Prefetcher::next_line) fetch(line + 1);
    if (prefetcher_ == Prefetcher::streamer) {
      const auto before = last_missed_.find(page);
      if (before != last_missed_.end() && before->second < line && line - before->second <= 2) {
        fetch(line + 1);
        fetch(line + 2);
      }
      last_missed_[page] = line;
    }
    return false;
  }

 private:
  static constexpr std::uint64_t lines_of_page = 64;

  void fetch(std::uint64_t line) {
    if (line < blocks_) buffer_.access(line);
  }

  LruBuffer buffer_;
  Prefetcher prefetcher_;
  std::uint64_t blocks_;
  std::unordered_map<std::uint64_t, std::uint64_t> last_missed_;
};

/// Misses per access in `laps` laps, after `before` laps that are not counted.
template <class Buffer>
double lap_misses(Buffer& buffer, const Order& order, int before = 2, int laps = 4) {
  double misses = 0;
  for (int lap = -before; lap < laps; ++lap) {
    for (const std::uint32_t block : order) {
      const bool hit = buffer.access(block);
      if (lap >= 0 && !hit) ++misses;
    }
  }
  return misses / static_cast<double>(order.size()) / laps;
}

/// Hits per access when each block is touched once; `blocks_of_entry` blocks share an entry.
template <class Buffer>
double cold_hits(Buffer& buffer, const Order& order, std::uint32_t blocks_of_entry) {
  double hits = 0;
  for (const std::uint32_t block : order) hits += buffer.access(block / blocks_of_entry) ? 1 : 0;
  return hits / static_cast<double>(order.size());
}

/// The share of `pages` pages in random frames whose colour has more pages than ways; those miss in every lap.
inline double colour_misses(int pages, int colours, int ways, Random& random) {
  std::vector<int> of_colour(static_cast<std::size_t>(colours));
  for (int page = 0; page < pages; ++page) {
    ++of_colour[random.uniform(0, static_cast<std::uint64_t>(colours) - 1)];
  }
  int missing = 0;
  for (const int some : of_colour) missing += some > ways ? some : 0;
  return static_cast<double>(missing) / pages;
}

/// Which line a full set evicts.
enum class Victim {
  any,         ///< a random line
  not_recent,  ///< a random line that was not used recently (one bit per line)
};

/// Misses per load of a set of `ways` ways whose `lines` lines are loaded in turn.
inline double set_misses(Victim victim, std::size_t ways, std::size_t lines, Random& random) {
  if (lines <= ways) return 0;
  constexpr int before = 20;
  constexpr int laps = 100;
  const std::size_t none = lines;
  std::vector<std::size_t> line_of(ways, none);
  std::vector<bool> recent(ways);
  std::vector<std::size_t> way_of(lines, ways);
  int missed = 0;
  for (int lap = 0; lap < before + laps; ++lap) {
    for (std::size_t line = 0; line < lines; ++line) {
      std::size_t way = way_of[line];
      if (way == ways) {
        missed += lap < before ? 0 : 1;
        do way = random.uniform(0, ways - 1);
        while (victim == Victim::not_recent && recent[way]);
        if (line_of[way] != none) way_of[line_of[way]] = ways;
        line_of[way] = line;
        way_of[line] = way;
      }
      recent[way] = true;
      if (std::count(recent.begin(), recent.end(), false) == 0) {
        recent.assign(ways, false);
        recent[way] = true;
      }
    }
  }
  return static_cast<double>(missed) / laps / static_cast<double>(lines);
}

/// As colour_misses(), but a set of k lines misses `of_set[k]` of its loads; 1 beyond the end.
inline double colour_misses_of(const std::vector<double>& of_set, int pages, int colours, Random& random) {
  std::vector<std::size_t> of_colour(static_cast<std::size_t>(colours));
  for (int page = 0; page < pages; ++page) {
    ++of_colour[random.uniform(0, static_cast<std::uint64_t>(colours) - 1)];
  }
  double missing = 0;
  for (const std::size_t some : of_colour) {
    missing += static_cast<double>(some) * (some < of_set.size() ? of_set[some] : 1);
  }
  return missing / pages;
}

/// A factor around 1 with a relative standard deviation: the sum of twelve uniform numbers is nearly normal.
inline double noise(Random& random, double deviation) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += random.unit();
  return 1 + deviation * sum;
}

}  // namespace tally::memory
