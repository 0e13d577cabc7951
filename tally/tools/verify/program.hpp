// A program of the user's own, counted in two ways that should agree.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tally/counting/backend/backend.hpp"
#include "tally/linux/files/input.hpp"
#include "tally/output/result/verify.hpp"

namespace tally::verify {

struct ProgramOptions {
  std::vector<std::string> command;
  std::vector<event::Event> events;  ///< those with known answers: see is_known()
  int runs = 3;                      ///< by who counts by construction
  int other_runs = 3;                ///< by the other way; one is enough where that is exact, too
  linux::Input input = {};           ///< standard input, as the first run finds it
};

/// Whether the count of an event follows from the program, so that two ways must agree.
bool is_known(const event::Event& event);

/// Executes the command with `exact`, which counts by construction, and with `other`; compares the medians of each
/// event, once what page faults and interrupts add to the other's is taken off. How far the exact counts differ from
/// run to run is the program's own, and allowed to the other. Errors: those of Backend::run().
Result<result::Verify> compare_program(backend::Backend& exact, backend::Backend& other, const ProgramOptions& options,
                                       linux::Signals& signals);

}  // namespace tally::verify
