// The result of `tally stat --asm`: as text, JSON and CSV.
#pragma once

#include <span>
#include <string>

#include "tally/output/kinds/format.hpp"
#include "tally/output/result/snippet_result.hpp"

namespace tally::output {

/// A format of results of `tally stat --asm`. `terminal`: columns of the terminal that shows it; 0: no terminal.
struct SnippetFormat : Format {
  std::string (*write)(const result::Snippet& snippet, std::size_t terminal);
};

/// All formats, the default first.
std::span<const SnippetFormat> snippet_formats();

/// One row per event and per chain.
std::string snippet_table(const result::Snippet& snippet, std::size_t terminal = 0);

/// One JSON object, tally-asm/2 (docs/guides/instructions.md).
std::string snippet_json(const result::Snippet& snippet);

/// event,value,trust,model,low,high,reason; chains are rows named "latency" and "throughput".
std::string snippet_csv(const result::Snippet& snippet);

}  // namespace tally::output
