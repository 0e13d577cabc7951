// Runs programs with known answers and counts their events.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "programs/verify/trial.hpp"
#include "tally/counting/backend/backend.hpp"
#include "tally/linux/process/scratch_folder.hpp"

namespace tally::verify {

/// The result of one execution, or of one per pass if the events do not fit together on the counters.
struct Ran {
  std::vector<Count> counts;  ///< one for each event
  std::vector<result::Interval> intervals;
  int exit_code = 0;          ///< as reported by a shell
  std::int64_t switches = 0;  ///< context switches, from the kernel
  Nanoseconds duration{0};
  std::vector<std::int64_t> window_lengths = {};  ///< of full windows
  std::int64_t cut_length = 0;                    ///< of the window that the end of the program cut
  std::int64_t lost_windows = 0;                  ///< windows without a row
  bool windows_are_exact = false;                 ///< as the backend graded them
};

/// Executes programs with a backend.
class Bench {
 public:
  /// How a program is executed.
  struct Setup {
    std::optional<int> processor = {};
    bool rdpmc = false;
    bool multiplex = false;  ///< time-share the counters; otherwise run as many passes as necessary
    std::optional<Nanoseconds> interval = {};
    std::optional<backend::WindowTrigger> window = {};  ///< record windows
  };

  /// The backend and the signals must outlive the Bench. Errors: cannot_measure.
  static Result<Bench> open(backend::Backend& backend, linux::Signals& signals);

  /// Runs the program and counts these events. Errors: those of Backend::run(); cannot_write.
  Result<Ran> run(const Trial& trial, const std::vector<event::Event>& events, const Setup& setup);
  Result<Ran> run(const Trial& trial, const std::vector<event::Event>& events) { return run(trial, events, Setup{}); }

  backend::Backend& backend() const { return *backend_; }
  int runs() const { return runs_; }
  bool interrupted() const { return signals_->interrupted_by().has_value(); }

 private:
  Bench(backend::Backend& backend, linux::Signals& signals, linux::ScratchFolder folder)
      : backend_(&backend), signals_(&signals), folder_(std::move(folder)) {}
  Result<std::string> file_of(const Trial& trial);

  backend::Backend* backend_;
  linux::Signals* signals_;
  linux::ScratchFolder folder_;
  std::set<std::string> written_;
  int runs_ = 0;
};

}  // namespace tally::verify
