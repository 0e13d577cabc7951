// Functions and points of programs under the engine: from names to addresses, and to the events counted there.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tally/counting/backend/backend.hpp"
#include "tally/counting/backend/engine/count/collect.hpp"
#include "tally/counting/backend/engine/job.hpp"
#include "tally/linux/files/file_state.hpp"
#include "tally/linux/symbol/names.hpp"

namespace tally::backend::engine {

/// Finds the addresses of marks in every program of a run.
class Marker {
 public:
  explicit Marker(const Job& job);

  /// What can be known before the program at `path` runs. Errors: bad_usage where a name stands for several functions
  /// of it, or where it is a program that loads nothing and has no such function.
  Result<void> check_program(const std::string& path);

  /// The addresses in a process as its memory is now.
  channel::MarkPoints points_of(pid_t process);

  /// Whether there is anything to find.
  bool any() const { return !wanted_.empty(); }

  /// Of the marks that no process had: why, each with what was looked at. After the run.
  std::vector<std::string> missing() const;
  /// What the user should know beside.
  const std::vector<std::string>& notices() const { return notices_; }

 private:
  /// One place of a mark.
  struct Wanted {
    symbol::Place place;
    std::string text;  ///< as it was asked for
    std::uint32_t mark, role;
    bool found = false;
    std::optional<Error> problem = {};
  };
  /// What a file has of all that.
  struct Module {
    std::string path, name;
    std::string trouble;  ///< why it could not be read
    std::vector<symbol::Segment> executable;
    std::vector<std::vector<std::uint64_t>> addresses;  ///< for each Wanted
    std::vector<std::optional<Error>> problems;         ///< for each Wanted
    std::vector<std::uint64_t> leave;
    std::size_t functions = 0;
    bool stripped = false, dynamic = false;
    bool is_code = true;  ///< false: a script, or the engine itself
    std::size_t order = 0;
  };

  using ModuleKey = std::pair<std::string, std::optional<linux::FileState>>;  ///< its path, and what is there

  void note_aliases(const channel::MarkPoints& points);
  const Module& module(const std::string& path, pid_t process);
  void find_marks(const symbol::Elf& elf, const Wanted& wanted, std::size_t place, Module& in) const;
  bool is_in(const Wanted& wanted, const Module& in, const std::string& program) const;
  std::vector<const Module*> by_order() const;
  std::string looked_at() const;
  std::vector<std::string> near_names(const Wanted& wanted) const;

  std::vector<Wanted> wanted_;
  std::map<ModuleKey, Module> modules_;
  std::vector<std::string> notices_;
  bool any_function_ = false;
};

/// What the engine is told: how many marks there are, and the events that it counts at them. `modelling`: which of the
/// modelled ones can be.
channel::Marks marks_of(const Job& job, const Modelling& modelling);

/// What each of the engine's numbers makes of an event, which is a sum of them: `weight` has channel::mark_values.
void weigh(event::Id id, std::int8_t* weight);

/// One sentence: which counters the instruction rdpmc reads, and which are not there.
std::string readable_counters(const Job& job, const Modelling& modelling);

/// Whether an event is among those, and at which place; else why not.
struct MarkedEvent {
  const event::Event* event;
  std::optional<std::uint32_t> place;
  std::string reason;
  bool is_cycles = false;  ///< it has no place, but windows have a way to it
};
std::vector<MarkedEvent> marked_events(const Job& job, const Modelling& modelling);

}  // namespace tally::backend::engine
