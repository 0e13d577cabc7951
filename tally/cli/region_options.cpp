#include "tally/cli/region_options.hpp"

#include <fmt/format.h>

namespace tally::cli {

Result<backend::CodeRegion::Point> point_of(const std::string& text) {
  auto place = symbol::parse_place(text);
  if (!place) return fail(place.error());
  return backend::CodeRegion::Point{std::move(*place), text};
}

void add_region_options(Page& app, RegionOptions& options) {
  app.add_option("--function", options.functions,
                 "under the engine: what a function counts from its first instruction to its return, each "
                 "time, by thread; may be repeated")
      .repeated()
      .value_name("NAME");
  app.add_option("--from", options.from,
                 "under the engine, with --to: count from there on, each time; a function, function+0x10, "
                 "0xADDRESS as the program's file has it, each with FILE: before it for a library")
      .repeated()
      .value_name("PLACE");
  app.add_option("--to", options.to, "where that ends").repeated().value_name("PLACE");
  app.add_option("--trap", options.trap,
                 "under the engine: the program's own int2e (HPCTool's marker) or int3 begin and end what is counted, "
                 "in turn, and do nothing else")
      .value_name("TRAP")
      .one_of({"int2e", "int3"});
  app.add_flag(
      "--rdpmc", options.rdpmc,
      "under the engine: the program's rdpmc reads what is counted: ECX 0x40000000 is instructions, 0x40000001 and "
      "0x40000002 are cycles and ref-cycles with -e cycles, 0 to 3 the first other events asked for; reading any other "
      "counter ends the program by SIGSEGV");
}

Result<void> choose_regions(const RegionOptions& options, std::vector<backend::CodeRegion>& regions) {
  if (options.from.size() != options.to.size()) {
    return fail(Code::bad_usage, "--from says where counting begins, --to where it ends: one is missing",
                "for example: tally stat --from parse --to parse+0x40 -- ./prog");
  }
  const std::size_t traps = options.trap.empty() ? 0 : 1;
  if (options.functions.size() + options.from.size() + traps > backend::region_limit) {
    return fail(Code::bad_usage,
                fmt::format("more than {} functions, pairs of places and traps", backend::region_limit),
                "count the others in another run");
  }
  for (const std::string& name : options.functions) {
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
  using Trap = backend::CodeRegion::Trap;
  if (traps > 0) regions.push_back({options.trap, {}, {}, options.trap == "int2e" ? Trap::int2e : Trap::int3});
  return {};
}

}  // namespace tally::cli
