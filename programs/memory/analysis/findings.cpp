#include "programs/memory/analysis/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "programs/memory/analysis/points.hpp"
#include "programs/memory/analysis/size_text.hpp"
#include "programs/memory/analysis/slopes.hpp"
#include "programs/memory/analysis/unseen.hpp"
#include "programs/memory/statistics/timing_statistics.hpp"
#include "tally/core/base/text.hpp"
#include "tally/core/count/statistics.hpp"

namespace tally::memory {
namespace {

using result::Grade;
using result::MemoryLevel;

// One step of the grid: 8 per octave, so 2^(1/8).
constexpr double grid_step = 1.0905;

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
  std::vector<std::vector<double>> counts;
  for (std::size_t i = plateau.first; i <= plateau.last; ++i) {
    if (curve[i].flagged) continue;
    values.push_back(curve[i].ns);
    counts.push_back(curve[i].counts);
  }
  level.counts = medians_by_column(counts);
  std::sort(values.begin(), values.end());
  if (const auto ranks = median_ranks(values.size())) {
    level.ns_low = values[ranks->low - 1];
    level.ns_high = values[ranks->high - 1];
  }
}

// Whether two measurements are of one size.
bool is_same_size(double one_bytes, double other_bytes) { return std::abs(one_bytes / other_bytes - 1) <= 0.15; }

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
  level.snapped = !known->shared && is_same_size(capacity.bytes, reported);
  level.effective = !level.snapped && capacity.bytes <= reported;
}

// The reasons for a grade.
struct Reasons {
  bool sound = true;
  bool noisy = false;  // lowers the grade by one
  std::vector<std::string> words;

  void against(std::string word) {
    sound = false;
    words.push_back(std::move(word));
  }
};

// Adds the reasons that follow from few or disturbed timings.
void add_noise_reasons(Reasons& reasons, const PointStatistics& range, double waited_share) {
  if (waited_share > waited_too_long) {
    reasons.words.push_back(fmt::format("{} ({:.0f} % of the time)", processor_shared, waited_share * 100));
  }
  if (range.rejected_share >= 0.10) {
    reasons.words.push_back(fmt::format("{:.0f} % of the batches rejected", range.rejected_share * 100));
  }
  if (range.quiet_share < 0.5) {
    reasons.words.push_back(fmt::format("undisturbed in only {:.0f} % of its mappings", range.quiet_share * 100));
  }
  reasons.noisy = range.rejected_share >= 0.10 || range.quiet_share < 0.5 || waited_share > waited_too_long;
}

Reasons reasons_of(const Curve& curve, const LevelSpan& span, const LevelSpan& next, const MemoryLevel& level,
                   double waited_share) {
  Reasons reasons;
  // Both halves of the interval are within a step of the grid.
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
  add_noise_reasons(reasons, measure_range(curve, span.first.first, next.first.first), waited_share);
  return reasons;
}

// Whether the geometry from hit counts by stride confirms the capacity of the first level.
bool agrees(const Witnesses& witnesses, const MemoryLevel& level) {
  if (!witnesses.first_level || witnesses.first_level->capacity_bytes == 0) return false;
  return is_same_size(static_cast<double>(witnesses.first_level->capacity_bytes), *level.capacity_bytes);
}

// `witness`: another measurement confirms the capacity.
void grade_capacity(MemoryLevel& level, Reasons reasons, bool witness, const KnownCache* known) {
  if (known != nullptr && known->shared) reasons.against("shared: one thread's part of it, which others change");
  level.grade = Grade::low;
  if (reasons.sound && (witness || !reasons.noisy)) level.grade = Grade::medium;
  if (reasons.sound && witness && !reasons.noisy) level.grade = Grade::high;
  if (!reasons.sound) {
    // The interval decides whether the level is the reported cache.
    level.snapped = level.snapped && known != nullptr && static_cast<double>(known->bytes) >= *level.capacity_low &&
                    static_cast<double>(known->bytes) <= *level.capacity_high;
    level.effective =
        !level.snapped && (known == nullptr || *level.capacity_bytes <= static_cast<double>(known->bytes));
  }
  if (reasons.words.empty()) reasons.words.emplace_back("no second measurement confirms it");
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
    level.because += "; ways and sets not determinable: " + geometry.reason;
  }
}

