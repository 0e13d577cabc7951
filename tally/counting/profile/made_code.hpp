// Names of code that a process makes while it runs, by the map that it wrote for perf.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tally/counting/profile/code_names.hpp"
#include "tally/linux/files/perf_map.hpp"

namespace tally::profile {

class MadeCode {
 public:
  explicit MadeCode(const linux::MapOf& of);

  /// Null where nothing is said of the address.
  const NamedCode* at(std::uint64_t address) const;

  /// Why there are no names though there is a map; else empty.
  const std::string& refused() const { return refused_; }

 private:
  std::map<std::uint64_t, NamedCode> named_;  // what was said last of an address
  std::string refused_;
};

}  // namespace tally::profile
