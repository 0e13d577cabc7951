// `tally stat --asm`: counts of one copy of some code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tally/cli/page.hpp"
#include "tally/cli/results.hpp"
#include "tally/counting/backend/choose/choose.hpp"
#include "tally/counting/measure/snippet.hpp"

namespace tally::cli {

/// What the user said about the code.
struct CodeOptions {
  std::string code;  ///< or a file of it; empty: a command is counted
  std::string init;
  std::optional<std::uint64_t> unroll, rounds;
  bool any() const { return !code.empty(); }
};

void add_code_options(Page& page, CodeOptions& options);

/// What the rest of `tally stat` knows of the measurement.
struct CodeRequest {
  measure::SnippetOptions snippet;  ///< without the code
  bool nothing_asked = false;       ///< no events were named
  std::string backend = "auto";
  std::optional<backend::Simulation> simulation;
  ResultOptions results;
  bool quiet = false;
};

/// Counts, writes, and gives tally's exit code.
int count_code(const CodeOptions& code, CodeRequest request);

}  // namespace tally::cli
