#include "programs/memory/analysis/translations.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "programs/memory/analysis/size_text.hpp"
#include "tally/core/base/text.hpp"

namespace tally::memory {
namespace {

using result::Grade;
using result::MemoryTlb;

MemoryTlb graded(const TlbGeometry& geometry, const TlbHits& hits, bool huge_agree,
                 const std::string& suggested_options) {
  MemoryTlb tlb;
  tlb.name = "DTLB";
  tlb.entries = static_cast<std::int64_t>(geometry.entries);
  tlb.granule_bytes = static_cast<std::int64_t>(geometry.granule_bytes);
  tlb.penalty_ns = hits.penalty_ns;
  TlbTrust trust = trust_in(geometry, hits.hits, hits.again, huge_agree);
  tlb.grade = trust.grade;
  tlb.because = std::move(trust.because);
  if (tlb.grade == Grade::low) tlb.because += "; " + suggested_options + " measures more often";
  if (!geometry.ways || trust.grade == Grade::low) return tlb;
  tlb.ways = static_cast<std::int64_t>(*geometry.ways);
  tlb.sets = static_cast<std::int64_t>(*geometry.sets);
  return tlb;
}

MemoryTlb unseen(const TlbHits& base, const TranslationWitness& how) {
  MemoryTlb tlb;
  tlb.name = "DTLB";
  tlb.unseen = true;
  tlb.granule_bytes = static_cast<std::int64_t>(how.page_bytes);
  const HitCount& narrow = base.hits.front();
  tlb.because = narrow.lines == 0
                    ? "not seen: even single pages were slower; perhaps something else runs on this core; " +
                          how.suggested_options + " measures more often"
                    : fmt::format("not seen: {} lines in separate pages are as fast as adjacent ones", narrow.lines);
  return tlb;
}

}  // namespace

FirstTranslations first_translations(const TlbHits& base, const std::optional<TlbHits>& asked,
                                     const TranslationWitness& how) {
  if (base.penalty_ns <= 0) return {};
  const bool own = asked && !asked->hits.empty();
  const TlbGeometry geometry = own ? tlb_geometry(asked->hits, base.hits, how.page_bytes, how.huge_bytes)
                                   : tlb_geometry(base.hits, {}, how.page_bytes, 0);
  // The cost of a miss was measured with base pages; with huge pages it differs.
  const bool is_base = geometry.granule_bytes <= how.page_bytes;
  return {static_cast<double>(geometry.entries * geometry.granule_bytes), is_base ? base.penalty_ns : 0};
}

std::vector<MemoryTlb> translation_rows(const TlbHits& base, const std::optional<TlbHits>& asked,
                                        std::string_view asked_name, const TranslationWitness& how) {
  if (base.hits.empty()) return {};
  const TlbGeometry geometry = tlb_geometry(base.hits, {}, how.page_bytes, 0);
  if (geometry.entries == 0 || base.penalty_ns <= 0) return {unseen(base, how)};
  std::string pages;
  bool huge_agree = false;
  if (asked && !asked->hits.empty()) {
    const TlbGeometry reached = tlb_geometry(asked->hits, base.hits, how.page_bytes, how.huge_bytes);
    huge_agree = reached.granule_bytes > geometry.granule_bytes || reached.entries == geometry.entries;
    pages = fmt::format("; {} pages ({}) are translated by {}", asked_name, asked->pages_got,
                        size_text(reached.granule_bytes));
  }
  std::vector<MemoryTlb> rows{graded(geometry, base, huge_agree, how.suggested_options)};
  rows.back().because += pages;
  if (base.second_entries) {
    MemoryTlb second;
    second.name = "second DTLB";
    second.entries = static_cast<std::int64_t>(*base.second_entries);
    second.granule_bytes = static_cast<std::int64_t>(how.page_bytes);
    second.penalty_ns = base.second_penalty_ns;
    second.because = "measured at one distance only; page-table caches change it";
    rows.push_back(std::move(second));
  }
  return rows;
}

}  // namespace tally::memory
