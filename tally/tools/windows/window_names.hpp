// Finds the function and source line of a window's address.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "tally/counting/profile/code_names.hpp"
#include "tally/counting/profile/made_code.hpp"
#include "tally/linux/machine/time_stamp.hpp"
#include "tally/output/result/code_values.hpp"
#include "tally/output/result/windows_result.hpp"

namespace tally::windows {

/// Reads the names of each file once. A file that was replaced after the measurement has none.
class WindowNames {
 public:
  /// Sets the window's function and line, if they are known. The texts are valid until the next call.
  void name(result::Window& window);

 private:
  const profile::NamedCode* generated_at(const result::Window& window);
  const profile::CodeNames* names_of(const result::CodeFile& file);

  // By path, inode, modification time and build ID.
  std::map<std::tuple<std::string, std::uint64_t, std::int64_t, std::string>, std::unique_ptr<profile::CodeNames>>
      files_;
  std::map<std::int64_t, profile::MadeCode> generated_;  // by process ID
  Nanoseconds read_{0};                                  // when a map was last read
  const Nanoseconds began_ = linux::time_since_1970();
  std::string function_, line_;
};

}  // namespace tally::windows
