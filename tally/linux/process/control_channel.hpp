// Commands that another program sends while tally counts: the protocol of `perf stat --control`.
#pragma once

#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/linux/descriptor.hpp"

namespace tally::linux {

/// Receives commands, each a line that ends with a line break or a zero byte, and acknowledges them. Can be moved, not
/// copied.
class ControlChannel {
 public:
  /// Opens the channel that `text` names: "fd:N" or "fd:N,M" for open descriptors of this process, "fifo:PATH" or
  /// "fifo:PATH,PATH" for named pipes; the second one is for acknowledgements. The program that tally starts inherits
  /// descriptors, but not named pipes. Errors: bad_usage.
  static Result<ControlChannel> open(const std::string& text);

  /// Readable while a command waits; −1 once nobody can send any more.
  int fd() const { return ended_ ? -1 : commands_; }

  /// Takes all complete commands that wait. Never blocks.
  std::vector<std::string> take();

  /// Reports to the sender that its command was carried out; does nothing without a second descriptor.
  void acknowledge() const;

 private:
  ControlChannel() = default;

  Descriptor owned_[2];
  int commands_ = -1, answers_ = -1;
  std::string begun_;  // a command without its end
  bool ended_ = false;
};

}  // namespace tally::linux
