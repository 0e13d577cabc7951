// Whether the counts of a backend can be trusted: programs with known answers are counted and the counts are graded.
#pragma once

#include <functional>
#include <vector>

#include "tally/counting/backend/backend.hpp"
#include "tally/output/result/verify.hpp"

namespace tally::verify {

struct Options {
  bool quick = false;                ///< shorter programs, each once; what takes long is left out
  std::vector<event::Event> events;  ///< those to be graded; see all_events()
  std::function<void(const std::string& what, double share)> progress = {};  ///< may be empty
};

/// Every event that can be graded: those with known answers, and the most used of the others.
std::vector<event::Event> all_events();

/// Whether an event can be graded.
bool is_graded(const event::Event& event);

/// Counts, compares and grades. Ends early, with what it has, where the user interrupts. Errors: those of
/// Backend::run(). Cost: some hundred executions, seconds.
Result<result::Verify> verify(backend::Backend& backend, const Options& options, linux::Signals& signals);

}  // namespace tally::verify
