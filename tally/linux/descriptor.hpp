// A file descriptor that closes itself.
#pragma once

#include <unistd.h>

#include <utility>

namespace tally::linux {

/// Owns a file descriptor. Moves, never copies.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~Descriptor() { reset(); }

  /// The descriptor; −1 where it owns none.
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

  /// Gives it up without closing it.
  int release() { return std::exchange(fd_, -1); }

  /// Closes it now.
  void reset() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

 private:
  int fd_ = -1;
};

}  // namespace tally::linux
