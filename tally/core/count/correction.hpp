// Measures and subtracts what page faults and interrupts add to a count of instructions or branches. Pure.
//
// Source: Weaver, Terpstra, Moore, "Non-determinism and overcount on modern hardware performance counter
// implementations" (ISPASS 2013, extended in 2021): the last part of the kernel's return instruction retires in user
// mode.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tally/core/count/count.hpp"

namespace tally {

/// The number of events that one page fault adds, from two counts of the same work: with `faults` page faults (cold)
/// and without (warm). Returns nothing unless the difference is the same whole number for each fault, within faults /
/// 8: an interrupt came between, or this PMU counts something else.
std::optional<std::int64_t> added_by_each(std::int64_t cold, std::int64_t warm, std::int64_t faults);

/// The correction of a count to which each page fault and interrupt added `each`. Returns nothing unless all three were
/// counted all the time.
std::optional<Correction> correction_of(const Count& raw, std::int64_t each, const Count& page_faults,
                                        const std::optional<Count>& interrupts);

/// The correction of a series' median: the medians of its parts, rounded down. Returns nothing if a count has no
/// correction or another `each`.
std::optional<Correction> median_correction(const std::vector<Count>& series);

}  // namespace tally