std::string name_of(std::size_t index, const KnownCache* known, const std::vector<KnownCache>& reported) {
  if (known == nullptr) return fmt::format("level {}", index + 1);
  if (known->level == 1) return "L1d";
  return known == &reported.back() && known->level > 2 ? "LLC" : fmt::format("L{}", known->level);
}

// The reported cache, from index `from` on, that a capacity belongs to. A shared cache may show a smaller capacity, but
// none below that of the cache before it, which would hide it.
const KnownCache* match(const std::vector<KnownCache>& reported, std::size_t from, double bytes) {
  for (std::size_t i = from; i < reported.size(); ++i) {
    const auto size = static_cast<double>(reported[i].bytes);
    const double least = !reported[i].shared ? size / 1.6 : i == 0 ? 0 : static_cast<double>(reported[i - 1].bytes);
    const bool fits = bytes >= least && bytes <= (reported[i].shared ? 1.25 : 1.6) * size;
    if (fits) return &reported[i];
  }
  return nullptr;
}

// The row of the last plateau. `all_seen`: every reported cache is already assigned to an earlier one.
MemoryLevel last_level(const Curve& curve, const LevelSpan& span, const Witnesses& witnesses, bool all_seen) {
  MemoryLevel level;
  const double from = curve[span.first.first].size_bytes;
  const double to = curve[span.last.last].size_bytes;
  const double largest = witnesses.reported.empty() ? 0 : static_cast<double>(witnesses.reported.back().bytes);
  const bool beyond = to >= 2 * largest;
  const bool is_cache = span.first.ns < witnesses.least_memory_ns;
  // With random replacement 2 % of the loads hit in a ring of four times the cache.
  const bool is_long = std::log2(to / from) >= 2;
  const bool is_memory = !is_cache && (is_long ? beyond || all_seen : largest > 0 && to >= 4 * largest);
  level.name = is_memory ? "memory" : "beyond";
  if (const std::string busy = contention_of(curve, span); !busy.empty()) {
    level.contended = true;
    level.because = "contended: " + busy;
    return level;
  }
  set_latency(level, curve, span.first, witnesses);
  Reasons reasons;
  add_noise_reasons(reasons, measure_range(curve, span.first.first, span.last.last), witnesses.waited_share);
  if (is_memory && is_long) {
    reasons.words.insert(reasons.words.begin(), fmt::format("flat from {} on", size_text(from)));
  } else {
    reasons.against(fmt::format("flat from {} to {} only", size_text(from), size_text(to)));
  }
  if (is_cache) {
    reasons.against(
        fmt::format("a cache: below 0.6 of the latency of flushed loads ({:.0f} ns)", witnesses.least_memory_ns));
  } else if (!is_memory) {
    reasons.against("still a cache, or memory; " + how_to_extend_curve(curve, witnesses));
  }
  level.grade = reasons.sound && !reasons.noisy && beyond ? Grade::medium : Grade::low;
  level.because = join(reasons.words, "; ");
  return level;
}

MemoryLevel hidden_memory() {
  MemoryLevel level;
  level.name = "memory";
  level.contended = true;
  level.because = "contended: no undisturbed part of the curve shows it";
  return level;
}

// A contended level: its size is unknown, its latency may be known.
MemoryLevel busy_level(const Curve& curve, const LevelSpan& span, std::string name, const KnownCache* known,
                       const std::string& why, const Witnesses& witnesses) {
  MemoryLevel level;
  level.name = std::move(name);
  level.contended = true;
  if (known != nullptr) level.reported_bytes = known->bytes;
  if (contention_of(curve, span).empty()) set_latency(level, curve, span.first, witnesses);
  level.because = "contended: " + why;
  return level;
}

// A reported cache whose part of the curve is contended, or that the curve does not show.
MemoryLevel missed_level(const Curve& curve, const std::vector<LevelSpan>& spans, const KnownCache& known,
                         bool contended, const Witnesses& witnesses) {
  MemoryLevel level;
  level.name = name_of(0, &known, witnesses.reported);
  level.contended = contended;
  level.unseen = !contended;
  level.reported_bytes = known.bytes;
  level.because = contended ? "contended: no undisturbed part of the curve shows it"
                            : "not seen: " + why_unseen(curve, spans, known, witnesses);
  return level;
}

