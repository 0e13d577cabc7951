// Whom models tell which instruction they are at.
#pragma once

#include <cstdint>

namespace tally::models {

class Observer {
 public:
  /// What the models have counted since the last call is of the instruction at `site`: its address, or
  /// channel::code_site().
  virtual void stepped(std::uint64_t site) = 0;

 protected:
  ~Observer() = default;
};

}  // namespace tally::models
