#include "tally/counting/profile/function_names.hpp"

#include <algorithm>

#include "tally/core/base/clone_name.hpp"
#include "tally/output/analysis/profile_names.hpp"

namespace tally::profile {

const CodeNames* FunctionNames::names_of(const std::string& path) {
  constexpr std::size_t kept = 3;
  auto known = std::find_if(files_.begin(), files_.end(), [&](const auto& file) { return file.first == path; });
  if (known == files_.end()) {
    auto names = CodeNames::open(path);
    files_.emplace(files_.begin(), path, names ? *std::move(names) : nullptr);
    if (files_.size() > kept) files_.pop_back();
    return files_.front().second.get();
  }
  std::rotate(files_.begin(), known, known + 1);
  return files_.front().second.get();
}

std::vector<symbol::SymbolMatch> FunctionNames::find(const std::string& path, const std::string& name) {
  std::vector<symbol::SymbolMatch> found;
  const CodeNames* const names = names_of(path);
  if (names == nullptr) return found;
  for (const NamedCode& code : names->functions()) {
    const CloneName whole = clone_name(code.name), linker_name = clone_name(code.linker_name);
    if (code.name == name || code.linker_name == name) {
      const bool is_chosen_late = code.name != name && code.name.ends_with(ifunc_suffix);
      found.push_back({code.name, code.address, is_chosen_late, true, code.linker_name});
    } else if (std::max(whole.kind, linker_name.kind) != CloneKind::fragment &&
               (output::is_called(code.name, name) || linker_name.function == name ||
                symbol::without_parameters(whole.function) == name)) {
      found.push_back({std::string(whole.function), code.address, false, true, linker_name.distinct, code.clone_of});
    }
  }
  return found;
}

}  // namespace tally::profile
