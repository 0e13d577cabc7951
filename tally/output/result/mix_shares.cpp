#include "tally/output/result/mix_shares.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tally/core/base/text.hpp"

namespace tally::result {
namespace {

using Shares = std::vector<InstructionMix::Share>;

Shares by_count(const std::map<std::string, std::int64_t>& counts) {
  Shares shares;
  for (const auto& [name, count] : counts) shares.push_back({name, count});
  std::stable_sort(shares.begin(), shares.end(), [](const auto& a, const auto& b) { return a.count > b.count; });
  return shares;
}

/// Zydis's "COND_BR" as "cond-br".
std::string category_name(const std::string& category) {
  std::string name = lower(category);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::string width_name(int bits) { return bits == 0 ? "no vector register" : fmt::format("{} bits", bits); }

std::string access_name(int bits) { return bits == 0 ? "variable" : fmt::format("{} bits", bits); }

}  // namespace

InstructionMix mix_of(const FormCounts& executions, const std::vector<CodeForm>& forms) {
  InstructionMix mix;
  std::map<std::string, std::int64_t> categories, widths, names, loads, stores;
  for (const auto& [number, count] : executions) {
    mix.instructions += count;
    if (number == 0 || number > forms.size()) {
      mix.unknown += count;
      continue;
    }
    if (count == 0) continue;
    const CodeForm& form = forms[number - 1];
    categories[category_name(form.category)] += count;
    widths[width_name(form.width)] += count;
    names[form.name] += count;
    if (form.loads != 0) loads[access_name(form.load_bits)] += count * form.loads;
    if (form.stores != 0) stores[access_name(form.store_bits)] += count * form.stores;
    if (form.is_vector) mix.vector += count;
    if (form.is_fp) mix.fp += count;
    if (form.is_fp && form.is_vector) mix.fp_vector += count;
  }
  mix.categories = by_count(categories);
  mix.widths = by_count(widths);
  mix.names = by_count(names);
  mix.loads = by_count(loads);
  mix.stores = by_count(stores);
  return mix;
}

InstructionMix mix_of(const CodeCounts& code) {
  FormCounts executions;
  std::int64_t placed = 0;
  for (const CodeRow& row : code.rows) {
    executions[row.form] += row.executions;
    placed += row.executions;
  }
  if (code.executed > placed) executions[0] += code.executed - placed;
  return mix_of(executions, code.forms);
}

}  // namespace tally::result
