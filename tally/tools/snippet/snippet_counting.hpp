// `tally stat --asm`: counts one copy of some code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tally/counting/backend/choose/choose_backend.hpp"
#include "tally/counting/measure/measure_snippet.hpp"
#include "tally/tools/command/command_page.hpp"
#include "tally/tools/report/result_output.hpp"

namespace tally::snippet {

/// The options for the code.
struct CodeOptions {
  std::string code;  ///< the code or a file with it; empty: count a command
  std::string init;
  std::optional<std::uint64_t> unroll, rounds;
  bool any() const { return !code.empty(); }
};

void add_code_options(command::Page& page, CodeOptions& options);

/// The other options of `tally stat` that apply to code.
struct CodeRequest {
  measure::SnippetOptions snippet;  ///< without the code
  bool nothing_asked = false;       ///< the user named no events
  std::string backend = "auto";
  std::optional<backend::Simulation> simulation;
  report::ResultOptions results;
  bool quiet = false;
};

/// Counts the code and writes the result. Returns tally's exit code.
int count_code(const CodeOptions& code, CodeRequest request);

}  // namespace tally::snippet
