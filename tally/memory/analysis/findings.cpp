#include "tally/memory/analysis/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tally/base/text.hpp"
#include "tally/count/statistics.hpp"
#include "tally/memory/analysis/statistics.hpp"

namespace tally::memory {
namespace {

using result::Grade;
using result::MemoryLevel;

// One step of the grid, 8 to an octave: 2^(1/8).
constexpr double grid_step = 1.0905;

std::string size_text(double bytes) { return bytes_text(static_cast<std::int64_t>(std::llround(bytes))); }

std::vector<double> batches_of(const Curve& curve, const Plateau& plateau) {
  std::vector<double> all;
  for (std::size_t i = plateau.first; i <= plateau.last; ++i) {
    for (const auto& mapping : curve[i].mappings) all.insert(all.end(), mapping.begin(), mapping.end());
  }
  return all;
}

void set_latency(MemoryLevel& level, const Curve& curve, const Plateau& plateau, const Witnesses& witnesses) {
  level.ns = plateau.ns;
  if (witnesses.ghz) level.cycles = plateau.ns * *witnesses.ghz;
  std::vector<double> values;
  for (std::size_t i = plateau.first; i <= plateau.last; ++i) {
    if (!curve[i].flagged) values.push_back(curve[i].ns);
  }
  std::sort(values.begin(), values.end());
  if (const auto ranks = median_ranks(values.size())) {
    level.ns_low = values[ranks->low - 1];
    level.ns_high = values[ranks->high - 1];
  }
}

void set_capacity(MemoryLevel& level, const Capacity& capacity, const KnownCache* known) {
  level.capacity_bytes = capacity.bytes;
  level.capacity_low = capacity.low_bytes;
  level.capacity_high = capacity.high_bytes;
  level.half_bytes = capacity.half_bytes;
  level.knee_bytes = capacity.knee_bytes;
  level.shape = name(capacity.shape);
  if (known == nullptr) {
    level.effective = true;
    return;
  }
  level.reported_bytes = known->bytes;
  const auto reported = static_cast<double>(known->bytes);
  level.snapped = !known->shared && std::abs(capacity.bytes / reported - 1) <= 0.15;
  level.effective = !level.snapped;
}

// Everything against a better grade, or for this one.
struct Reasons {
  bool sound = true;
  std::vector<std::string> words;

