#include "programs/memory/measure_translations.hpp"

#include "programs/memory/analysis/translations.hpp"
#include "programs/memory/controls.hpp"
#include "programs/memory/rows.hpp"
#include "tally/linux/machine/pages.hpp"

namespace tally::memory {
namespace {

TranslationWitness witness_of(const Runner& runner) {
  return {.page_bytes = linux::page_bytes(), .suggested_options = suggested_options(circumstances(runner))};
}

}  // namespace

Result<Translations> measure_translations(Runner& runner) {
  const Plan& plan = runner.plan();
  auto base = tlb_hits(runner, linux::PageKind::small, plan.mappings);
  if (!base) return fail(base.error());
  Translations all{*std::move(base), {}};
  if (plan.pages == linux::PageKind::small || !plan.file.empty()) return all;
  auto asked = tlb_hits(runner, plan.pages, plan.mappings);
  if (!asked) return fail(asked.error());
  all.asked = *std::move(asked);
  return all;
}

FirstTranslations first_translations(const Translations& translations, const Runner& runner) {
  return first_translations(translations.base, translations.asked, witness_of(runner));
}

std::vector<result::MemoryTlb> rows_of(const Translations& translations, const Runner& runner) {
  return translation_rows(translations.base, translations.asked, name(runner.plan().pages), witness_of(runner));
}

}  // namespace tally::memory
