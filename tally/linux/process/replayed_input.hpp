// Lets several programs, one after the other, read the same from a pipe.
#pragma once

#include <memory>

#include "tally/linux/descriptor.hpp"

namespace tally::linux {

/// Standard input of this process, if it is a pipe or a socket. tally reads no more of it than a program asks for.
class ReplayedInput {
 public:
  /// Returns null if standard input is anything else.
  static std::shared_ptr<ReplayedInput> of_standard_input();

  /// Returns the end of a new pipe that has everything from the beginning. No descriptor on failure.
  Descriptor replay();

 private:
  struct Source;
  std::shared_ptr<Source> source_;  // shared with the threads that write into the pipes
};

}  // namespace tally::linux
