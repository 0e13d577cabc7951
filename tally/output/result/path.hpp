// The path of a thread through its program, as hashes at fixed numbers of instructions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tally::result {

/// Two threads with equal hashes have executed the same branches up to there (channel::path_step).
struct ThreadPath {
  std::string program;  ///< name of the program
  std::int64_t pid = 0, tid = 0;
  int process = 1;                    ///< its process: which one of this program, in the order of their starts
  int thread = 1;                     ///< which one of that process, in the same order
  std::uint64_t interval = 0;         ///< instructions from one hash to the next
  std::vector<std::uint64_t> hashes;  ///< after each interval
  std::uint64_t instructions = 0;     ///< of the whole thread
  std::uint64_t end = 0;              ///< the hash at its end
  bool complete = true;               ///< false: the thread was killed, or ran partly without the engine
  std::uint32_t series = 0;           ///< in this run, as in Window::series; not stored
  bool operator==(const ThreadPath&) const = default;
};

/// A variable of the environment, without its value.
struct EnvironmentVariable {
  std::string name;
  std::int64_t bytes = 0;   ///< of its value
  std::uint32_t check = 0;  ///< 16 bits of a hash of its value, from which nobody can find the value
  bool operator==(const EnvironmentVariable&) const = default;
};

/// The state of a program's file.
struct ProgramFile {
  std::uint64_t bytes = 0;
  std::int64_t modified_s = 0;
  std::uint32_t modified_ns = 0;
  bool operator==(const ProgramFile&) const = default;
};

/// What another run needs to take the same path.
struct StartConditions {
  std::optional<ProgramFile> program;            ///< the started program; nothing: unknown
  std::string directory;                         ///< the working directory
  std::vector<std::string> streams;              ///< kinds of standard input, output and error: "file", "pipe", …
  std::vector<EnvironmentVariable> environment;  ///< in their order
  bool operator==(const StartConditions&) const = default;
};

}  // namespace tally::result
