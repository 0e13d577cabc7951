#include "tally/linux/process/replayed_input.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <string>

#include "tally/linux/process/start_state.hpp"
#include "tally/linux/process/worker_thread.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::linux {

struct ReplayedInput::Source {
  Descriptor stream;
  std::mutex mutex;
  std::string bytes;  // that were read
  bool ended = false;

  /// Returns what follows `at` and was read, at most a few bytes. Reads if there is nothing and the stream has some.
  std::string next(std::size_t at, bool is_readable) {
    const std::lock_guard lock(mutex);
    pollfd ready{stream.get(), POLLIN, 0};
    // Another thread may have read what was there.
    if (is_readable && at == bytes.size() && !ended && poll(&ready, 1, 0) > 0) {
      std::array<char, 4096> more;
      const ssize_t size = retry([&] { return ::read(stream.get(), more.data(), more.size()); });
      ended = size <= 0;
      if (!ended) bytes.append(more.data(), static_cast<std::size_t>(size));
    }
    return bytes.substr(at, 4096);
  }

  bool is_at_end(std::size_t at) {
    const std::lock_guard lock(mutex);
    return ended && at == bytes.size();
  }

  /// Writes everything into a pipe, until that has no reader.
  void write_into(const Descriptor& pipe) {
    std::size_t at = 0;
    bool is_readable = false;
    while (!is_at_end(at)) {
      const std::string bytes = next(at, is_readable);
      if (bytes.empty()) {
        std::array<pollfd, 2> waiting{pollfd{stream.get(), POLLIN, 0}, pollfd{pipe.get(), 0, 0}};
        if (retry([&] { return poll(waiting.data(), waiting.size(), -1); }) < 0 || waiting[1].revents != 0) return;
        is_readable = waiting[0].revents != 0;
        continue;
      }
      // SIGPIPE is blocked in this thread.
      const ssize_t size = retry([&] { return ::write(pipe.get(), bytes.data(), bytes.size()); });
      if (size < 0) return;
      at += static_cast<std::size_t>(size);
    }
  }
};

std::shared_ptr<ReplayedInput> ReplayedInput::of_standard_input() {
  const std::string kind = kind_of_stream(STDIN_FILENO);
  if (kind != "pipe" && kind != "socket") return nullptr;
  auto input = std::make_shared<ReplayedInput>();
  input->source_ = std::make_shared<Source>();
  input->source_->stream = Descriptor(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  return input->source_->stream ? input : nullptr;
}

Descriptor ReplayedInput::replay() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  worker_thread([source = source_, end = std::make_shared<Descriptor>(ends[1])] { source->write_into(*end); }).detach();
  return Descriptor(ends[0]);
}

}  // namespace tally::linux
