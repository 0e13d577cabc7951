// Grades how reliable a backend's counts are, by counting programs with known answers.
#pragma once

#include <functional>
#include <vector>

#include "tally/counting/backend/backend.hpp"
#include "tally/output/result/verify_result.hpp"

namespace tally::verify {

struct Options {
  bool quick = false;                ///< shorter programs with fewer runs; long checks are left out
  std::vector<event::Event> events;  ///< events to grade; see all_events()
  std::function<void(const std::string& what, double share)> progress = {};  ///< may be empty
};

/// Every event that can be graded: those with known answers, and the most used of the others.
std::vector<event::Event> all_events();

/// Whether an event can be graded.
bool is_graded(const event::Event& event);

/// Counts, compares and grades. Stops early if the user interrupts, and returns what it has. Errors: those of
/// Backend::run(). Takes seconds, for some hundred executions.
Result<result::Verify> verify(backend::Backend& backend, const Options& options, linux::Signals& signals);

}  // namespace tally::verify
