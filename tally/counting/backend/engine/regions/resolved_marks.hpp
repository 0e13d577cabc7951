// Resolves the functions and addresses of regions in programs under the engine.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tally/counting/backend/backend.hpp"
#include "tally/counting/backend/engine/count/collect.hpp"
#include "tally/counting/backend/order.hpp"
#include "tally/linux/files/file_state.hpp"
#include "tally/linux/symbol/names.hpp"

namespace tally::backend::engine {

/// Finds the addresses of marks in every program of a run.
class Marker {
 public:
  explicit Marker(const Order& order);

  /// Checks the targets before the program at `path` runs. Errors: bad_usage if a name is ambiguous in it, or if it is
  /// a program without libraries that does not have the function.
  Result<void> check_program(const std::string& path);

  /// Returns the addresses in a process, for its current mappings.
  channel::MarkPoints points_of(pid_t process);

  /// Whether there is anything to find.
  bool any() const { return !targets_.empty(); }

  /// Returns why marks were found in no process, with the files that were searched. After the run.
  std::vector<std::string> missing() const;
  /// Returns the versions of the Python interpreters that ran, as their Py_Version; empty unless they were asked for.
  const std::set<std::uint32_t>& python_versions() const { return python_versions_; }

  /// Returns other notes for the user.
  const std::vector<std::string>& notices() const { return notices_; }

 private:
  /// An address that a mark needs.
  struct Target {
    symbol::CodeAddress place;
    std::string text;  ///< as the user wrote it
    std::uint32_t mark, role;
    bool found = false;
    std::optional<Error> problem = {};
    /// Whether the text is a pattern, which any number of functions match.
    bool is_pattern() const { return role == channel::mark_entered || role == channel::mark_toggles; }
  };
  /// A Python interpreter in a file.
  struct Python {
    std::uint32_t version = 0;  ///< Py_Version; 0: none, or one before 3.11
    std::uint64_t address = 0;  ///< of _PyEval_EvalFrameDefault
    std::uint32_t bytes = 0;    ///< its size; 0: no layout of this version is known
    std::uint32_t layout = 0;   ///< the index in channel::python::layouts
  };
  static Python python_of(std::string_view file);
  /// What a file has for the targets.
  struct Module {
    std::string path, name;
    std::string trouble;  ///< why it could not be read
    std::vector<symbol::Segment> executable;
    std::vector<std::vector<std::uint64_t>> addresses;  ///< for each target
    std::vector<std::optional<Error>> problems;         ///< for each target
    std::vector<std::uint64_t> leave;
    Python python = {};
    std::size_t functions = 0;
    bool stripped = false, dynamic = false;
    bool is_code = true;  ///< false: a script, or the engine itself
    std::size_t order = 0;
  };

  using ModuleKey = std::pair<std::string, std::optional<linux::FileState>>;  ///< its path, and the file's state

  void note(const std::string& text);
  void note_aliases(const channel::MarkPoints& points);
  const Module& module(const std::string& path, pid_t process);
  /// `file`: the path of the module, as this process sees it.
  void find_marks(const symbol::Elf& elf, const std::string& file, const Target& target, std::size_t place,
                  Module& in) const;
  bool is_in(const Target& target, const Module& in, const std::string& program) const;
  std::vector<const Module*> by_order() const;
  std::string searched_files() const;
  std::vector<std::string> similar_names(const Target& target) const;

  FunctionFinder find_functions_;
  std::vector<Target> targets_;
  std::map<ModuleKey, Module> modules_;
  std::vector<std::string> notices_;
  bool any_function_ = false;
  bool has_python_ = false;
  std::set<std::uint32_t> python_versions_;
};

}  // namespace tally::backend::engine
