// A channel as engines leave it, to test how counts are collected after a program has overwritten it: for the test and
// the fuzzer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tally/counting/backend/engine/run.hpp"

namespace tally::backend::engine {

/// The channel of a finished run: a program with two threads, its forked child, and what the child executed.
class Scribbled {
 public:
  Scribbled();

  /// Overwrites bytes. `data` encodes where, how many, and with what.
  void scribble(const std::uint8_t* data, std::size_t size);

  /// Collects the counts, and returns in words what is wrong with them; empty if each count is correct or not marked as
  /// exact.
  std::string complaint() const;

  const Channel& channel() const { return shared_; }

 private:
  void add_process(std::uint32_t number, std::uint32_t forked_from);
  void add_thread(std::uint32_t number, std::uint32_t process);

  Channel shared_;
  std::string settings_;
};

}  // namespace tally::backend::engine
