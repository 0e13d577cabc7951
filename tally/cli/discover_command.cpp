#include <fmt/format.h>

#include <memory>
#include <optional>

#include "tally/cli/commands.hpp"
#include "tally/core/base/text.hpp"
#include "tally/counting/backend/choose/choose_backend.hpp"
#include "tally/linux/files/output_file.hpp"
#include "tally/linux/files/terminal_width.hpp"
#include "tally/linux/machine/host_machine.hpp"
#include "tally/linux/process/conditions.hpp"
#include "tally/linux/process/received_signals.hpp"
#include "tally/output/kinds/discovery_format.hpp"
#include "tally/output/kit/grid.hpp"
#include "tally/output/registry/choose_format.hpp"
#include "tally/tools/command/command_page.hpp"
#include "tally/tools/command/own_provenance.hpp"
#include "tally/tools/command/progress.hpp"
#include "tally/tools/discover/count_payloads.hpp"
#include "tally/tools/discover/discover_options.hpp"
#include "tally/tools/discover/discoveries.hpp"
#include "tally/tools/discover/payloads.hpp"
#include "tally/tools/discover/score.hpp"
#include "tally/tools/discover/sweep.hpp"
#include "tally/tools/discover/truth.hpp"
#include "tally/tools/report/stored_files.hpp"

