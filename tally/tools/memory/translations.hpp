// Measuring translation buffers: for the report, and alone.
#pragma once

#include <optional>
#include <vector>

#include "tally/output/result/memory.hpp"
#include "tally/tools/memory/analysis/geometry.hpp"
#include "tally/tools/memory/runner.hpp"

namespace tally::memory {

/// What pages showed of translation buffers: base pages, and those of the plan where they are others.
struct Translations {
  TlbHits base;
  std::optional<TlbHits> asked;
};

/// As many mappings of each as the plan says. Errors: no memory.
Result<Translations> measure_translations(Runner& runner);

/// The first translation buffer with pages of the plan's kind; nothing known where it was not seen.
FirstTranslations first_translations(const Translations& translations, const Runner& runner);

/// Their rows, with their grades.
std::vector<result::MemoryTlb> rows_of(const Translations& translations, const Runner& runner);

}  // namespace tally::memory
