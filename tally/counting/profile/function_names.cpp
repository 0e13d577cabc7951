#include "tally/counting/profile/function_names.hpp"

namespace tally::profile {

std::vector<symbol::SymbolMatch> FunctionNames::find(const std::string& path, const std::string& name) {
  if (path != path_) {
    auto names = CodeNames::open(path);
    names_ = names ? *std::move(names) : nullptr;
    path_ = path;
  }
  std::vector<symbol::SymbolMatch> found;
  if (names_ == nullptr) return found;
  for (const NamedCode& one : names_->functions())
    if (one.name == name || one.linker_name == name || symbol::without_parameters(one.name) == name)
      found.push_back({one.name, one.address, false, true, one.linker_name});
  return found;
}

}  // namespace tally::profile