namespace tally::cli {
namespace {

std::string payload_list() {
  output::Grid grid({{"payload"}, {"control"}, {"differs in"}, {"code"}});
  for (const discover::Payload& one : discover::library()) {
    grid.add({one.facts.name, one.facts.control, one.facts.target, one.body});
  }
  return grid.text(linux::terminal_columns(linux::Stream::output));
}

// What counts the payloads. Keeps the secret event map for the score.
struct Counting {
  std::unique_ptr<backend::Backend> backend;
  std::unique_ptr<discover::Target> target;
  std::vector<discover::Planted> map;
  std::vector<std::string> notices;
};

Result<Counting> planted(const discover::Record& record, const std::vector<discover::Payload>& payloads,
                         linux::Signals& signals, Progress& progress) {
  Counting counting;
  const discover::Planting planting{record.seed, record.counters};
  auto truths = Result<std::vector<discover::Truth>>(discover::declared_truths(payloads));
  auto haswell = backend::machine_of("haswell");
  std::optional<backend::Simulation> simulation;
  if (haswell) simulation = backend::Simulation{.machine = *haswell, .precision = backend::Precision::full};
  auto engine =
      backend::choose("engine", {.events = discover::counted_coordinates()}, linux::read_host_machine(), simulation);
  if (haswell && engine) {
    truths = discover::truths(*engine->backend, signals, payloads,
                              [&](const std::string& what, double share) { progress.show(share, what); });
    if (!truths) return fail(truths.error());
    counting.notices.push_back("using an invented PMU, based on the engine's counts of the payloads");
    for (std::string& one : discover::disagreements(payloads, *truths)) counting.notices.push_back(std::move(one));
  } else {
    counting.notices.push_back("using an invented PMU, based on the declared content of the payloads: " +
                               (engine ? std::string("no model") : engine.error().message));
  }
  counting.map = discover::plant(record.events, planting);
  counting.target = std::make_unique<discover::PlantedTarget>(counting.map, *std::move(truths), planting);
  return counting;
}

// The CPU that payloads are pinned to. By default the second allowed one, because the first takes most interrupts.
Result<int> processor_for(const discover::DiscoverOptions& options, const discover::Record& record) {
  const auto requested = record.processor ? record.processor : options.processor;
  if (requested) {
    if (const auto there = linux::check_processor(*requested); !there) return fail(there.error());
    return *requested;
  }
  const auto all = linux::processors("");
  if (!all) return fail(all.error());
  std::vector<int> allowed = *all;
  std::erase_if(allowed, [](int one) { return !linux::check_processor(one); });
  if (allowed.empty()) return fail(Code::cannot_measure, "no CPU is available to run the payloads on");
  return allowed[allowed.size() > 1 ? 1 : 0];
}

Result<Counting> counted(const discover::DiscoverOptions& options, discover::Record& record,
                         const std::vector<discover::Payload>& payloads, linux::Signals& signals) {
  const auto processor = processor_for(options, record);
  if (!processor) return fail(processor.error());
  record.processor = *processor;
  auto events = event::parse_lists({"instructions:u,cycles:u"});
  if (!events) return fail(events.error());
  auto choice = backend::choose("perf", {.events = *events}, linux::read_host_machine());
  if (!choice) return fail(choice.error());
  Counting counting;
  counting.backend = std::move(choice->backend);
  auto target = discover::CountedTarget::open(*counting.backend, signals, payloads, *processor);
  if (!target) return fail(target.error());
  counting.notices.push_back(fmt::format("payloads ran on CPU {}", *processor));
  counting.notices.push_back("the kernel chose the counters; which counters support an event is unknown");
  counting.target = *std::move(target);
  return counting;
}

Result<Counting> counting_of(const discover::DiscoverOptions& options, discover::Record& record,
                             const std::vector<discover::Payload>& payloads, linux::Signals& signals,
                             Progress& progress) {
  if (backend::traits_of(record.backend).has_pmu_counters) return counted(options, record, payloads, signals);
  return planted(record, payloads, signals, progress);
}

std::string score_row(output::Grid& grid, const std::string& algorithm, const discover::Score& score) {
  grid.add({algorithm, fmt::format("{} of {}", score.found, score.planted), percent_text(100 * score.recall()),
            fmt::format("{} of {}", score.wrong, score.claims), percent_text(100 * score.false_share()),
            std::to_string(score.undecided)});
  return {};
}

std::string score_text(const result::Discovery& answer, const discover::Record& record,
                       const std::vector<discover::Planted>& map) {
  output::Grid grid({{"algorithm"},
                     {"found", output::Align::right},
                     {"recall", output::Align::right},
                     {"wrong", output::Align::right},
                     {"of claims", output::Align::right},
                     {"left open", output::Align::right}});
  constexpr double deviation = 0.1;
  score_row(grid, "tally discover", discover::score(discover::claims_of(answer), map));
  score_row(grid, "the M1 document's", discover::score(discover::documents_claims(record, deviation, false), map));
  score_row(grid, "the same, with PMESR0 written twice",
            discover::score(discover::documents_claims(record, deviation, true), map));
  return "\n Events of the secret map that count one thing once\n" +
         grid.text(linux::terminal_columns(linux::Stream::output));
}

int finish(const discover::DiscoverOptions& options, const result::Discovery& answer, const std::string& more) {
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

int analyse_file(const discover::DiscoverOptions& options, const discover::Limits& limits) {
  auto record = discover::read_record_file(options.analyse);
  if (!record) return report_error(record.error());
  if (const auto sound = discover::preflight(*record, limits); !sound) return report_error(sound.error());
  result::Discovery answer = discover::analyse(*record, discover::library_facts(), limits);
  answer.provenance = provenance();
  return finish(options, answer, "");
}

int discover_events(const discover::DiscoverOptions& options, const discover::Limits& limits) {
  const bool resumed = !options.resume.empty();
  auto before = resumed ? discover::read_record_file(options.resume) : Result<discover::Record>(discover::Record{});
  if (!before) return report_error(before.error());
  auto payloads = resumed ? discover::payloads_of(*before) : discover::payloads_of(options);
  if (!payloads) return report_error(payloads.error());
  auto record = resumed ? std::move(before) : discover::new_record(options, *payloads);
  if (!record) return report_error(record.error());
  auto signals = linux::Signals::watch();
  if (!signals) return report_error(signals.error());
  Progress progress("discover");
  auto counting = counting_of(options, *record, *payloads, *signals, progress);
  if (!counting) return report_error(counting.error());
  record->counters = counting->target->counters();
  auto file = discover::RunFile::open(resumed ? options.resume : options.output, *record, resumed);
  if (!file) return report_error(file.error());
  discover::Watch watch;
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
  if (*file) watch.made = [&](const discover::Run& run) { return (*file)->add(run); };
  auto whole = discover::sweep(*counting->target, *record, watch);
  progress.clear();
  if (!whole) return report_error(whole.error());
  if (const auto sound = discover::preflight(*record, limits); !sound) return report_error(sound.error());
  result::Discovery answer = discover::analyse(*record, discover::library_facts(), limits);
  answer.provenance = provenance();
  answer.incomplete = !*whole;
  answer.notices.insert(answer.notices.begin(), counting->notices.begin(), counting->notices.end());
  if (std::string text = discover::payload_count_text(*payloads); !text.empty())
    answer.notices.push_back(std::move(text));
  if (*file) {
    if (const auto kept = (*file)->add(output::discover_json(answer)); !kept) return report_error(kept.error());
  }
  const bool scored = options.score && !counting->map.empty() && *whole;
  const int code = finish(options, answer, scored ? score_text(answer, *record, counting->map) : "");
  if (const auto signal = signals->interrupted_by()) linux::die_of(*signal);
  return code;
}

}  // namespace

void describe_discover(Page& page) {
  static discover::DiscoverOptions unused;
  discover::describe_discover_options(page, unused);
}

int run_discover(const std::vector<std::string>& arguments) {
  discover::DiscoverOptions options;
  Page page;
  discover::describe_discover_options(page, options);
  if (const auto code = page.read(arguments)) return *code;
  if (options.list) return print(payload_list());
  const auto limits = discover::limits_of(options);
  if (!limits) return report_error(limits.error());
  if (!options.analyse.empty()) return analyse_file(options, *limits);
  if (!options.resume.empty() && !options.output.empty()) {
    return report_error({Code::bad_usage, "--resume continues in its own file", "omit -o", 0});
  }
  if (const auto fits = output::check_ending(options.output, {&report::sweep_format()}, false); !fits)
    return report_error(fits.error());
  return discover_events(options, *limits);
}

}  // namespace tally::cli
