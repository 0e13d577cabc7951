#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "programs/stepper/stepper_counts.hpp"

/// Runs one program three ways under equal conditions: natively, through the stepper, through tally's engine.
namespace tally::engine_test {

using stepper::Counts;

/// A program to run. Addresses are not randomised; the environment is `environment` and nothing else.
struct Command {
  std::vector<std::string> words;  ///< words[0] is a path
  std::string input;               ///< content of standard input
  std::vector<std::string> environment = {
      "PATH=/usr/bin:/bin", "LC_ALL=C",          "GLIBC_TUNABLES=glibc.pthread.rseq=0",
      "PERL_HASH_SEED=0",   "HOME=/nonexistent", std::string("TALLY_CACHE_DIR=") + TALLY_TEST_CACHE};
  std::string directory = "/";
  std::vector<std::string> options;  ///< options of tally
  bool without_model = false;        ///< leaves out the machine model that uses_model() reports
};

/// The visible results of a run.
struct Outcome {
  int code = 0;  ///< exit code, or 128 + the signal that ended it, as in a shell
  std::string out;
  std::string err;

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

/// A run that was counted.
struct Counted {
  Outcome outcome;
  Counts counts;
  std::map<std::string, std::uint64_t> modelled;  ///< by event
  std::uint64_t single_stepped = 0;               ///< instructions that the engine executed one at a time
  std::uint64_t native_from_ns = 0;               ///< processor time when the first continued natively; 0: none did
  bool exact = false;                             ///< every count has the trust "exact"
  std::string problem;                            ///< why there are no counts, or what is not exact
};

/// Whether TALLY_TEST_MODEL names a machine model for all runs of tally.
bool uses_model();

/// Runs it natively.
Outcome run_native(const Command& command);

/// Runs it under the stepper.
Counted run_stepped(const Command& command);

/// As a block size: the engine re-creates all code that ran once, while it runs and for the next run, and the program
/// runs for the third time.
inline constexpr int reoptimized = -1;

/// Runs it under `tally stat --backend engine`; block_size 0 keeps the engine's own, cache_limit 0 does not limit the
/// cache.
Counted run_counted(const Command& command, int block_size = 0, int cache_limit = 0);

/// The counts of one thread in each window of N of its instructions.
struct WindowRow {
  std::uint64_t address = 0;  ///< of the last instruction; 0: the end of the thread cut it
  Counts counts;
  friend bool operator==(const WindowRow&, const WindowRow&) = default;
};
using WindowRows = std::vector<WindowRow>;

/// Sorted by their contents, because threads cannot be identified.
std::vector<WindowRows> sorted(std::vector<WindowRows> threads);
/// Of every thread, sorted(); full windows only if `cut` is false.
std::vector<WindowRows> windows_stepped(const Command& command, std::uint64_t every);
std::vector<WindowRows> windows_counted(const Command& command, std::uint64_t every, int block_size, bool cut,
                                        Outcome& outcome);

/// The arguments of the tally command that counts `command` into the file `json`.
std::vector<std::string> tally_words(const Command& command, const std::string& json, int block_size,
                                     int cache_limit = 0);

/// Reads the counts of a JSON file that tally wrote.
Counted read_counts(const std::string& json);

/// A directory of the test's own, emptied and removed at its end.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  /// Writes a file and returns its path.
  std::string write(const std::string& name, const std::string& text) const;

 private:
  std::string path_;
};

std::string read_file(const std::string& path);

/// Every count on a line of its own, for messages.
std::string describe(const Counts& counts);

}  // namespace tally::engine_test
