#include "tally/cli/commands.hpp"
#include "tally/counting/backend/choose/choose_backend.hpp"
#include "tally/counting/measure/measure_stat.hpp"
#include "tally/linux/machine/host_machine.hpp"
#include "tally/linux/process/finishing.hpp"
#include "tally/linux/process/received_signals.hpp"
#include "tally/tools/command/command_page.hpp"
#include "tally/tools/launch/launch.hpp"
#include "tally/tools/launch/model_options.hpp"

namespace tally::cli {
namespace {
constexpr const char* run_footer =
    R"(Programs that open hardware counters themselves (perf_event_open) find a PMU: instructions, branches, and the
codes of the processor for events that tally counts exactly; without --cpu-model, codes are those of this machine's
processor. With --model, they also find cycles, misses and mispredictions, which are then modelled. Other hardware
events fail with ENOENT, as they do on a machine without a PMU. PAPI, which chooses events by the processor, needs
both options. With --model icelake and --cpu-model icelake, `perf stat --topdown` works, too.

tally prints nothing unless it fails, or a program did not get what it asked for. `tally stat --pmu` does the same and also prints counts.

Exit code: that of the program. If a signal ends the program, it ends tally, too.

Examples:
  tally run -- ./bench
  tally run --cpu-model haswell --model haswell -- ./uses_papi
)";

void describe(Page& page, backend::Order& order, ModelOptions& model) {
  page.head("Run a program whose own hardware counters work, on machines without a PMU, too.",
            "tally run [options] [--] PROGRAM [arguments]");
  page.prefix_command();
  add_launch_options(page, order.conditions);
  add_engine_tuning(page, order.conditions.engine);
  add_model_options(page, model);
  static bool ignored = false;
  page.add_flag("-q,--quiet", ignored, "accepted as by other commands; without effect");
  page.footer(run_footer);
}

}  // namespace

void describe_run(Page& page) {
  static backend::Order unused;
  static ModelOptions unused_model;
  describe(page, unused, unused_model);
}

int run_run(const std::vector<std::string>& arguments) {
  measure::StatOptions order;
  Page page;
  ModelOptions model;
  describe(page, order, model);
  if (const auto done = page.read(arguments)) return *done;
  auto command = command_of(page, false, "tally run -- ./bench");
  if (!command) return report_error(command.error());
  order.target.command = std::move(*command);
  order.conditions.pmu = true;
  if (const auto chosen = model.choose(); !chosen) return report_error(chosen.error());
  auto choice = backend::choose("engine", order, linux::read_host_machine(), model.simulation);
  if (!choice) return report_error(choice.error());
  if (const auto there = check_launch(order); !there) return report_error(there.error());
  auto signals = linux::Signals::watch();
  if (!signals) return report_error(signals.error());
  const auto stat = measure::stat(*choice->backend, order, *signals);
  const linux::Finishing finishing(*signals);
  if (!stat) return report_error(stat.error());
  if (!stat->failure.empty()) return report_error({Code::cannot_measure, stat->failure, "", 0});
  if (!stat->own_counters.empty()) say({stat->own_counters});
  const int code = final_exit_code(*stat, exit_ok, *signals);
  if (stat->signal && code == stat->exit_code) linux::die_of(*stat->signal);
  return code;
}

}  // namespace tally::cli
