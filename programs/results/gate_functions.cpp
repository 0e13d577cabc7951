#include "programs/results/gate_functions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tally/core/base/clone_name.hpp"
#include "tally/core/base/text.hpp"
#include "tally/linux/files/code_files.hpp"
#include "tally/linux/symbol/elf_functions.hpp"
#include "tally/linux/symbol/names.hpp"
#include "tally/output/analysis/profile_names.hpp"
#include "tally/tools/windows/region_options.hpp"

namespace tally::results {
namespace {

// Whether the name is that of several functions in the file, as `tally stat` finds them.
bool is_ambiguous(const std::string& file, const std::string& name) {
  const auto bytes = linux::FileBytes::of(file);
  const auto elf = bytes ? symbol::read_elf(bytes->bytes()) : fail(bytes.error());
  if (!elf) return false;
  auto matches = symbol::find(*elf, name);
  if (matches.empty()) matches = windows::function_finder()(file, name);
  return symbol::ambiguity(matches, name, file).has_value();
}

}  // namespace

std::vector<std::string> function_options(const std::vector<output::Gate>& gates, const result::Profile& profile) {
  std::vector<std::string> options;
  for (const output::Gate& limit : gates) {
    std::vector<std::string> names;
    bool has_one_name = true, can_count = true;
    for (const result::ProfileFunction& function : profile.functions) {
      if (function.address == 0 || function.entered == 0 || !output::is_called(function.name, limit.function)) continue;
      const std::string& file = profile.objects[function.object].name;
      std::string name(clone_name(function.name).function);
      has_one_name = has_one_name && !is_ambiguous(file, limit.function);
      can_count = can_count && !is_ambiguous(file, name);
      if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
    }
    if (!names.empty() && has_one_name)
      names = {limit.function};
    else if (!can_count)
      names.clear();
    for (const std::string& name : names)
      if (std::ranges::find(options, name) == options.end()) options.insert(options.end(), {"--function", name});
  }
  return options;
}

std::vector<std::string> missing_functions(const std::vector<output::Gate>& gates, const output::Comparable& baseline,
                                           const std::string& benchmark) {
  std::vector<std::string> sentences;
  for (const output::Gate& limit : gates)
    if (const auto function = output::check_function(limit, baseline, "the baseline"); !function)
      sentences.push_back(
          fmt::format("'{}': {}: {}", printable(benchmark), function.error().message, function.error().hint));
  return sentences;
}

}  // namespace tally::results
