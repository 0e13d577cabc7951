// The machine that `tally callgrind` simulates, and the events of valgrind's tools.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "programs/callgrind/profile_columns.hpp"
#include "programs/callgrind/valgrind_options.hpp"
#include "tally/core/base/result.hpp"
#include "tally/counting/backend/simulation.hpp"

namespace tally::callgrind {

/// Whether counts are collected from the start of the program to its end.
bool collects_all(const ValgrindOptions& options);

/// Whether caches or the prediction of branches are simulated: not with --toggle-collect, which needs calls.
bool is_simulated(const ValgrindOptions& options);

/// Whether calls are followed: for callgrind, unless models run, which take their place in the engine.
bool follows_calls(const ValgrindOptions& options);

/// Whether client requests of the program divide the profile into parts: for callgrind.
bool divides_parts(const ValgrindOptions& options);

/// The events of tally that the file needs. With calls at most backend's limit of four.
std::vector<std::string> events_of(const ValgrindOptions& options);

/// The events of the file, in the order of the tool: Ir, Dr, Dw, I1mr and so on. Those that cannot be counted are
/// missing.
std::vector<DerivedEvent> columns_of(const ValgrindOptions& options);

/// What the files lack because models and calls cannot be combined; empty if nothing.
std::vector<std::string> simulation_notes(const ValgrindOptions& options);

/// The caches of the options; those that are not given are this machine's, without its second level, or usual ones if
/// the kernel does not list them. Nothing if nothing is simulated. Errors: bad_usage if tally cannot simulate them.
Result<std::optional<backend::Simulation>> simulation_of(const ValgrindOptions& options);

/// "32768 B, 64 B, 8-way associative"; empty for a level that does not exist.
std::string cache_text(const models::CacheShape& shape);

}  // namespace tally::callgrind
