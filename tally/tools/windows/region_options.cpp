#include "tally/tools/windows/region_options.hpp"

#include <fmt/format.h>

#include <memory>

#include "tally/counting/profile/function_names.hpp"
#include "tally/tools/command/option_groups.hpp"

namespace tally::windows {

Result<backend::CodeRegion::Point> point_of(const std::string& text) {
  auto place = symbol::parse_code_address(text);
  if (!place) return fail(place.error());
  return backend::CodeRegion::Point{std::move(*place), text};
}

backend::CodeRegion::Trap trap_of(const std::string& word) {
  using Trap = backend::CodeRegion::Trap;
  return word.empty() ? Trap::none : word == "int2e" ? Trap::int2e : Trap::int3;
}

backend::FunctionFinder function_finder() {
  return [names = std::make_shared<profile::FunctionNames>()](const std::string& path, const std::string& name) {
    return names->find(path, name);
  };
}

std::vector<std::string> listed_functions(const std::vector<std::string>& lists) {
  std::vector<std::string> names;
  for (const std::string& list : lists) {
    int depth = 0;
    names.emplace_back();
    for (const char c : list) {
      depth += (c == '<' || c == '(' || c == '[') - (c == '>' || c == ')' || c == ']');
      if (c == ',' && depth == 0 && !names.back().empty() && !names.back().ends_with("operator"))
        names.emplace_back();
      else
        names.back() += c;
    }
  }
  return names;
}

void add_entry_options(command::Page& page, std::string& trap, bool& per_entry) {
  const command::GroupScope group(page, command::regions_group);
  page.add_option("--trap", trap,
                  "engine only: count between the program's own int2e (HPCTool's marker) or int3 instructions, which "
                  "then have no other effect; `tally sample` without --every writes one row for each pair of them")
      .value_name("TRAP")
      .one_of({"int2e", "int3"});
  page.add_flag("--per-entry", per_entry,
                "write one row for each pair of traps of --trap, or from each execution of a location to the next one "
                "of another (one --from and --to; `tally sample`: --start-at and --stop-at, without --every); formats: "
                "those of tally sample");
}

void add_region_options(command::Page& app, RegionOptions& options) {
  const command::GroupScope group(app, command::regions_group);
  app.add_option("--function", options.functions,
                 "engine only: also count each call of function NAME, from entry to return; may be repeated, or a list "
                 "NAME,NAME")
      .repeated()
      .value_name("NAME");
  app.add_option("--from", options.from, "engine only, with --to: start counting each time LOCATION is executed")
      .repeated()
      .value_name("LOCATION");
  app.add_option("--to", options.to, "stop counting each time LOCATION is executed").repeated().value_name("LOCATION");
  add_entry_options(app, options.trap, options.per_entry);
  app.add_flag("--rdpmc", options.rdpmc,
               "engine only: let the program read the counts with rdpmc: ECX 0x40000000 reads instructions, 0x40000001 "
               "and 0x40000002 cycles and ref-cycles (with -e cycles), 0 to 3 the first other events; any other value "
               "raises SIGSEGV");
}

Result<void> choose_regions(const RegionOptions& options, std::vector<backend::CodeRegion>& regions) {
  if (options.from.size() != options.to.size()) {
    return fail(Code::bad_usage, "--from and --to must be used together",
                "for example: tally stat --from parse --to parse+0x40 -- ./prog");
  }
  const std::size_t traps = options.trap.empty() ? 0 : 1;
  const std::vector<std::string> functions = listed_functions(options.functions);
  if (functions.size() + options.from.size() + traps > backend::region_limit) {
    return fail(Code::bad_usage,
                fmt::format("more than {} functions, --from/--to pairs and traps", backend::region_limit),
                "count the rest in another run");
  }
  for (const std::string& name : functions) {
    auto point = point_of(name);
    if (!point) return fail(point.error());
    regions.push_back({name, std::move(*point), {}});
  }
  for (std::size_t i = 0; i < options.from.size(); ++i) {
    auto from = point_of(options.from[i]), to = point_of(options.to[i]);
    if (!from) return fail(from.error());
    if (!to) return fail(to.error());
    regions.push_back({options.from[i] + " .. " + options.to[i], std::move(*from), std::move(*to)});
  }
  if (traps > 0) regions.push_back({options.trap, {}, {}, trap_of(options.trap)});
  return {};
}

}  // namespace tally::windows
