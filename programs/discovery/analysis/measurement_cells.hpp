// The measurements, cell by cell: the whole input of the analysis. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tally/output/result/discovery_result.hpp"

namespace tally::discover {

/// The properties of a payload that the analysis needs.
struct Facts {
  std::string name;
  std::string control;  ///< the name of another payload; empty: none
  std::string target;   ///< the coordinate in which it differs from its control
  result::Composition composition{};
  bool known = true;      ///< whether the composition is known; otherwise it is not used to name events
  std::string code = {};  ///< assembly, of a payload that is not in the library
  bool operator==(const Facts&) const = default;
};

/// The count of one event on one counter; counter −1: unknown.
struct Cell {
  std::size_t event = 0;  ///< index in Record::events
  int counter = -1;
  std::int64_t count = 0;
  bool operator==(const Cell&) const = default;
};

/// One execution of a payload.
struct Run {
  enum class Stage {
    screen,  ///< one size, with every event on every counter
    slopes,  ///< all sizes and repeats, with the events that are alive
  };
  Stage stage = Stage::screen;
  std::size_t payload = 0, size = 0;  ///< indices in Record
  int repeat = 0;
  std::size_t batch = 0;  ///< of events; with the other fields it identifies the run
  // Data that validates the run.
  std::int64_t instructions = 0, cycles = 0;  ///< of the fixed counters
  double time_ms = 0;
  std::int64_t interrupts = -1;  ///< −1: unknown
  double running = 1;            ///< share of the time in which its counters counted
  bool rewritten = false;        ///< another program wrote to the PMU meanwhile
  std::vector<Cell> cells = {};
  bool operator==(const Run&) const = default;
};

/// All measurements of a discovery.
struct Record {
  std::string backend;
  std::uint64_t seed = 0;
  int counters = 0;                   ///< 0: counters cannot be selected
  std::vector<int> used = {};         ///< selected counters; empty: all
  std::optional<int> processor = {};  ///< on which payloads ran, if they were pinned
  std::vector<std::uint64_t> events;  ///< event codes
  std::vector<Facts> payloads;
  std::vector<std::uint64_t> sizes;  ///< copies of the payload
  int repeats = 0;                   ///< the first one is dropped
  std::vector<Run> runs;
};

}  // namespace tally::discover
