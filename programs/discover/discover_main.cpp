// tally-discover: the options of `tally discover`, the sweep, and its output.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "programs/discover/count_payloads.hpp"
#include "programs/discover/discover_options.hpp"
#include "programs/discover/discovery_format.hpp"
#include "programs/discover/run_file.hpp"
#include "programs/discover/score.hpp"
#include "programs/discover/sweep.hpp"
#include "programs/discover/truth.hpp"
#include "programs/discovery/discoveries.hpp"
#include "programs/discovery/payloads.hpp"
#include "programs/progress/progress.hpp"
#include "tally/core/base/text.hpp"
#include "tally/counting/backend/choose/choose_backend.hpp"
#include "tally/linux/files/output_file.hpp"
#include "tally/linux/files/terminal_width.hpp"
#include "tally/linux/machine/host_machine.hpp"
#include "tally/linux/process/conditions.hpp"
#include "tally/linux/process/received_signals.hpp"
#include "tally/output/kit/grid.hpp"
#include "tally/output/registry/choose_format.hpp"
#include "tally/tools/command/command.hpp"
#include "tally/tools/command/command_page.hpp"
#include "tally/tools/command/own_provenance.hpp"
#include "tally/tools/command/program_main.hpp"

namespace tally::discover {
namespace {

using namespace command;

std::string payload_list() {
  output::Grid grid({{"payload"}, {"control"}, {"differs in"}, output::prose_column("code")});
  for (const Payload& payload : library()) {
    grid.add({payload.facts.name, payload.facts.control, payload.facts.target, payload.body});
  }
  return grid.text(linux::terminal_columns(linux::Stream::output));
}

// What counts the payloads. Keeps the secret event map for the score.
struct Counting {
  std::unique_ptr<backend::Backend> backend;
  std::unique_ptr<Target> target;
  std::vector<Planted> map;
  std::vector<std::string> notices;
};

Result<Counting> planted(const Record& record, const std::vector<Payload>& payloads, linux::Signals& signals,
                         Progress& progress) {
  Counting counting;
  const Planting planting{record.seed, record.counters};
  auto truths = Result<std::vector<Truth>>(declared_truths(payloads));
  auto haswell = backend::machine_of("haswell");
  std::optional<backend::Simulation> simulation;
  if (haswell) simulation = backend::Simulation{.machine = *haswell, .precision = backend::Precision::full};
  auto engine = backend::choose("engine", {.events = counted_coordinates()}, linux::read_host_machine(), simulation);
  if (haswell && engine) {
    truths = discover::truths(*engine->backend, signals, payloads,
                              [&](const std::string& what, double share) { progress.show(share, what); });
    if (!truths) return fail(truths.error());
    counting.notices.push_back("the invented PMU is based on the engine's counts of the payloads");
    for (std::string& notice : disagreements(payloads, *truths)) counting.notices.push_back(std::move(notice));
  } else {
    counting.notices.push_back("the invented PMU is based on the declared content of the payloads: " +
                               (engine ? std::string("no model") : engine.error().message));
  }
  counting.map = plant(record.events, planting);
  counting.target = std::make_unique<PlantedTarget>(counting.map, *std::move(truths), planting);
  return counting;
}

// The CPU that payloads are pinned to. By default the second allowed one, because the first takes most interrupts.
Result<int> processor_for(const DiscoverOptions& options, const Record& record) {
  const auto requested = record.processor ? record.processor : options.processor;
  if (requested) {
    if (const auto there = linux::check_processor(*requested); !there) return fail(there.error());
    return *requested;
  }
  const auto all = linux::processors("");
  if (!all) return fail(all.error());
  std::vector<int> allowed = *all;
  std::erase_if(allowed, [](int processor) { return !linux::check_processor(processor); });
  if (allowed.empty()) return fail(Code::cannot_measure, "no CPU is available to run the payloads on");
  return allowed[allowed.size() > 1 ? 1 : 0];
}

Result<Counting> counted(const DiscoverOptions& options, Record& record, const std::vector<Payload>& payloads,
                         linux::Signals& signals) {
  const auto processor = processor_for(options, record);
  if (!processor) return fail(processor.error());
  record.processor = *processor;
  auto events = event::parse_lists({"instructions:u,cycles:u"});
  if (!events) return fail(events.error());
  auto choice = backend::choose("perf", {.events = *events}, linux::read_host_machine());
  if (!choice) return fail(choice.error());
  Counting counting;
  counting.backend = std::move(choice->backend);
  auto target = CountedTarget::open(*counting.backend, signals, payloads, *processor);
  if (!target) return fail(target.error());
  counting.notices.push_back(fmt::format("payloads ran on CPU {}", *processor));
  counting.notices.push_back("the kernel chose the counters; which counters support an event is unknown");
  counting.target = *std::move(target);
  return counting;
}

Result<Counting> counting_of(const DiscoverOptions& options, Record& record, const std::vector<Payload>& payloads,
                             linux::Signals& signals, Progress& progress) {
  if (backend::traits_of(record.backend).has_pmu_counters) return counted(options, record, payloads, signals);
  return planted(record, payloads, signals, progress);
}

std::string score_row(output::Grid& grid, const std::string& algorithm, const Score& score) {
  grid.add({algorithm, fmt::format("{} of {}", score.found, score.planted), percent_text(100 * score.recall()),
            fmt::format("{} of {}", score.wrong, score.claims), percent_text(100 * score.false_share()),
            std::to_string(score.undecided)});
  return {};
}

std::string score_text(const result::Discovery& answer, const Record& record, const std::vector<Planted>& map) {
  output::Grid grid({{"algorithm"},
                     {"found", output::Align::right},
                     {"recall", output::Align::right},
                     {"wrong", output::Align::right},
                     {"of claims", output::Align::right},
                     {"left open", output::Align::right}});
  constexpr double deviation = 0.1;
  score_row(grid, "tally discover", score(claims_of(answer), map));
  score_row(grid, "the M1 document's", score(documents_claims(record, deviation, false), map));
  score_row(grid, "the same, with PMESR0 written twice", score(documents_claims(record, deviation, true), map));
  return "\n Events of the secret map that count one thing once\n" +
         grid.text(linux::terminal_columns(linux::Stream::output));
}

int finish(const DiscoverOptions& options, const result::Discovery& answer, const std::string& more) {
  if (!options.table.empty()) {
    auto output = linux::Output::open_file(options.table);
    if (!output) return report_error(output.error());
    if (const auto written = output->write(output::discover_table(answer)); !written)
      return report_error(written.error());
  }
  const auto format = output::choose_format(output::discovery_formats(), options.json ? "json" : "", "", "table");
  if (!format) return report_error(format.error());
  const std::size_t terminal = linux::terminal_columns(linux::Stream::output);
  return print((*format)->write(answer, options.all, terminal) + (options.json ? "" : more));
}

int analyse_file(const DiscoverOptions& options, const Limits& limits) {
  auto record = read_record_file(options.analyse);
  if (!record) return report_error(record.error());
  if (const auto sound = preflight(*record, limits); !sound) return report_error(sound.error());
  result::Discovery answer = analyse(*record, library_facts(), limits);
  answer.provenance = provenance();
  return finish(options, answer, "");
}

int discover_events(const DiscoverOptions& options, const Limits& limits) {
  const bool resumed = !options.resume.empty();
  auto before = resumed ? read_record_file(options.resume) : Result<Record>(Record{});
  if (!before) return report_error(before.error());
  auto payloads = resumed ? payloads_of(*before) : payloads_of(options);
  if (!payloads) return report_error(payloads.error());
  auto record = resumed ? std::move(before) : new_record(options, *payloads);
  if (!record) return report_error(record.error());
  auto signals = linux::Signals::watch();
  if (!signals) return report_error(signals.error());
  Progress progress("discover");
  auto counting = counting_of(options, *record, *payloads, *signals, progress);
  if (!counting) return report_error(counting.error());
  record->counters = counting->target->counters();
  auto file = RunFile::open(resumed ? options.resume : options.output, *record, resumed);
  if (!file) return report_error(file.error());
  Watch watch;
  std::string_view stage_shown;
  watch.progress = [&](std::string_view stage, const std::string& what, double share) {
    if (stage != stage_shown) progress.begin_part();
    stage_shown = stage;
    progress.show(share, fmt::format("{}: {}", stage, what));
  };
  watch.interrupted = [&] {
    signals->settle();
    return signals->interrupted_by().has_value();
  };
  if (*file) watch.made = [&](const Run& run) { return (*file)->add(run); };
  auto whole = sweep(*counting->target, *record, watch);
  progress.clear();
  if (!whole) return report_error(whole.error());
  if (const auto sound = preflight(*record, limits); !sound) return report_error(sound.error());
  result::Discovery answer = analyse(*record, library_facts(), limits);
  answer.provenance = provenance();
  answer.incomplete = !*whole;
  answer.notices.insert(answer.notices.begin(), counting->notices.begin(), counting->notices.end());
  if (std::string text = payload_count_text(*payloads); !text.empty()) answer.notices.push_back(std::move(text));
  if (*file) {
    if (const auto kept = (*file)->add(output::discover_json(answer)); !kept) return report_error(kept.error());
  }
  const bool scored = options.score && !counting->map.empty() && *whole;
  const int code = finish(options, answer, scored ? score_text(answer, *record, counting->map) : "");
  if (const auto signal = signals->interrupted_by()) linux::die_of(*signal);
  return code;
}

void describe_discover(Page& page) {
  static DiscoverOptions unused;
  describe_discover_options(page, unused);
}

int run_discover(const std::vector<std::string>& arguments) {
  DiscoverOptions options;
  Page page;
  describe_discover_options(page, options);
  if (const auto code = page.read(arguments)) return *code;
  if (options.list) return print(payload_list());
  const auto limits = limits_of(options);
  if (!limits) return report_error(limits.error());
  if (!options.analyse.empty()) return analyse_file(options, *limits);
  if (!options.resume.empty() && !options.output.empty()) {
    return report_error({Code::bad_usage, "--resume continues in its own file", "omit -o", 0});
  }
  if (const auto fits = output::check_ending(options.output, {&sweep_format()}, false); !fits)
    return report_error(fits.error());
  return discover_events(options, *limits);
}

}  // namespace
}  // namespace tally::discover

int main(int argc, char** argv) {
  using namespace tally::discover;
  constexpr tally::command::Program program{"discover", describe_discover, run_discover};
  return tally::command::run_program(program, argc, argv);
}
