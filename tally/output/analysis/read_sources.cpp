#include "tally/output/analysis/read_sources.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tally/core/base/text.hpp"

namespace tally::output {
namespace {

using result::CodeFunction;
using result::ReadSource;

std::string function_text(const CodeFunction& code) {
  const std::string object = printable(code.file.substr(code.file.rfind('/') + 1));
  return code.function.empty() ? object : fmt::format("{} ({})", printable(code.function), object);
}

const ReadSource* find(const std::vector<ReadSource>& list, const std::string& source) {
  const auto place = std::find_if(list.begin(), list.end(),
                                  [&](const ReadSource& read_source) { return read_source.source == source; });
  return place == list.end() ? nullptr : &*place;
}

std::string times(const ReadSource* source) {
  if (source == nullptr) return "not read";
  return source->source == "environment" ? thousands(source->count) + " bytes" : thousands(source->count);
}

}  // namespace

bool is_usual(const result::ReadSource& source) {
  const std::string& file = source.first.file;
  const bool is_of_linker = file.substr(file.rfind('/') + 1).starts_with("ld-");
  return source.source == "environment" || source.source == "xgetbv" || source.source == "cpuid" || is_of_linker;
}

std::string reader_text(const ReadSource& source) {
  if (source.first.file.empty()) return printable(source.program);
  std::string text = function_text(source.first);
  if (!source.caller.file.empty()) text += ", called by " + function_text(source.caller);
  return text;
}

std::vector<std::string> differing_sources(const result::Run& before, const result::Run& after) {
  std::vector<std::string> lines;
  if (!before.nondeterminism || !after.nondeterminism) return lines;
  const auto add = [&](const ReadSource* first, const ReadSource* second) {
    const ReadSource& known = first != nullptr ? *first : *second;
    std::string line = fmt::format("{}: {} and {}", known.source, times(first), times(second));
    const std::string reader = reader_text(known);
    if (!reader.empty() && known.source != "environment") line += ", first in " + reader;
    lines.push_back(std::move(line));
  };
  for (const ReadSource& read_source : *before.nondeterminism) {
    const ReadSource* const other = find(*after.nondeterminism, read_source.source);
    if (other == nullptr || other->count != read_source.count) add(&read_source, other);
  }
  for (const ReadSource& one : *after.nondeterminism)
    if (find(*before.nondeterminism, one.source) == nullptr) add(nullptr, &one);
  return lines;
}

}  // namespace tally::output
