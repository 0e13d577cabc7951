#include "tally/tools/launch/model_options.hpp"

#include <utility>

#include "tally/counting/backend/choose/choose_backend.hpp"
#include "tally/engine/machines/machine_model.hpp"
#include "tally/tools/command/command_page.hpp"
#include "tally/tools/command/option_groups.hpp"

namespace tally::launch {

void add_model_options(Page& page, ModelOptions& options) {
  const GroupScope group(page, models_group);
  page.add_option(
          "--model", options.model,
          "simulate this machine: host, haswell, skylake, icelake, sapphire-rapids, zen4 and more, or a machine "
          "file (its name must contain a slash)")
      .value_name("MODEL")
      .words_of(machines::names);
  page.add_option("--precision", options.precision, "precision of the simulation: fast (default), full")
      .value_name("CLASS")
      .one_of({"fast", "full"});
  page.add_option("--prefetch", options.prefetch, "simulated prefetchers: off (default), on")
      .value_name("ON|OFF")
      .one_of({"on", "off"});
  page.add_option("--llc", options.llc,
                  "simulated last-level cache: shared by the threads of a process (default), private")
      .value_name("WHOSE")
      .one_of({"shared", "private"});
  page.add_option("--model-threads", options.workers,
                  "worker threads for the simulation; 0: none (default: one per CPU)")
      .value_name("N")
      .check(whole_number(0, 64));
  page.add_option("--models-by", options.models_by,
                  "each: use the plain models for every access; both: use both and compare")
      .one_of({"each", "both"})
      .hidden();
}

Result<void> ModelOptions::choose() {
  const bool any = precision != "fast" || prefetch != "off" || llc != "shared" || workers || !models_by.empty();
  if (model.empty() && !any) return {};
  auto machine = backend::machine_of(model.empty() ? "host" : model);
  if (!machine) return fail(machine.error());
  backend::Simulation made{.machine = std::move(*machine)};
  made.precision = precision == "full" ? backend::Precision::full : backend::Precision::fast;
  made.prefetch = prefetch == "on";
  made.own_llc = llc == "private";
  made.workers = workers;
  made.each = models_by == "each";
  made.compared = models_by == "both";
  simulation = std::move(made);
  return {};
}

}  // namespace tally::launch
