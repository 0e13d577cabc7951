// Measures translation buffers, for the report and for a task of its own.
#pragma once

#include <optional>
#include <vector>

#include "programs/memory/analysis/geometry.hpp"
#include "programs/memory/runner.hpp"
#include "tally/output/result/memory_result.hpp"

namespace tally::memory {

/// Measurements with base pages, and with the plan's pages if they differ.
struct Translations {
  TlbHits base;
  std::optional<TlbHits> asked;
};

/// Measures each kind in as many mappings as the plan says. Errors: no memory.
Result<Translations> measure_translations(Runner& runner);

/// The first translation buffer with pages of the plan's kind; default values if it was not seen.
FirstTranslations first_translations(const Translations& translations, const Runner& runner);

/// The result rows, with their grades.
std::vector<result::MemoryTlb> rows_of(const Translations& translations, const Runner& runner);

}  // namespace tally::memory
