// Names of the copies and parts of a function that compilers make: "helper.constprop.0", "helper.cold".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tally {

/// What a compiler made of a function.
enum class CloneKind : std::uint8_t {
  none,      ///< the function itself
  copy,      ///< another whole function: ".constprop.0", ".isra.0", ".llvm.1234"
  part,      ///< a part that also callers of the function may call: ".part.0"
  fragment,  ///< a part that only the function itself jumps to: ".cold", ".__part.3"
};

/// The name of a copy or part, as in a symbol table ("helper.isra.0.cold") or demangled ("f(int) [clone .cold]").
struct CloneName {
  std::string_view function;  ///< "helper": the name without all such suffixes
  /// `function` with the suffixes that distinguish functions of one name: ".llvm.1234", ".__uniq.5", ".lto_priv.0".
  std::string distinct = {};
  CloneKind kind = CloneKind::none;
};

/// Splits a name. `function` is part of `name`. Pure.
CloneName clone_name(std::string_view name);

/// Returns a demangled name without tags such as "[abi:cxx11]", which functions have that return std::string.
std::string without_abi_tags(std::string_view name);

}  // namespace tally