MemoryLevel memory_not_reached(const Curve& curve, const Witnesses& witnesses) {
  MemoryLevel level;
  level.name = "memory";
  level.unseen = true;
  level.because =
      fmt::format("not seen: the curve ends at {} with {:.3g} ns, before it is flat in memory; {}",
                  size_text(curve.back().size_bytes), curve.back().ns, how_to_extend_curve(curve, witnesses));
  return level;
}

// Moves the latency and counts of a plateau to the row of the cache that it belongs to, whose end was not seen.
void move_latency(MemoryLevel& from, MemoryLevel& to) {
  to.ns = std::exchange(from.ns, 0);
  to.ns_low = std::exchange(from.ns_low, std::nullopt);
  to.ns_high = std::exchange(from.ns_high, std::nullopt);
  to.cycles = std::exchange(from.cycles, std::nullopt);
  to.counts = std::exchange(from.counts, {});
}

// Walks up the curve and the reported caches together, and writes a row for each level and each cache.
class LevelFinder {
 public:
  LevelFinder(const Curve& curve, const std::vector<LevelSpan>& spans, const Witnesses& witnesses)
      : curve_(curve), spans_(spans), witnesses_(witnesses), hiding_(spans.empty()) {}

  // A span whose end is disturbed. Assigns it to the next reported cache before `until`.
  void add_busy(const LevelSpan& span, const std::string& why, std::size_t until) {
    const KnownCache* known = next_ < until ? &reported()[next_++] : nullptr;
    levels_.push_back(busy_level(curve_, span, name_of(levels_.size(), known, reported()), known, why, witnesses_));
    hiding_ = true;
  }

  void add_seen(const LevelSpan& span, const LevelSpan& next) { add(span, next, capacity_of(span, next)); }

  // A span after which the curve is unreliable: uses the capacity from scattered rings if the next reported cache is
  // private and they measured it; otherwise adds nothing and returns false.
  bool add_scattered(const LevelSpan& span, const LevelSpan& next) {
    if (next_ == reported().size() || reported()[next_].shared) return false;
    const Capacity* const one = scattered_near(static_cast<double>(reported()[next_].bytes));
    if (one == nullptr) return false;
    Capacity capacity = *one;
    capacity.scattered = true;
    add(span, next, capacity);
    hiding_ = true;
    return true;
  }

  // The end of the curve.
  void add_end() {
    const std::size_t until = shown_until();
    const std::string busy = spans_.empty() ? "" : contention_above(curve_, spans_.back(), reported());
    if (!busy.empty()) {
      add_busy(spans_.back(), busy, until);
      pass_by(until, nullptr);
      levels_.push_back(hidden_memory());
      return;
    }
    const bool all_seen = hiding_ || next_ == reported().size();
    MemoryLevel* const holder = pass_by(until, spans_.empty() ? nullptr : &spans_.back().first);
    if (holder != nullptr) {
      set_latency(*holder, curve_, spans_.back().first, witnesses_);
      levels_.push_back(memory_not_reached(curve_, witnesses_));
    } else if (!spans_.empty()) {
      levels_.push_back(last_level(curve_, spans_.back(), witnesses_, all_seen));
    }
  }

  std::vector<MemoryLevel> take() { return std::move(levels_); }

 private:
  // The capacity from scattered rings that is near this size; null if there is none.
  const Capacity* scattered_near(double bytes) const {
    for (const Capacity& one : witnesses_.scattered) {
      if (one.bytes >= bytes / 1.6 && one.bytes <= bytes * 1.6) return &one;
    }
    return nullptr;
  }

