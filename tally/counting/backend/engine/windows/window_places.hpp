// Assigns rows of Marks::weight to the events of windows.
#pragma once

#include <optional>
#include <vector>

#include "tally/counting/backend/backend.hpp"
#include "tally/counting/backend/engine/count/collect.hpp"
#include "tally/counting/backend/engine/windows/window_cycles.hpp"
#include "tally/counting/backend/order.hpp"

namespace tally::backend::engine {

struct WindowPlaces {
  std::vector<std::optional<std::size_t>> events;  ///< for each requested event, its index in Window::counts
  std::vector<std::size_t> triggers;               ///< the same for the triggers
  std::size_t count = 0;                           ///< number of rows
  std::optional<std::size_t> unknown = {};         ///< the row of instructions whose amounts are not known
  std::optional<CyclePlaces> cycles = {};          ///< set if cycles are requested: they come after all rows
};

WindowPlaces window_places(const Order& order, const Modelling& modelling);

}  // namespace tally::backend::engine
