// Waiting for descriptors of which one ends the waiting.
#pragma once

#include <span>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/linux/descriptor.hpp"

namespace tally::linux {

/// What ends another thread's waiting. Moves, never copies.
class Doorbell {
 public:
  /// Errors: cannot_measure.
  static Result<Doorbell> make();

  /// The waiting ends, and every later one.
  void ring() const;

  /// Waits until one of the descriptors is readable, the bell rings (false then), or so many milliseconds have passed.
  /// One that is hung up is left out from then on.
  bool wait(std::vector<int>& descriptors, int milliseconds) const;

 private:
  explicit Doorbell(Descriptor bell) : bell_(std::move(bell)) {}
  Descriptor bell_;  // an eventfd
};

}  // namespace tally::linux
