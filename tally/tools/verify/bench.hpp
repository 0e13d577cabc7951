// Programs with known answers, executed and counted.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tally/counting/backend/backend.hpp"
#include "tally/hardware/workload/workload.hpp"
#include "tally/linux/process/scratch_folder.hpp"

namespace tally::verify {

/// A program, and what it is assembled with.
struct Trial {
  const workload::Workload* workload = nullptr;
  workload::Parameters parameters;

  std::string label() const { return workload::label(*workload, parameters); }
  workload::Counts known() const { return workload->expected(parameters); }
  bool operator==(const Trial&) const = default;
};

/// The trial of that name with the usual parameters. Without a program where there is none of that name.
Trial usual(std::string_view name);

/// Whether this architecture has the program.
bool has(std::string_view name);

/// One execution, or one for each pass where the events do not fit together.
struct Ran {
  std::vector<Count> counts;  ///< one for each event
  std::vector<result::Interval> intervals;
  int exit_code = 0;          ///< as a shell has it
  std::int64_t switches = 0;  ///< to other threads, as the kernel says
  Nanoseconds duration{0};
  std::vector<std::int64_t> window_lengths = {};  ///< of the full windows
  std::int64_t cut_length = 0;                    ///< of what the end cut
  std::int64_t lost_windows = 0;                  ///< that got no row
  bool windows_are_exact = false;                 ///< as who made them says
};

/// A program of the file name that Bench gave it; nothing for another file.
std::optional<Trial> trial_of(const std::string& path);

/// Executes programs with a backend.
class Bench {
 public:
  /// How a program is executed.
  struct Setup {
    std::optional<int> processor = {};
    bool rdpmc = false;
    bool multiplex = false;  ///< counters are lent in turns; without it there are as many executions as need be
    std::optional<Nanoseconds> interval = {};
    std::optional<backend::WindowTrigger> window = {};  ///< rows are wanted
  };

  /// Backend and signals must live as long. Errors: cannot_measure.
  static Result<Bench> open(backend::Backend& backend, linux::Signals& signals);

  /// Errors: those of Backend::run(); cannot_write.
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