  void against(std::string word) {
    sound = false;
    words.push_back(std::move(word));
  }
};

Reasons reasons_of(const Curve& curve, const LevelSpan& span, const LevelSpan& next, const MemoryLevel& level,
                   const Witnesses& witnesses) {
  Reasons reasons;
  // Both halves of the interval within a step of the grid.
  const bool narrow = *level.capacity_high <= *level.capacity_bytes * grid_step &&
                      *level.capacity_low >= *level.capacity_bytes / grid_step;
  if (!narrow) {
    reasons.against(fmt::format("interval [{}, {}]", size_text(*level.capacity_low), size_text(*level.capacity_high)));
  }
  const auto low = batches_of(curve, span.last);
  const auto high = batches_of(curve, next.first);
  if (!low.empty() && !high.empty() && kolmogorov_smirnov(low, high) >= 0.001) {
    reasons.against("the latencies of both sides overlap");
  }
  if (witnesses.rejected_share >= 0.10) {
    reasons.against(fmt::format("{:.0f} % of the batches rejected", witnesses.rejected_share * 100));
  }
  return reasons;
}

// The map of lines × stride beside the first level.
bool agrees(const Witnesses& witnesses, const MemoryLevel& level) {
  if (!witnesses.first_level || witnesses.first_level->capacity_bytes == 0) return false;
  return std::abs(static_cast<double>(witnesses.first_level->capacity_bytes) / *level.capacity_bytes - 1) <= 0.15;
}

void grade_capacity(MemoryLevel& level, Reasons reasons, bool is_first, const KnownCache* known,
                    const Witnesses& witnesses) {
  const bool witness = is_first && agrees(witnesses, level);
  if (witness) {
    reasons.words.push_back("lines times stride gives " +
                            size_text(static_cast<double>(witnesses.first_level->capacity_bytes)));
  }
  if (known != nullptr && known->shared) reasons.against("shared: one thread's part of it, which others change");
  level.grade = !reasons.sound ? Grade::low : witness ? Grade::high : Grade::medium;
  if (!reasons.sound) {
    level.effective = true;
    level.snapped = level.snapped && reasons.words.size() <= 1;
  }
  if (reasons.words.empty()) reasons.words.emplace_back("no second witness");
  level.because = join(reasons.words, "; ");
}

void set_geometry(MemoryLevel& level, bool is_first, const Witnesses& witnesses) {
  if (witnesses.line_bytes && is_first) level.line_bytes = static_cast<std::int64_t>(*witnesses.line_bytes);
  if (!is_first || !witnesses.first_level) return;
  const Geometry& geometry = *witnesses.first_level;
  if (geometry.ways) {
    level.ways = static_cast<std::int64_t>(*geometry.ways);
    level.sets = static_cast<std::int64_t>(*geometry.sets);
  } else if (!geometry.reason.empty()) {
    level.because += "; ways and sets: " + geometry.reason;
  }
}

std::string name_of(std::size_t index, const KnownCache* known, std::size_t known_count) {
  if (known == nullptr) return fmt::format("level {}", index + 1);
  if (known->level == 1) return "L1d";
  return index + 1 == known_count && known->level > 2 ? "LLC" : fmt::format("L{}", known->level);
}

// The reported cache that a capacity belongs to: its neighbour in size, and none twice. A shared one may give less.
const KnownCache* match(const std::vector<KnownCache>& reported, std::size_t from, double bytes) {
  for (std::size_t i = from; i < reported.size(); ++i) {
    const auto size = static_cast<double>(reported[i].bytes);
    const bool fits = reported[i].shared ? bytes <= 1.25 * size : bytes <= 1.6 * size && bytes >= size / 1.6;
    if (fits) return &reported[i];
  }
  return nullptr;
}

// The last plateau, behind which nothing rises any more.
MemoryLevel last_level(const Curve& curve, const LevelSpan& span, const Witnesses& witnesses) {
  MemoryLevel level;
  set_latency(level, curve, span.first, witnesses);
  const double octaves = std::log2(curve[span.last.last].size_bytes / curve[span.first.first].size_bytes);
  const std::int64_t largest = witnesses.reported.empty() ? 0 : witnesses.reported.back().bytes;
  const bool beyond = curve[span.last.last].size_bytes >= 2 * static_cast<double>(largest);
  level.name = beyond || octaves >= 2 ? "memory" : "beyond";
  level.grade = octaves >= 2 && beyond && witnesses.rejected_share < 0.10 ? Grade::medium : Grade::low;
  level.because = octaves < 2 ? "memory latency not reached: the plateau is shorter than two octaves"
                              : fmt::format("flat from {} on", size_text(curve[span.first.first].size_bytes));
  if (witnesses.rejected_share >= 0.10) {
    level.because += fmt::format("; {:.0f} % of the batches rejected", witnesses.rejected_share * 100);
  }
  return level;
}

}  // namespace

std::vector<LevelSpan> join_spans(const std::vector<Plateau>& plateaus, const std::vector<bool>& is_cache_rise) {
  std::vector<LevelSpan> spans;
  for (std::size_t i = 0; i < plateaus.size(); ++i) {
    if (i == 0 || is_cache_rise[i - 1]) {
      spans.push_back({plateaus[i], plateaus[i]});
    } else {
      spans.back().last = plateaus[i];
    }
  }
  return spans;
}

std::optional<double> sound_limit(const Curve& curve) {
  std::size_t flagged = 0;
  std::optional<double> sound = 0;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    if (curve[i].flagged) ++flagged;
    if (flagged * 10 <= i + 1) sound = curve[i].size_bytes;
  }
  return flagged * 10 <= curve.size() ? std::nullopt : sound;
}

std::vector<MemoryLevel> find_levels(const Curve& curve, const std::vector<LevelSpan>& spans,
                                     const Witnesses& witnesses) {
  std::vector<MemoryLevel> levels;
  std::size_t known_from = 0;
  const double sound = witnesses.sound_up_to.value_or(INFINITY);
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (curve[spans[i].first.first].size_bytes >= sound) break;
    if (i + 1 == spans.size()) {
      levels.push_back(last_level(curve, spans[i], witnesses));
      break;
    }
    const Capacity capacity = find_capacity(curve, spans[i].last, spans[i + 1].first, witnesses.page_bytes);
    if (capacity.high_bytes > sound) break;
    const KnownCache* known = match(witnesses.reported, known_from, capacity.bytes);
    if (known != nullptr) known_from = static_cast<std::size_t>(known - witnesses.reported.data()) + 1;
    MemoryLevel level;
    level.name = name_of(i, known, witnesses.reported.size());
    set_latency(level, curve, spans[i].first, witnesses);
    set_capacity(level, capacity, known);
    grade_capacity(level, reasons_of(curve, spans[i], spans[i + 1], level, witnesses), i == 0, known, witnesses);
    set_geometry(level, i == 0, witnesses);
    levels.push_back(std::move(level));
  }
  return levels;
}

}  // namespace tally::memory