  void add(const LevelSpan& span, const LevelSpan& next, const Capacity& capacity) {
    const bool is_first = &span == &spans_.front();
    const KnownCache* known = match(reported(), next_, capacity.bytes);
    MemoryLevel level;
    set_latency(level, curve_, span.first, witnesses_);
    if (known != nullptr) {
      MemoryLevel* const holder = pass_by(static_cast<std::size_t>(known - reported().data()), &span.first);
      if (holder != nullptr) move_latency(level, *holder);
      ++next_;
    }
    level.name = name_of(levels_.size(), known, reported());
    set_capacity(level, capacity, known);
    Reasons reasons = reasons_of(curve_, span, next, level, witnesses_.waited_share);
    const bool twice = capacity.scattered && is_same_size(capacity.of_curve_bytes, capacity.bytes);
    if (capacity.scattered) {
      const std::string curve_text = capacity.of_curve_bytes == 0
                                         ? "is contended there"
                                         : (twice ? "agrees: " : "shows ") + size_text(capacity.of_curve_bytes);
      reasons.words.push_back("measured with scattered lines; the curve " + curve_text);
    } else if (capacity.shape == Shape::page_colours && witnesses_.translations.reach_bytes == 0) {
      reasons.words.emplace_back("ignores missed translations: no translation buffer was seen");
    }
    if (known == nullptr && !reported().empty()) reasons.against("the system reports no cache of this size");
    if (known != nullptr && !known->shared && !level.snapped && !level.effective)
      reasons.against("larger than the reported cache, which no other core uses");
    const bool mapped = is_first && agrees(witnesses_, level);
    if (mapped) {
      reasons.words.push_back("lines times stride is " +
                              size_text(static_cast<double>(witnesses_.first_level->capacity_bytes)));
    }
    grade_capacity(level, std::move(reasons), mapped || twice, known);
    set_geometry(level, is_first, witnesses_);
    levels_.push_back(std::move(level));
  }

  // If the rise slopes, scattered rings measure the capacity better: neither frames nor missed translations affect
  // them.
  Capacity capacity_of(const LevelSpan& span, const LevelSpan& next) const {
    Capacity capacity = capacity_of_curve(span, next);
    if (capacity.shape != Shape::page_colours && capacity.shape != Shape::random_replacement) return capacity;
    if (const Capacity* const one = scattered_near(capacity.bytes)) {
      capacity.of_curve_bytes = capacity.bytes;
      capacity.bytes = one->bytes;
      capacity.low_bytes = one->low_bytes;
      capacity.high_bytes = one->high_bytes;
      capacity.scattered = true;
    }
    return capacity;
  }

  // A fit of page colours models missed translations, so it starts before them. Otherwise it starts at the plateau
  // after them.
  Capacity capacity_of_curve(const LevelSpan& span, const LevelSpan& next) const {
    const FirstTranslations& known = witnesses_.translations;
    if (span.first == span.last) return find_capacity(curve_, span.last, next.first, witnesses_.page_bytes, known);
    if (known.reach_bytes > 0) {
      const Capacity whole = find_capacity(curve_, span.first, next.first, witnesses_.page_bytes, known);
      if (whole.with_slopes) return whole;
    }
    return find_capacity(curve_, span.last, next.first, witnesses_.page_bytes);
  }

  const std::vector<KnownCache>& reported() const { return witnesses_.reported; }

  // Index after the last reported cache that the curve reaches: a cache shows from the end of the one before it.
  std::size_t shown_until() const {
    const double end = curve_.empty() ? 0 : curve_.back().size_bytes;
    std::size_t until = next_;
    while (until < reported().size() && (until == 0 || static_cast<double>(reported()[until - 1].bytes) < end)) ++until;
    return until;
  }

  // Adds rows for the reported caches before `until` that were not found: contended if the curve hides them, otherwise
  // unseen. Returns the row that the plateau's latency belongs to; null if it belongs to the next cache.
  MemoryLevel* pass_by(std::size_t until, const Plateau* plateau) {
    const KnownCache* holder =
        hiding_ || plateau == nullptr ? nullptr : holder_of(curve_, *plateau, witnesses_, next_, until);
    std::optional<std::size_t> row;
    for (; next_ < until; ++next_) {
      if (holder == &reported()[next_]) row = levels_.size();
      levels_.push_back(missed_level(curve_, spans_, reported()[next_], hiding_, witnesses_));
    }
    return row ? &levels_[*row] : nullptr;
  }

