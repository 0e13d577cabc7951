// Counts the events of one copy of some code: doubles the copies and the rounds, and subtracts.
#pragma once

#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/counting/backend/backend.hpp"
#include "tally/linux/process/received_signals.hpp"
#include "tally/output/result/snippet_result.hpp"

namespace tally::measure {

/// The options of `tally stat --asm`.
struct SnippetOptions {
  std::string code, init;
  std::vector<event::Event> events;
  std::uint64_t unroll = 100;   ///< copies in a round
  std::uint64_t rounds = 1000;  ///< iterations of the loop around the copies
  int repeats = 1;
  bool rdpmc = false;  ///< `rdpmc` in the code reads the counts of the events
  std::optional<int> processor = {};
  std::optional<Nanoseconds> limit = {};  ///< longest run time of each program; empty: assembly::usual_limit()
};

/// Runs four programs: n or 2n copies, each for m or 2m rounds. The difference of their differences is the cost of n·m
/// copies: the costs of startup, the loop and cold caches cancel. (The RDPMC article subtracts two reads; nanoBench
/// subtracts runs with two numbers of copies.) If cycles are counted and the code is one instruction, also measures its
/// latency and throughput chains.
/// Errors: bad_usage for code that cannot be assembled or repeated; cannot_measure if the code fails or exceeds the
/// limit; those of Backend::run().
Result<result::Snippet> snippet(backend::Backend& backend, const SnippetOptions& options, linux::Signals& signals);

}  // namespace tally::measure
