// The rows of translation buffers in a report.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "programs/memory/analysis/geometry.hpp"
#include "tally/output/result/memory_result.hpp"

namespace tally::memory {

/// Page sizes, and options to suggest.
struct TranslationWitness {
  std::uint64_t page_bytes = 4096;
  std::uint64_t huge_bytes = 2 << 20;
  std::string suggested_options{};  ///< options for a more thorough run, from suggested_options()
};

/// The first translation buffer with pages of the requested kind; default values if it was not seen.
FirstTranslations first_translations(const TlbHits& base, const std::optional<TlbHits>& asked,
                                     const TranslationWitness& how);

/// A row for the first translation buffer, marked unseen if no number of pages is slower than as many adjacent lines,
/// and one for the second if it showed. A row has ways and sets only if its grade is above low; its reason says which
/// page size translates pages of the requested kind (`asked`, `asked_name`). Empty if nothing was measured.
std::vector<result::MemoryTlb> translation_rows(const TlbHits& base, const std::optional<TlbHits>& asked,
                                                std::string_view asked_name, const TranslationWitness& how);

}  // namespace tally::memory
