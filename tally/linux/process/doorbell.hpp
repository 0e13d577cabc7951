// Waits for descriptors until another thread ends the wait.
#pragma once

#include <span>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/linux/descriptor.hpp"

namespace tally::linux {

/// Ends another thread's wait. Can be moved, not copied.
class Doorbell {
 public:
  /// Errors: cannot_measure.
  static Result<Doorbell> make();

  /// Ends the current wait and every later one.
  void ring() const;

  /// Waits until one of the descriptors is readable, ring() is called (then returns false), or the timeout has passed.
  /// A descriptor whose peer has closed becomes −1.
  bool wait(std::vector<int>& descriptors, int milliseconds) const;

 private:
  explicit Doorbell(Descriptor bell) : bell_(std::move(bell)) {}
  Descriptor bell_;  // an eventfd
};

}  // namespace tally::linux