  const Curve& curve_;
  const std::vector<LevelSpan>& spans_;
  const Witnesses& witnesses_;
  std::vector<MemoryLevel> levels_;
  std::size_t next_ = 0;  // index of the next reported cache
  bool hiding_ = false;   // later caches may be hidden in an unreliable part of the curve
};

// Whether a rise is that of the first translation buffer: no reported cache ends there, and it is where the misses of
// rings in random order, reach/R of which still hit, are between few and most.
bool is_of_translations(const Curve& curve, const LevelSpan& span, const LevelSpan& next, const Witnesses& witnesses) {
  const double reach = witnesses.translations.reach_bytes;
  if (witnesses.reported.empty() || reach == 0) return false;
  const double bytes = find_capacity(curve, span.last, next.first, witnesses.page_bytes).bytes;
  return bytes >= reach / 1.25 && bytes <= 4 * reach && match(witnesses.reported, 0, bytes) == nullptr;
}

}  // namespace

std::vector<LevelSpan> join_translations(const Curve& curve, const std::vector<LevelSpan>& spans,
                                         const Witnesses& witnesses) {
  std::vector<LevelSpan> joined;
  for (const LevelSpan& span : spans) {
    if (!joined.empty() && is_of_translations(curve, joined.back(), span, witnesses)) {
      joined.back().last = span.last;
    } else {
      joined.push_back(span);
    }
  }
  return joined;
}

std::optional<Capacity> find_scattered(const Curve& curve) {
  const auto plateaus = find_plateaus(curve);
  for (std::size_t i = 0; i + 1 < plateaus.size(); ++i) {
    const Plateau& below = plateaus[i];
    const Plateau& above = plateaus[i + 1];
    if (is_slope(below.ns, above.ns)) continue;
    if (!contention_between(curve, {below, below}, {above, above}).empty()) continue;
    return find_scattered_capacity(curve, below, above);
  }
  return std::nullopt;
}

std::vector<MemoryLevel> find_levels(const Curve& curve, const std::vector<LevelSpan>& spans,
                                     const Witnesses& witnesses) {
  LevelFinder finder(curve, spans, witnesses);
  for (std::size_t i = 0; i + 1 < spans.size(); ++i) {
    const std::string busy = contention_of(curve, spans[i]);
    const std::string contention_after = contention_between(curve, spans[i], spans[i + 1]);
    if (busy.empty() && contention_after.empty()) {
      finder.add_seen(spans[i], spans[i + 1]);
    } else if (!busy.empty() || !finder.add_scattered(spans[i], spans[i + 1])) {
      finder.add_busy(spans[i], busy.empty() ? contention_after : busy, witnesses.reported.size());
    }
  }
  finder.add_end();
  return finder.take();
}

LevelsVerdict judge_levels(const Curve& curve, const std::vector<MemoryLevel>& levels, double waited_share) {
  std::vector<std::string> busy;
  std::vector<std::string> measured;
  for (const MemoryLevel& level : levels) {
    if (!level.unseen) (level.contended ? busy : measured).push_back(level.name);
  }
  const auto flagged = std::count_if(curve.begin(), curve.end(), [](const CurvePoint& one) { return one.flagged; });
  const bool most = curve.empty() || static_cast<std::size_t>(flagged) * 2 > curve.size();
  const bool shared = waited_share > waited_too_long;
  if (busy.empty() && !most && !shared) return {};
  std::string why = join(busy, ", ");
  if (shared) {
    if (most && measured.empty()) why = fmt::format("{} of {} points flagged", flagged, curve.size());
    why = fmt::format("{}, {:.0f} % of the time was spent waiting for it{}{}", processor_shared, 100 * waited_share,
                      why.empty() ? "" : ": ", why);
  } else if (busy.empty() || measured.empty()) {
    why = fmt::format("{} of {} points flagged", flagged, curve.size());
    if (const std::string cause = cause_of(curve); !cause.empty()) why += " (" + cause + ")";
  }
  why += measured.empty() ? ": no capacities reported" : "; measured: " + join(measured, ", ");
  return {true, std::move(why)};
}

}  // namespace tally::memory
