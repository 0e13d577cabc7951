// What the process does that stays: owns the counters, keeps written down where they are, puts back what was.
#pragma once

#include <string>
#include <vector>

#include "tally/counting/backend/choose/processors.hpp"
#include "tally/tools/tuning/rdpmc/rdpmc.hpp"

namespace tally::rdpmc {

/// What it is to do.
struct Task {
  std::string root;
  std::vector<Switched> switches;  ///< to be set
  std::vector<backend::ProcessorEvent> events;
  std::vector<linux::PmuDevice> cores;
  Pin pin;
};

/// The folder of /run in which it is written down.
std::string folder_of(const std::string& root);

/// Sets the switches back, where they still say what they were set to. Adds what is to be told: those that somebody has
/// changed meanwhile. False where one could not be written, which is told, too.
bool put_back(const std::string& root, const std::vector<Switched>& switches, std::vector<std::string>& notices);

/// The life of that process. Errors: those of on(), when everything is as it was.
Result<void> hold(const Task& task, linux::Staying& staying);

}  // namespace tally::rdpmc
