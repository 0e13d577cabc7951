// The function and the line of source of a window's address.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "tally/counting/profile/code_names.hpp"
#include "tally/output/result/code.hpp"
#include "tally/output/result/windows.hpp"

namespace tally::cli {

/// Looks each file's names up once. A file that was replaced since has none.
class WindowNames {
 public:
  /// Fills the window's function and line, as far as they are known. The words are valid until the next call.
  void name(result::Window& window);

 private:
  const profile::CodeNames* names_of(const result::CodeFile& file);

  // By path, inode, time of modification and build id.
  std::map<std::tuple<std::string, std::uint64_t, std::int64_t, std::string>, std::unique_ptr<profile::CodeNames>>
      files_;
  std::string function_, line_;
};

}  // namespace tally::cli
