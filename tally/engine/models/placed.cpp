#include "tally/engine/models/placed.hpp"

namespace tally::models {
namespace {

constexpr std::uint64_t none = 0;
constexpr std::uint32_t words_of_caches = sizeof(HierarchyCounts) / sizeof(std::uint64_t),
                        words_of_tlbs = sizeof(TlbCounts) / sizeof(std::uint64_t),
                        words_of_branches = sizeof(BranchCounts) / sizeof(std::uint64_t);

// Counts one access that missed in a first level. `across`: an access across lines that had already missed.
void count_miss(Access access, bool across, HierarchyCounts& counts) {
  switch (purpose_of(access)) {
    case Access::fetch: ++counts.l1i.fetch_misses; break;
    case Access::store:
      ++counts.l1d.store_misses;
      counts.l1d_across.store_misses += across ? 1 : 0;
      break;
    default: ++counts.l1d.load_misses; counts.l1d_across.load_misses += across ? 1 : 0;
  }
}

}  // namespace

InstructionRecorder::InstructionRecorder(const std::uint8_t* statistics, std::uint32_t n, const HierarchyCounts& caches,
                                         const TlbCounts& tlbs, const BranchCounts& branches)
    : count_(n < figure_limit ? n : figure_limit) {
  for (std::uint32_t i = 0; i < count_; ++i) {
    std::uint32_t word = statistics[i];
    const std::uint64_t* now = &none;
    if (word < words_of_caches)
      now = reinterpret_cast<const std::uint64_t*>(&caches) + word;
    else if (word -= words_of_caches; word < words_of_tlbs)
      now = reinterpret_cast<const std::uint64_t*>(&tlbs) + word;
    else if (word -= words_of_tlbs; word < words_of_branches)
      now = reinterpret_cast<const std::uint64_t*>(&branches) + word;
    values_[i] = {now, *now};
  }
}

void InstructionRecorder::stepped(std::uint64_t site) {
  std::uint64_t* row = nullptr;
  std::uint32_t group = figure_limit;
  for (std::uint32_t i = 0; i < count_; ++i) {
    Statistic& f = values_[i];
    if (*f.now == f.placed) continue;
    if (group != i / group_size) row = row_of(site, group = i / group_size);
    if (row != nullptr) row[i % group_size] += *f.now - f.placed;
    f.placed = *f.now;
  }
}

Mispredictions play_placed(Tage& predictor, Outcome* words, std::uint32_t n, BranchCounts& counts, Observer& observer) {
  std::uint32_t left = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    const Outcome outcome = words[i];
    if (is_wrong_return(outcome)) {
      ++counts.return_misses;
      observer.stepped(site_of_branch(outcome));
      continue;
    }
    words[left++] = outcome;
    if ((outcome & indirect_bit) != 0 && i + 1 < n) words[left++] = words[++i];
  }
  const Mispredictions wrong = predictor.play(words, left, words);
  for (std::uint64_t i = 0; i < wrong.words(); ++i) {
    const bool is_indirect = (words[i] & indirect_bit) != 0;
    ++(is_indirect ? counts.indirect_misses : counts.conditional_misses);
    observer.stepped(site_of_branch(words[i]));
    i += is_indirect ? 1 : 0;
  }
  return wrong;
}

void access_all(const NotedLevels& levels, const PlacedNote* notes, std::uint32_t n, HierarchyCounts& caches,
                Observer& observer) {
  constexpr std::uint32_t batch = FirstPair::batch;
  for (; n > 0; notes += batch) {
    const std::uint32_t here = n < batch ? n : batch;
    n -= here;
    Note some[batch];
    for (std::uint32_t i = 0; i < here; ++i) some[i] = notes[i].note;
    if (levels.tlbs != nullptr) levels.tlbs->access_all(some, here, notes, &observer);
    HierarchyCounts counted;  // for a whole batch: the same is counted below, note by note
    std::uint32_t places[batch];
    const std::uint32_t missed = levels.first->access_all(some, here, counted, places);
    for (std::uint32_t i = 0; i < missed; ++i) {
      const Access access = access_of(some[i]);
      count_miss(access, (places[i] & FirstLevels::is_across) != 0, caches);
      if (levels.lower != nullptr) levels.lower->request(line_of_note(some[i]), access, caches);
      observer.stepped(notes[places[i] & ~FirstLevels::is_across].site);
    }
  }
}

}  // namespace tally::models
