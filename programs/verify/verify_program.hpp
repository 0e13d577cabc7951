// Compares two backends on a program of the user's own.
#pragma once

#include <string>
#include <vector>

#include "tally/counting/backend/backend.hpp"
#include "tally/linux/files/input.hpp"
#include "tally/output/result/verify_result.hpp"

namespace tally::verify {

struct ProgramOptions {
  std::vector<std::string> command;
  std::vector<event::Event> events;     ///< events with known answers: see is_known()
  int runs = 3;                         ///< with the exact backend
  int other_runs = 3;                   ///< with the other backend; one suffices if it is exact too
  linux::Input input = {};              ///< standard input, rewound before each run
  backend::Conditions conditions = {};  ///< of each run: see shared_conditions(). Its signals are not used.
};

/// The conditions that two backends have in common, so that a program executes the same instructions with both: what
/// `repeatable` does natively, and nothing that only the engine does. `stepped`: one of them is the single-stepper,
/// which keeps the program on one CPU.
backend::Conditions shared_conditions(bool stepped);

/// Whether the count of an event follows from the program, so that both backends must agree.
bool is_known(const event::Event& event);

/// Runs the command with `exact`, which counts by construction, and with `other`. Compares the median of each event,
/// after subtracting what page faults and interrupts add to the other count. The spread of the exact counts is a
/// property of the program, and is allowed to the other too. Errors: those of Backend::run().
Result<result::Verify> compare_program(backend::Backend& exact, backend::Backend& other, const ProgramOptions& options,
                                       linux::Signals& signals);

}  // namespace tally::verify
