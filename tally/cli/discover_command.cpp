#include <fmt/format.h>

#include <charconv>
#include <memory>
#include <optional>

#include "tally/assembly/loop.hpp"
#include "tally/backend/choose/choose.hpp"
#include "tally/base/text.hpp"
#include "tally/cli/command.hpp"
#include "tally/cli/discoveries.hpp"
#include "tally/cli/page.hpp"
#include "tally/cli/progress.hpp"
#include "tally/discover/counted.hpp"
#include "tally/discover/payloads.hpp"
#include "tally/discover/score.hpp"
#include "tally/discover/sweep.hpp"
#include "tally/discover/truth.hpp"
#include "tally/linux/files/output.hpp"
#include "tally/linux/machine/machine.hpp"
#include "tally/linux/process/signals.hpp"
#include "tally/report/discover.hpp"
#include "tally/report/grid.hpp"

namespace tally::cli {
namespace {

struct Options {
  std::string events = "0x00-0xff", umasks;
  std::vector<std::string> payloads;
  std::string control, sizes;
  int repeats = 7;
  int counters = 8;
  std::string backend = "sim";
  std::uint64_t seed = 1;
  std::string output, resume, analyse, table;
  bool list = false, json = false, all = false, score = false;
};

constexpr const char* footer =
    "Small pieces of code whose composition is known (payloads) are executed in several sizes, each beside a control\n"
    "that differs in one thing, and every event is counted in all of them. What an event counts for each copy says\n"
    "what it is; two that no payload tells apart are reported as aliases, with the payload that would.\n"
    "\n"
    "Backends: sim, a PMU that does not exist: a secret map of events, made of the seed, over what the engine counts "
    "in\n"
    "the payloads, with interrupts and noise; --score compares the answer with the map. perf: this machine's PMU.\n"
    "\n"
    "PAYLOAD is a name of --list, a file of assembly that ends in .s, or a line of it (Intel's syntax on x86-64).\n"
    "Everything that was counted is in the file of -o, a line for each run: --resume goes on after an interrupt, and\n"
    "--analyse looks at it again without counting.\n"
    "\n"
    "Examples:\n"
    "  tally discover --score\n"
    "  tally discover --seed 7 --payload load-miss --payload tlb-miss -o found.jsonl\n"
    "  tally discover --backend perf --events 0x00-0xff --umasks 0x01,0x02 -o found.jsonl\n"
    "  tally discover --resume found.jsonl\n"
    "  tally discover --payload 'crc32 rax, rbx' --control 'add rax, rbx'\n";

void describe(Page& page, Options& options) {
  page.head("Finds out what undocumented events count, with payloads and controls.", "tally discover [options]");
  page.add_option("--events", options.events, "event codes: 0x00-0xff (default), or numbers with commas")
      ->option_text("CODES");
  page.add_option("--umasks", options.umasks, "unit masks of each event, on x86: 0x01,0x02; 0 without it")
      ->option_text("MASKS");
  page.add_option("--payload", options.payloads, "use this payload and its control; may be repeated; all without it")
      ->option_text("PAYLOAD")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
  page.add_option("--control", options.control, "of a payload of your own: the same code without what is asked about")
      ->option_text("PAYLOAD");
  page.add_option("--sizes", options.sizes, "copies of a payload in a run: four numbers or more, with commas")
      ->option_text("COPIES");
  page.add_option("--repeats", options.repeats, "of each size, after a first one that is dropped: 7")
      ->option_text("N")
      ->check(CLI::Range(3, 1000));
  page.add_option("--counters", options.counters, "of the PMU that does not exist: 8")
      ->option_text("N")
      ->check(CLI::Range(1, 32));
  page.add_option("--backend", options.backend, "who counts: sim (default), perf")
      ->option_text("BACKEND")
      ->check(CLI::IsMember({"sim", "perf"}));
  page.add_option("--seed", options.seed, "of everything random: 1")->option_text("SEED");
  page.add_option("-o,--output", options.output, "keep every count in this file")->option_text("FILE");
  page.add_option("--resume", options.resume, "go on with the file of an interrupted sweep")->option_text("FILE");
  page.add_option("--analyse", options.analyse, "look at the counts of a file again, without counting")
      ->option_text("FILE");
  page.add_option("--table", options.table, "write the named events to this file, for --event-table")
      ->option_text("FILE");
  page.add_flag("--json", options.json, "as one JSON object, for programs");
  page.add_flag("--all", options.all, "show the verdict of every payload by itself");
  page.add_flag("--score", options.score,
                "with sim: how right the answer is, beside the algorithm of the M1 framework's document");
  page.add_flag("--list", options.list, "only list the payloads");
  page.footer(footer);
}

std::string payload_list() {
  report::Grid grid({{"payload"}, {"control"}, {"differs in"}, {"code"}});
  for (const discover::Payload& one : discover::library()) {
    grid.add({one.facts.name, one.facts.control, one.facts.target, one.body});
  }
  return grid.text();
}

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (hex) text.remove_prefix(2);
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

// "0x00-0x1f,0x3c", and ".." for the dash.
Result<std::vector<std::uint64_t>> numbers(const std::string& list, std::uint64_t most, const char* what) {
  std::vector<std::uint64_t> all;
  for (const std::string& part : split(list, ',')) {
    const std::size_t dots = part.find("..");
    const std::size_t dash = dots == std::string::npos ? part.find('-') : dots;
    const auto first = number(trimmed(part.substr(0, dash)));
    const auto last =
        dash == std::string::npos ? first : number(trimmed(part.substr(dash + (dots == std::string::npos ? 1 : 2))));
    if (!first || !last || *last < *first || *last > most) {
      return fail(Code::bad_usage, fmt::format("'{}' is no {}", printable(part), what),
                  fmt::format("for example: 0x00-0x1f,0x3c; at most {:#x}", most));
    }
    for (std::uint64_t one = *first; one <= *last; ++one) all.push_back(one);
  }
  return all;
}

Result<std::vector<std::uint64_t>> codes_of(const Options& options) {
  auto events = numbers(options.events, 0xffff, "code of an event, or range of them");
  if (!events || options.umasks.empty()) return events;
  auto masks = numbers(options.umasks, 0xff, "unit mask");
  if (!masks) return masks;
  std::vector<std::uint64_t> codes;
  for (const std::uint64_t event : *events) {
    for (const std::uint64_t mask : *masks) codes.push_back(event | mask << 8);
  }
  return codes;
}

bool is_code(const std::string& payload) {
  return payload.find_first_of(" ;[\n") != std::string::npos || payload.ends_with(".s") || payload.ends_with(".S");
}

// Those of the library that were named, and the user's own. The library's controls of these come with them.
Result<std::vector<discover::Payload>> payloads_of(const Options& options) {
  std::vector<std::string> names;
  std::vector<discover::Payload> own;
  for (const std::string& one : options.payloads) {
    if (!is_code(one)) {
      names.push_back(one);
      continue;
    }
    auto text = assembly::code_of(one);
    if (!text) return fail(text.error());
    if (const auto bytes = assembly::machine_code(*text, "--payload"); !bytes) return fail(bytes.error());
    std::string control = options.control.empty() ? "empty" : options.control;
    if (is_code(control)) {
      auto code = assembly::code_of(control);
      if (!code) return fail(code.error());
      if (const auto bytes = assembly::machine_code(*code, "--control"); !bytes) return fail(bytes.error());
      control = "own-control";
      if (own.empty()) {
        own.push_back(discover::users_own(control, *code, ""));
        own.back().facts.target.clear();
      }
    } else {
      names.push_back(control);
    }
    own.push_back(discover::users_own(fmt::format("own-{}", own.size() + 1), *text, control));
  }
  // Names come from the library: where all payloads that were asked for are the user's, all of it.
  const bool only_own = std::all_of(options.payloads.begin(), options.payloads.end(), is_code);
  auto all = discover::chosen(only_own ? std::vector<std::string>{} : names);
  if (!all) return all;
  all->insert(all->end(), own.begin(), own.end());
  return all;
}

Result<discover::Record> new_record(const Options& options, const std::vector<discover::Payload>& payloads) {
  discover::Record record;
  record.backend = options.backend;
  record.seed = options.seed;
  record.repeats = options.repeats + 1;
  auto codes = codes_of(options);
  if (!codes) return fail(codes.error());
  record.events = *std::move(codes);
  // A run takes a millisecond of a PMU at least, and starting a program is not counted in thousands of copies.
  record.sizes = options.backend == "sim" ? std::vector<std::uint64_t>{100'000, 200'000, 400'000, 800'000}
                                          : std::vector<std::uint64_t>{20'000, 40'000, 80'000, 160'000};
  if (!options.sizes.empty()) {
    auto sizes = numbers(options.sizes, 1'000'000'000, "number of copies");
    if (!sizes) return fail(sizes.error());
    record.sizes = *std::move(sizes);
    if (record.sizes.size() < 2 || !std::is_sorted(record.sizes.begin(), record.sizes.end()) || record.sizes[0] < 20) {
      return fail(Code::bad_usage, "--sizes wants at least two numbers of copies, in their order, from 20 on",
                  "for example: --sizes 100000,200000,400000,800000");
    }
  }
  for (std::uint64_t& size : record.sizes) size -= size % discover::copies_in_round;
  for (const discover::Payload& one : payloads) record.payloads.push_back(one.facts);
  return record;
}

// Why there are more payloads than were asked for; empty: all were.
std::string how_many_text(const std::vector<discover::Payload>& payloads) {
  const auto count = [&](auto is_it) { return std::count_if(payloads.begin(), payloads.end(), is_it); };
  const auto own = count([](const discover::Payload& one) { return one.facts.target == discover::users_payload; });
  const auto known = count([](const discover::Payload& one) { return one.facts.known; });
  if (static_cast<std::size_t>(known) == discover::library().size()) {
    if (own == 0) return {};
    return fmt::format("{} payloads: {} of your own, its control, and the library's, which have the names",
                       payloads.size(), own);
  }
  return fmt::format(
      "{} payloads: those that were asked for, the controls that they are compared with, and {}, with which the PMU "
      "itself is tried",
      payloads.size(), payloads.front().facts.name);
}

// Who counts. What a map is made of is kept for the score.
struct Counting {
  std::unique_ptr<backend::Backend> backend;
  std::unique_ptr<discover::Target> target;
  std::vector<discover::Planted> map;
  std::vector<std::string> notices;
};

Result<Counting> planted(const Options& options, const discover::Record& record,
                         const std::vector<discover::Payload>& payloads, linux::Signals& signals, Progress& progress) {
  Counting counting;
  const discover::Planting planting{record.seed, record.counters ? record.counters : options.counters};
  auto truths = Result<std::vector<discover::Truth>>(discover::declared_truths(payloads));
  auto haswell = backend::machine_of("haswell");
  backend::Needs needs;
  if (haswell) needs.simulation = backend::Simulation{.machine = *haswell, .precision = backend::Precision::full};
  auto engine = backend::choose("sim", discover::counted_coordinates(), linux::look_at_machine(), needs);
  if (haswell && engine) {
    truths = discover::truths(*engine->backend, signals, payloads,
                              [&](const std::string& what, double share) { progress.show(share * 0.1, what); });
    if (!truths) return fail(truths.error());
    counting.notices.push_back("a PMU that does not exist, over what the engine counts in the payloads");
    for (std::string& one : discover::disagreements(payloads, *truths)) counting.notices.push_back(std::move(one));
  } else {
    counting.notices.push_back("a PMU that does not exist, over what payloads are declared to do: " +
                               (engine ? std::string("no model") : engine.error().message));
  }
  counting.map = discover::plant(record.events, planting);
  counting.target = std::make_unique<discover::PlantedTarget>(counting.map, *std::move(truths), planting);
  return counting;
}

Result<Counting> counted(const std::vector<discover::Payload>& payloads, linux::Signals& signals) {
  auto events = event::parse_lists({"instructions:u,cycles:u"});
  if (!events) return fail(events.error());
  auto choice = backend::choose("perf", *events, linux::look_at_machine());
  if (!choice) return fail(choice.error());
  Counting counting;
  counting.backend = std::move(choice->backend);
  auto target = discover::CountedTarget::open(*counting.backend, signals, payloads);
  if (!target) return fail(target.error());
  counting.notices.push_back("the kernel chooses the counters: on which an event counts is not known");
  counting.target = *std::move(target);
  return counting;
}

Result<Counting> counting_of(const Options& options, const discover::Record& record,
                             const std::vector<discover::Payload>& payloads, linux::Signals& signals,
                             Progress& progress) {
  if (record.backend == "perf") return counted(payloads, signals);
  return planted(options, record, payloads, signals, progress);
}

std::string score_row(report::Grid& grid, const std::string& who, const discover::Score& score) {
  grid.add({who, fmt::format("{} of {}", score.found, score.planted), percent_text(100 * score.recall()),
            fmt::format("{} of {}", score.wrong, score.claims), percent_text(100 * score.false_share()),
            std::to_string(score.undecided)});
  return {};
}

std::string score_text(const result::Discovery& answer, const discover::Record& record,
                       const std::vector<discover::Planted>& map) {
  report::Grid grid({{"algorithm"},
                     {"found", report::Align::right},
                     {"recall", report::Align::right},
                     {"wrong", report::Align::right},
                     {"of claims", report::Align::right},
                     {"left open", report::Align::right}});
  constexpr double deviation = 0.1;
  score_row(grid, "tally discover", discover::score(discover::claims_of(answer), map));
  score_row(grid, "the M1 document's", discover::score(discover::documents_claims(record, deviation, false), map));
  score_row(grid, "the same, PMESR0 written twice",
            discover::score(discover::documents_claims(record, deviation, true), map));
  return "\n Events that count one thing, once each, by the secret map\n" + grid.text();
}

int finish(const Options& options, const result::Discovery& answer, const std::string& more) {
  if (!options.table.empty()) {
    auto output = linux::Output::open_file(options.table);
    if (!output) return report_error(output.error());
    if (const auto written = output->write(report::discover_table(answer)); !written)
      return report_error(written.error());
  }
  if (options.json) return print(report::discover_json(answer));
  return print(report::discover_text(answer, options.all) + more);
}

int analyse_file(const Options& options) {
  auto record = read_record_file(options.analyse);
  if (!record) return report_error(record.error());
  if (const auto sound = discover::preflight(*record); !sound) return report_error(sound.error());
  return finish(options, discover::analyse(*record, library_facts()), "");
}

// The payloads of a record that goes on: they have to be the same as then.
Result<std::vector<discover::Payload>> payloads_of(const discover::Record& record) {
  std::vector<discover::Payload> all;
  for (const discover::Facts& facts : record.payloads) {
    const auto& library = discover::library();
    const auto one = std::find_if(library.begin(), library.end(), [&](const auto& p) { return p.facts == facts; });
    if (one == library.end()) {
      return fail(Code::bad_usage, fmt::format("the payload '{}' of this record is not that of this tally", facts.name),
                  "--analyse looks at what it holds; payloads of one's own cannot be resumed");
    }
    all.push_back(*one);
  }
  return all;
}

int discover_events(const Options& options) {
  const bool resumed = !options.resume.empty();
  auto before = resumed ? read_record_file(options.resume) : Result<discover::Record>(discover::Record{});
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
  discover::Watch watch;
  watch.progress = [&](const std::string& what, double share) { progress.show(0.1 + 0.9 * share, what); };
  watch.interrupted = [&] {
    signals->settle();
    return signals->interrupted_by().has_value();
  };
  if (*file) watch.made = [&](const discover::Run& run) { return (*file)->add(run); };
  auto whole = discover::sweep(*counting->target, *record, watch);
  progress.clear();
  if (!whole) return report_error(whole.error());
  if (const auto sound = discover::preflight(*record); !sound) return report_error(sound.error());
  result::Discovery answer = discover::analyse(*record, library_facts());
  answer.incomplete = !*whole;
  answer.notices.insert(answer.notices.begin(), counting->notices.begin(), counting->notices.end());
  if (std::string text = how_many_text(*payloads); !text.empty()) answer.notices.push_back(std::move(text));
  if (*file) {
    if (const auto kept = (*file)->add(report::discover_json(answer)); !kept) return report_error(kept.error());
  }
  const bool scored = options.score && !counting->map.empty() && *whole;
  const int code = finish(options, answer, scored ? score_text(answer, *record, counting->map) : "");
  if (const auto signal = signals->interrupted_by()) linux::die_of(*signal);
  return code;
}

}  // namespace

void describe_discover(Page& page) {
  static Options unused;
  describe(page, unused);
}

int run_discover(const std::vector<std::string>& arguments) {
  Options options;
  Page page;
  describe(page, options);
  if (const auto code = page.read(arguments)) return *code;
  if (options.list) return print(payload_list());
  if (!options.analyse.empty()) return analyse_file(options);
  if (!options.resume.empty() && !options.output.empty()) {
    return report_error({Code::bad_usage, "--resume goes on in its own file", "leave -o out", 0});
  }
  return discover_events(options);
}

}  // namespace tally::cli
