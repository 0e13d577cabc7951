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

}  // namespace

InstructionMix mix_of(const CodeCounts& code) {
  std::vector<std::int64_t> of_form(code.forms.size());
  InstructionMix mix;
  for (const CodeRow& row : code.rows) {
    mix.instructions += row.executions;
    (row.form == 0 || row.form > of_form.size() ? mix.unknown : of_form[row.form - 1]) += row.executions;
  }
  std::map<std::string, std::int64_t> categories, widths, names;
  for (std::size_t i = 0; i < code.forms.size(); ++i) {
    if (of_form[i] == 0) continue;
    categories[category_name(code.forms[i].category)] += of_form[i];
    widths[width_name(code.forms[i].width)] += of_form[i];
    names[code.forms[i].name] += of_form[i];
  }
  mix.categories = by_count(categories);
  mix.widths = by_count(widths);
  mix.names = by_count(names);
  return mix;
}

}  // namespace tally::result
