// What was measured, cell by cell: all that the analysis sees. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tally/output/result/discover.hpp"

namespace tally::discover {

/// A payload, as far as the analysis has to know it.
struct Facts {
  std::string name;
  std::string control;  ///< of another payload; empty: none
  std::string target;   ///< the coordinate in which it differs from its control
  result::Composition composition{};
  bool known = true;      ///< the composition is; else it says nothing about names
  std::string code = {};  ///< assembly, of one that is not the library's
  bool operator==(const Facts&) const = default;
};

/// The count of one event on one counter; counter −1: nobody says which.
struct Cell {
  std::size_t event = 0;  ///< its place in Record::events
  int counter = -1;
  std::int64_t count = 0;
  bool operator==(const Cell&) const = default;
};

/// One execution of a payload.
struct Run {
  enum class Stage {
    screen,  ///< one size, and every event on every counter
    slopes,  ///< all sizes and repeats of what is alive
  };
  Stage stage = Stage::screen;
  std::size_t payload = 0, size = 0;  ///< places in Record
  int repeat = 0;
  std::size_t batch = 0;  ///< which events: with the others the name of the run
  // What guards the run.
  std::int64_t instructions = 0, cycles = 0;  ///< of the fixed counters
  double time_ms = 0;
  std::int64_t interrupts = -1;  ///< −1: not known
  double running = 1;            ///< share of the time in which its counters counted
  bool rewritten = false;        ///< somebody else wrote to the PMU meanwhile
  std::vector<Cell> cells;
  bool operator==(const Run&) const = default;
};

/// Everything.
struct Record {
  std::string backend;
  std::uint64_t seed = 0;
  int counters = 0;                   ///< 0: cannot be chosen
  std::vector<int> used = {};         ///< of these counters; empty: all
  std::optional<int> processor = {};  ///< on which payloads ran, where they were held to one
  std::vector<std::uint64_t> events;  ///< their codes
  std::vector<Facts> payloads;
  std::vector<std::uint64_t> sizes;  ///< copies of the payload
  int repeats = 0;                   ///< the first of which is dropped
  std::vector<Run> runs;
};

}  // namespace tally::discover
