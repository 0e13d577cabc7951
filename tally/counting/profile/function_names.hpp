// Finds functions of files by the names that profiles print.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tally/counting/profile/code_names.hpp"
#include "tally/linux/symbol/names.hpp"

namespace tally::profile {

/// Finds functions by the names of CodeNames, which include those of debug files and "puts@plt". Keeps the names of the
/// last files.
class FunctionNames {
 public:
  /// Returns the functions of this name, with or without parameters; none if the file cannot be read. Cost: that of
  /// CodeNames::open() for another file than the last ones.
  std::vector<symbol::SymbolMatch> find(const std::string& path, const std::string& name);

 private:
  const CodeNames* names_of(const std::string& path);

  std::vector<std::pair<std::string, std::unique_ptr<CodeNames>>> files_;  // the last one first; null: unreadable
};

}  // namespace tally::profile
