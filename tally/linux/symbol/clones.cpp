#include "tally/linux/symbol/clones.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "tally/core/base/clone_name.hpp"

namespace tally::symbol {
namespace {

/// The functions of one name that are no clones.
using Candidates = std::vector<const CloneSymbol*>;

const CloneSymbol* function_of_clone(const CloneSymbol& clone, const CloneName& name, const Candidates& all) {
  const auto in_unit = [&](std::uint32_t unit) {
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const CloneSymbol* symbol) { return symbol->unit == unit; });
    return found == all.end() ? nullptr : *found;
  };
  const bool is_distinct = name.distinct.size() != name.function.size();
  // A distinct name is that of another function of the same name, unless one source file has both. With LTO a unit has
  // functions of several source files.
  if (is_distinct && name.distinct.find(".lto_priv.") != std::string::npos) return nullptr;
  if (const CloneSymbol* const same = clone.unit == 0 ? nullptr : in_unit(clone.unit)) return same;
  if (is_distinct || all.empty()) return nullptr;
  if (const CloneSymbol* const visible = in_unit(0)) return visible;
  return all.size() == 1 ? all.front() : nullptr;
}

}  // namespace

std::vector<std::uint64_t> functions_of_clones(const std::vector<CloneSymbol>& symbols) {
  std::vector<std::pair<std::size_t, CloneName>> clones;
  std::unordered_map<std::string_view, Candidates> functions;  // of which there are clones
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    CloneName name = clone_name(symbols[i].name);
    if (name.kind == CloneKind::none) continue;
    functions.try_emplace(name.function);
    clones.emplace_back(i, std::move(name));
  }
  std::vector<std::uint64_t> found(symbols.size());
  if (clones.empty()) return found;
  for (const CloneSymbol& symbol : symbols)
    if (const auto place = functions.find(symbol.name); place != functions.end()) place->second.push_back(&symbol);
  std::map<std::pair<std::string, std::uint32_t>, std::vector<std::size_t>> groups;  // without the function itself
  for (const auto& [i, name] : clones) {
    if (const CloneSymbol* const function = function_of_clone(symbols[i], name, functions[name.function]))
      found[i] = function->address;
    else
      groups[{name.distinct, symbols[i].unit}].push_back(i);
  }
  for (const auto& [key, members] : groups) {
    std::uint64_t first = 0;
    for (const std::size_t i : members)
      if (clone_name(symbols[i].name).kind != CloneKind::fragment && (first == 0 || symbols[i].address < first))
        first = symbols[i].address;
    for (const std::size_t i : members) found[i] = first;
  }
  return found;
}

}  // namespace tally::symbol
