// The answer of `tally stat --asm`: for people, and for programs.
#pragma once

#include <span>
#include <string>

#include "tally/output/formats/format.hpp"
#include "tally/output/result/snippet.hpp"

namespace tally::report {

/// A format of answers of `tally stat --asm`. `terminal`: columns of the terminal that shows it; 0: none does.
struct SnippetFormat : Format {
  std::string (*write)(const result::Snippet& snippet, std::size_t terminal);
};

/// All of them, the default first.
std::span<const SnippetFormat> snippet_formats();

/// A row for each event, and for each chain.
std::string snippet_table(const result::Snippet& snippet, std::size_t terminal = 0);

/// One JSON object, tally-asm/2 (docs/guides/instructions.md).
std::string snippet_json(const result::Snippet& snippet);

/// event,value,trust,model,low,high,reason; chains are rows named "latency" and "throughput".
std::string snippet_csv(const result::Snippet& snippet);

}  // namespace tally::report
