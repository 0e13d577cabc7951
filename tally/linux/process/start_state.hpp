// What a program inherits from this process and may read: working directory, environment, standard streams.
#pragma once

#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/linux/descriptor.hpp"
#include "tally/linux/process/replayed_input.hpp"

namespace tally::linux {

struct StartState {
  std::string directory;                 ///< the working directory; empty: unknown
  std::vector<std::string> environment;  ///< "NAME=value", in their order
  std::vector<std::string> streams;      ///< kinds of standard input, output and error: see kind_of_stream()
};

/// Returns that of this process.
StartState start_state();

/// "file", "pipe", "socket", "terminal", "null" (/dev/null), "device", or "closed".
std::string kind_of_stream(int fd);

/// During its lifetime, programs that this process starts inherit another state. Their output is discarded. One at a
/// time, and no other thread may read the environment meanwhile.
class OtherStartState {
 public:
  /// Output and error get streams of the same kind as in `state`; a terminal becomes /dev/null. Standard input is
  /// `input`, from its beginning, or stays if that is null. Errors: cannot_measure if the directory is missing or a
  /// stream cannot be made.
  static Result<OtherStartState> hold(const StartState& state, ReplayedInput* input = nullptr);

  OtherStartState(OtherStartState&& other) noexcept;
  OtherStartState& operator=(OtherStartState&&) = delete;
  ~OtherStartState();

 private:
  OtherStartState() = default;
  static Result<void> replace(int fd, const std::string& kind);

  bool held_ = true;
  std::string directory_;
  std::vector<std::string> words_;
  std::vector<char*> environment_;
  char** own_environment_ = nullptr;
  Descriptor input_, output_, error_;  // tally's own
};

}  // namespace tally::linux
