#include "tally/cli/models.hpp"

#include <utility>

#include "tally/cli/page.hpp"
#include "tally/counting/backend/choose/choose.hpp"

namespace tally::cli {

void add_model_options(Page& page, ModelOptions& options) {
  page.add_option("--model", options.model, "simulate this machine: host, haswell, or a file with a slash in its name")
      .value_name("MODEL");
  page.add_option("--precision", options.precision, "of the simulation: fast (default), full")
      .value_name("CLASS")
      .one_of({"fast", "full"});
  page.add_option("--prefetch", options.prefetch, "the simulated machine's prefetchers: off (default), on")
      .value_name("ON|OFF")
      .one_of({"on", "off"});
  page.add_option("--llc", options.llc, "the simulated last level: shared by a process's threads (default), private")
      .value_name("WHOSE")
      .one_of({"shared", "private"});
  page.add_option("--model-threads", options.workers,
                  "threads of tally's own that carry the simulated machine: one for each processor (default); 0: none")
      .value_name("N")
      .check(whole_number(0, 64));
  page.add_option("--models-by", options.models_by, "each: the plain models see everything; both: and are compared")
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

}  // namespace tally::cli
