// Runs two commands again to find the instruction at which their paths part, and what was read before.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tally/counting/backend/order.hpp"
#include "tally/output/analysis/path_difference.hpp"
#include "tally/tools/why/rerun.hpp"

namespace tally::why {

/// Most instructions of a thread that are recorded one by one.
inline constexpr std::uint64_t recorded_step_limit = std::uint64_t{1} << 22;

/// One run, with the recorded part of one thread's path.
struct RecordedRun {
  std::unique_ptr<backend::PathRecording> parts;
  const backend::RecordedPath* path = nullptr;  ///< null: the run has no such thread
  int threads = 0;                              ///< of its process
};

/// Where two recorded paths part.
struct Parting {
  bool is_earlier = false;         ///< before the recorded part; the following is then unknown
  std::uint64_t instructions = 0;  ///< of the thread up to there
  std::size_t steps = 0;           ///< equal recorded steps
  using Step = backend::RecordedPath::Step;
  std::optional<Step> last;           ///< the last common instruction
  std::optional<Step> before, after;  ///< the next ones; nothing: the thread ended
};

/// A part of a thread's path: `every` is 1 if it is recorded by instruction.
struct PathPart {
  result::ThreadPath thread;
  std::uint64_t from = 0, every = 1, most = 0;
};

/// Runs a command and records the part. Errors: those of Rerun::run().
Result<RecordedRun> record(const Rerun& rerun, const PathPart& part, linux::Signals& signals);

/// Returns where the paths part; nothing if they do not in this part.
std::optional<Parting> parting(const RecordedRun& before, const RecordedRun& after, const PathPart& part);

/// Records the range, in narrower and narrower parts, in both commands until it finds where they part. `part` gets the
/// last part. Waits `between` the two runs. Returns nothing if they do not part there. Errors: those of record().
struct PartedRuns {
  RecordedRun before, after;
  Parting parting;
};
Result<std::optional<PartedRuns>> find_parting(const Rerun& before, const Rerun& after, PathPart& part,
                                               std::uint64_t to, std::chrono::milliseconds between,
                                               linux::Signals& signals);

/// The numbers of reads up to `instructions` that both runs made in the same place, and whose values differ or are
/// unknown.
std::vector<std::size_t> differing_reads(const RecordedRun& before, const RecordedRun& after,
                                         std::uint64_t instructions);

/// Whether the dynamic linker read it: it reads the time-stamp counter for its statistics, which change nothing.
bool is_of_linker(const RecordedRun& run, const backend::RecordedPath::Read& read);

/// Whether a source of a read (its name) is random numbers.
bool is_random(const std::string& source);

}  // namespace tally::why
