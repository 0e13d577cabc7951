// The daemon of `tally rdpmc`: owns the counters, saves their numbers, and restores the settings when it ends.
#pragma once

#include <string>
#include <vector>

#include "programs/rdpmc/processors.hpp"
#include "programs/rdpmc/rdpmc.hpp"

namespace tally::rdpmc {

/// The daemon's task.
struct Task {
  std::string root;
  std::vector<SwitchChange> switches;  ///< to apply
  std::vector<ProcessorEvent> events;
  std::vector<linux::PmuDevice> cores;
  Pin pin;
};

/// The directory in /run with the saved state.
std::string folder_of(const std::string& root);

/// Restores the switches that still have the value that tally set. Adds notices about switches that another program has
/// changed and about failed writes. Returns false if a write failed.
bool put_back(const std::string& root, const std::vector<SwitchChange>& switches, std::vector<std::string>& notices);

/// Runs the daemon. Errors: those of on(), with all settings restored.
Result<void> hold(const Task& task, linux::Staying& staying);

}  // namespace tally::rdpmc
