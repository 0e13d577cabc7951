// The interface by which models report the current instruction.
#pragma once

#include <cstdint>

namespace tally::models {

class Observer {
 public:
  /// Attributes what the models have counted since the last call to the instruction at `site`: its address, or
  /// channel::code_site().
  virtual void stepped(std::uint64_t site) = 0;

 protected:
  ~Observer() = default;
};

}  // namespace tally::models
