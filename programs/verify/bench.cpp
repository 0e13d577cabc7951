#include "programs/verify/bench.hpp"

#include "programs/workload/image.hpp"
#include "tally/linux/process/spawn.hpp"

namespace tally::verify {

Result<Bench> Bench::open(backend::Backend& backend, linux::Signals& signals) {
  auto folder = linux::ScratchFolder::make();
  if (!folder) return fail(folder.error());
  return Bench(backend, signals, *std::move(folder));
}

Result<std::string> Bench::file_of(const Trial& trial) {
  std::string path = folder_.path() + "/" + workload::label(*trial.workload, trial.parameters, '-');
  if (!written_.insert(path).second) return path;
  if (const std::string why = workload::why_not(*trial.workload, trial.parameters); !why.empty()) {
    return fail(Code::bad_usage, why);
  }
  const auto written = linux::write_program(path, workload::image(*trial.workload, trial.parameters));
  if (!written) return fail(written.error());
  return path;
}

namespace {

Result<backend::Outcome> run_counts(backend::Backend& backend, const backend::Order& common,
                                    const Bench::Setup& setup) {
  backend::Order order = common;
  order.count()->count_interrupts = true;
  order.count()->multiplex = setup.multiplex;
  order.count()->timing.interval = setup.interval;
  if (setup.rdpmc) order.instrument = backend::Order::Regions{*order.count(), {}, true};
  return backend.run(order);
}

Result<backend::Outcome> run_windows(backend::Backend& backend, const backend::Order& common,
                                     const backend::WindowTrigger& trigger, Ran& ran) {
  backend::Order::Windows windows;
  windows.triggers = {trigger};
  windows.sink.on_begin = [&ran](const result::WindowsHead& head) {
    ran.windows_are_exact = !head.events.empty() && head.events.front().count.trust == Trust::exact;
  };
  windows.sink.on_window = [&ran](const result::Window& window) {
    ran.lost_windows += window.lost;
    if (window.trigger) {
      ran.window_lengths.push_back(window.length);
    } else {
      ran.cut_length += window.length;
    }
  };
  backend::Order order = common;
  order.instrument = std::move(windows);
  return backend.run(order);
}

}  // namespace

Result<Ran> Bench::run(const Trial& trial, const std::vector<event::Event>& events, const Setup& setup) {
  const auto path = file_of(trial);
  if (!path) return fail(path.error());
  std::vector<event::Pass> passes = event::one_pass(events.size()).passes;
  if (!setup.multiplex) passes = backend_->plan(events, true).passes;
  Ran ran;
  ran.counts.resize(events.size(), absent("it was not counted"));
  for (const event::Pass& pass : passes) {
    backend::Order common;
    common.target.command = {*path};
    common.conditions.signals = signals_;
    common.conditions.processor = setup.processor;
    for (const std::size_t index : pass) common.events.push_back(events[index]);
    auto outcome =
        setup.window ? run_windows(*backend_, common, *setup.window, ran) : run_counts(*backend_, common, setup);
    if (!outcome) {
      Error error = outcome.error();
      if (error.code == Code::not_executable) error.hint = "set TMPDIR to a directory where programs may be executed";
      return fail(std::move(error));
    }
    ++runs_;
    for (std::size_t i = 0; i < pass.size() && i < outcome->counts.size(); ++i) {
      ran.counts[pass[i]] = std::move(outcome->counts[i].count);
    }
    ran.intervals = std::move(outcome->intervals);
    ran.exit_code = linux::exit_of(outcome->wait_status).code;
    ran.switches = outcome->usage.voluntary_switches + outcome->usage.involuntary_switches;
    ran.duration = outcome->duration;
  }
  return ran;
}

}  // namespace tally::verify
