// What page faults and interrupts add to a count of instructions or branches, and how it is taken off. Pure.
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

/// What one page fault adds, out of two counts of the same work: with so many faults (cold), and without (warm).
/// Nothing where they do not differ by the same whole number for each fault, up to an eighth of them: an interrupt came
/// between, or this PMU counts something else.
std::optional<std::int64_t> added_by_each(std::int64_t cold, std::int64_t warm, std::int64_t faults);

/// The correction of a count to which each fault and each interrupt added `each`. Nothing unless all of them were
/// counted all the time.
std::optional<Correction> correction_of(const Count& raw, std::int64_t each, const Count& page_faults,
                                        const std::optional<Count>& interrupts);

/// The correction of a series' median: the medians of its parts, rounded down. Nothing where one of the series has
/// none, or another `each`.
std::optional<Correction> median_correction(const std::vector<Count>& series);

}  // namespace tally
