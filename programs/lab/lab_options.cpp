#include "programs/lab/lab_options.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <optional>

namespace tally::lab {
namespace {

std::optional<std::string> value_of(const std::string& argument, std::string_view name) {
  const std::string start = fmt::format("--{}=", name);
  if (!argument.starts_with(start)) return std::nullopt;
  return argument.substr(start.size());
}

std::uint64_t number(const std::string& text) { return std::strtoull(text.c_str(), nullptr, 10); }

}  // namespace

Options read_options(const std::vector<std::string>& arguments) {
  Options options;
  for (const std::string& one : arguments) {
    if (auto v = value_of(one, "file")) options.file = *v;
    if (auto v = value_of(one, "statements")) options.statements = *v;
    if (auto v = value_of(one, "model")) options.model = *v;
    if (auto v = value_of(one, "bits")) options.bits = static_cast<int>(number(*v));
    if (auto v = value_of(one, "skid")) options.skid = number(*v);
    if (auto v = value_of(one, "base")) options.base = number(*v);
    if (auto v = value_of(one, "current")) options.current = number(*v);
    if (auto v = value_of(one, "max-instructions")) options.max_instructions = number(*v);
    if (auto v = value_of(one, "break")) options.breaks.push_back(*v);
    if (auto v = value_of(one, "width")) options.width = number(*v);
    if (auto v = value_of(one, "cache")) options.cache = number(*v);
    if (auto v = value_of(one, "define")) options.defines.push_back(*v);
    if (one == "--single") options.single = true;
    if (one == "--overcount") options.overcount = true;
    if (one == "--trace") options.trace = true;
    if (one == "--step") options.step = true;
    if (auto v = value_of(one, "time")) options.time = *v;
    if (one == "--explain") options.explain = true;
    if (one == "--quiet") options.quiet = true;
    if (one == "--dump") options.dump = true;
    if (one == "--json") options.json = true;
    if (auto v = value_of(one, "provenance")) options.provenance = *v;
    if (one == "--interactive") options.interactive = true;
    if (one == "--reads") options.reads = true;
    if (one == "--barriers") options.barriers = true;
  }
  return options;
}

}  // namespace tally::lab
