// A channel as engines leave it, and what becomes of its counts when somebody writes over it: for the test and the
// fuzzer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tally/counting/backend/engine/run.hpp"

namespace tally::backend::engine {

/// The channel of a run that has ended: a program with two threads, its child by a fork, and what that executed.
class Scribbled {
 public:
  Scribbled();

  /// Changes bytes as `data` says: where, how many, and how.
  void scribble(const std::uint8_t* data, std::size_t size);

  /// Asks for its counts. What is wrong with them, given what the programs did, as words; empty where nothing is: each
  /// is right, or it is not told as exact.
  std::string complaint() const;

  const Channel& channel() const { return shared_; }

 private:
  void add_process(std::uint32_t number, std::uint32_t forked_from);
  void add_thread(std::uint32_t number, std::uint32_t process);

  Channel shared_;
  std::string settings_;
};

}  // namespace tally::backend::engine
