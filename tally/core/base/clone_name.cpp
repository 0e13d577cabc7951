#include "tally/core/base/clone_name.hpp"

#include <algorithm>
#include <optional>

namespace tally {
namespace {

/// A suffix, with a number after it: always, or for some versions of a compiler.
struct Suffix {
  std::string_view word;
  CloneKind kind;
  bool is_distinct = false, may_lack_number = false;
};

// gcc: ipa-cp, ipa-sra, fnsplit, bb-reorder, LTO. clang: ThinLTO, -funique-internal-linkage-names, machine function
// splitting, basic block sections.
constexpr Suffix suffixes[] = {{".constprop", CloneKind::copy},    {".isra", CloneKind::copy},
                               {".part", CloneKind::part},         {".cold", CloneKind::fragment, false, true},
                               {".__part", CloneKind::fragment},   {".llvm", CloneKind::copy, true},
                               {".__uniq", CloneKind::copy, true}, {".lto_priv", CloneKind::copy, true}};

/// Returns the suffix at the end of a name, and where it begins. A name does not consist of a suffix alone.
const Suffix* suffix_at_end(std::string_view name, std::size_t& begin) {
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  const bool has_number = digits < name.size() && digits > 0 && name[digits - 1] == '.';
  const std::string_view text = has_number ? name.substr(0, digits - 1) : name;
  for (const Suffix& suffix : suffixes) {
    if (!text.ends_with(suffix.word) || text.size() == suffix.word.size()) continue;
    if (!has_number && !suffix.may_lack_number) continue;
    begin = text.size() - suffix.word.size();
    return &suffix;
  }
  return nullptr;
}

/// Removes the suffixes at the end of a name.
void remove_suffixes(CloneName& from, std::string& distinct) {
  std::size_t begin = 0;
  while (const Suffix* const suffix = suffix_at_end(from.function, begin)) {
    if (suffix->is_distinct) distinct.insert(0, from.function.substr(begin));
    from.kind = std::max(from.kind, suffix->kind);
    from.function = from.function.substr(0, begin);
  }
}

}  // namespace

CloneName clone_name(std::string_view name) {
  CloneName split{.function = name};
  std::string distinct;
  remove_suffixes(split, distinct);
  // A demangler writes " [clone .isra.0]" for each suffix, or for several.
  constexpr std::string_view mark = " [clone";
  while (split.function.ends_with(']')) {
    const std::size_t at = split.function.rfind(mark);
    if (at == std::string_view::npos || at == 0) break;
    const std::size_t begin = at + mark.size();
    CloneName inside{.function = split.function.substr(begin, split.function.size() - begin - 1)};
    remove_suffixes(inside, distinct);
    if (inside.function != " " || inside.kind == CloneKind::none) break;
    split.kind = std::max(split.kind, inside.kind);
    split.function = split.function.substr(0, at);
  }
  split.distinct = std::string(split.function) + distinct;
  return split;
}

std::string without_abi_tags(std::string_view name) {
  std::string left(name);
  for (std::size_t at = 0; (at = left.find("[abi:", at)) != std::string::npos;)
    left.erase(at, std::min(left.find(']', at), left.size() - 1) + 1 - at);
  return left;
}

}  // namespace tally
