#include "tally/cli/commands.hpp"

namespace tally::cli {

Commands commands() {
#define TALLY_COMMAND(name, summary) {#name, summary, run_##name, describe_##name},
  static constexpr Command all[] = {
#include "tally/cli/commands.inc"
  };
#undef TALLY_COMMAND
  return all;
}

}  // namespace tally::cli
