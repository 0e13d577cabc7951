// A running `tally serve`, and clients of it.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/cli/program.hpp"

namespace tally::test {

/// A machine of files with one processor and control groups of cgroup v2.
class FakeMachine {
 public:
  explicit FakeMachine(int groups);
  const std::string& root() const { return folder_.folder(); }
  void write(const std::string& path, const std::string& text) const;

 private:
  TemporaryFile folder_{"machine"};
};

/// It listens until this object is destroyed.
class Served {
 public:
  explicit Served(const std::string& root, int port = 0, const Words& options = {});
  int port() const { return port_; }
  Running& running() { return *running_; }

  /// One scrape: the body of an answer with status 200; nullopt if there is none.
  std::optional<std::string> scrape() const;

 private:
  std::unique_ptr<Running> running_;
  int port_ = 0;
};

/// A connection to a port of this machine, −1 if there is none.
int connect_to(int port);

/// Everything received until the other side closes the connection.
std::string read_all(int socket);

/// A handwritten GET; the whole answer.
std::string get(int port, const std::string& path);

/// The value of a series, by the beginning of its line; nullopt if there is none.
std::optional<double> value_of(const std::string& text, const std::string& series);

/// Bytes that a process has in memory.
long resident_bytes(pid_t process);

}  // namespace tally::test
