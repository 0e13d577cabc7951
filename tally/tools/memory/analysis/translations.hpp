// The rows of translation buffers in a report.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tally/output/result/memory.hpp"
#include "tally/tools/memory/analysis/geometry.hpp"

namespace tally::memory {

/// What is known beside the counts.
struct TranslationWitness {
  std::uint64_t page_bytes = 4096;
  std::uint64_t huge_bytes = 2 << 20;
  std::string suggested_options{};  ///< options that would show more, as suggested_options() has them
};

/// The first translation buffer with pages of the kind that was asked for; nothing known where it was not seen.
FirstTranslations first_translations(const TlbHits& base, const std::optional<TlbHits>& asked,
                                     const TranslationWitness& how);

/// A row for the first translation buffer, unseen where no number of pages is slower than as many lines side by side,
/// and one for the second, where it showed. A row has ways and sets only where its grade is better than low; its reason
/// says by what pages of the kind that was asked for (`asked`, `asked_name`) are translated. None where nothing was
/// measured.
std::vector<result::MemoryTlb> translation_rows(const TlbHits& base, const std::optional<TlbHits>& asked,
                                                std::string_view asked_name, const TranslationWitness& how);

}  // namespace tally::memory
