// A file descriptor that closes itself.
#pragma once

#include <unistd.h>

#include <utility>

namespace tally::linux {

/// Owns a file descriptor. Can be moved, not copied.
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

  /// Returns the descriptor; −1 if it owns none.
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

  /// Releases ownership without closing it.
  int release() { return std::exchange(fd_, -1); }

  /// Closes it.
  void reset() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

 private:
  int fd_ = -1;
};

}  // namespace tally::linux
