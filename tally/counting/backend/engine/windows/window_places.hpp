// Which rows of Marks::weight windows use, and what of them the events are.
#pragma once

#include <optional>
#include <vector>

#include "tally/counting/backend/backend.hpp"
#include "tally/counting/backend/engine/count/collect.hpp"
#include "tally/counting/backend/engine/job.hpp"
#include "tally/counting/backend/engine/windows/window_cycles.hpp"

namespace tally::backend::engine {

struct WindowPlaces {
  std::vector<std::optional<std::size_t>> events;  ///< of each that was asked for, its place in Window::counts
  std::vector<std::size_t> triggers;               ///< the same
  std::size_t count = 0;                           ///< of rows
  std::optional<CyclePlaces> cycles = {};          ///< where cycles are asked for: theirs comes after all rows
};

WindowPlaces window_places(const Job& job, const Modelling& modelling);

}  // namespace tally::backend::engine
