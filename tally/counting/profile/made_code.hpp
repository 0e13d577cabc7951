// Names of code that a process generates at run time, from the map or dump that it writes for perf.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "tally/counting/profile/code_names.hpp"
#include "tally/linux/files/perf_map.hpp"

namespace tally::profile {

class MadeCode {
 public:
  explicit MadeCode(const linux::MapOf& of);

  /// Returns the name for an address; null if there is none.
  const NamedCode* at(std::uint64_t address) const;

  /// Returns why the map or the dump was not used; empty if it was, or there is none.
  const std::string& refused() const { return refused_; }

 private:
  void add_map(const std::string& text);
  void add_dump(std::string_view bytes, std::int64_t pid);

  std::map<std::uint64_t, NamedCode> named_;  // the last entry for each address
  std::string refused_;
};

}  // namespace tally::profile
