// A `tally serve` that runs, and clients of it.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/cli/program.hpp"

namespace tally::test {

/// A machine of files with one processor and control groups of cgroup v2.
class Machine {
 public:
  explicit Machine(int groups);
  const std::string& root() const { return place_.folder(); }
  void write(const std::string& path, const std::string& text) const;

 private:
  TemporaryFile place_{"machine"};
};

/// It listens until this object goes.
class Served {
 public:
  explicit Served(const std::string& root, int port = 0);
  int port() const { return port_; }
  Running& running() { return *running_; }

  /// One scrape: the body of an answer with status 200; nothing where there is none.
  std::optional<std::string> scrape() const;

 private:
  std::unique_ptr<Running> running_;
  int port_ = 0;
};

/// A connection to a port of this machine, −1 where there is none.
int connect_to(int port);

/// All that comes until the other side ends it.
std::string read_all(int socket);

/// A GET by hand; the whole answer.
std::string get(int port, const std::string& path);

/// The value of a series, as its line begins; nothing where there is none.
std::optional<double> value_of(const std::string& text, const std::string& series);

/// Bytes that a process has in memory.
long resident_bytes(pid_t process);

}  // namespace tally::test
