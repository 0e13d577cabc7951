#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "tally/backend/choose/choose.hpp"
#include "tally/base/text.hpp"
#include "tally/cli/command.hpp"
#include "tally/cli/launch.hpp"
#include "tally/cli/models.hpp"
#include "tally/cli/page.hpp"
#include "tally/event/list.hpp"
#include "tally/linux/files/input.hpp"
#include "tally/linux/files/memory_file.hpp"
#include "tally/linux/files/output.hpp"
#include "tally/linux/machine/machine.hpp"
#include "tally/linux/process/signals.hpp"
#include "tally/linux/process/tool.hpp"
#include "tally/measure/stat.hpp"
#include "tally/profile/profile.hpp"
#include "tally/report/profile.hpp"
#include "tally/report/profile_inlines.hpp"

namespace tally::cli {
namespace {

struct Options {
  std::vector<std::string> event_lists;
  std::string format, output, by = "function", annotate, sort = "own";
  int top = 40;
  bool lines = false, whole_names = false, instructions = false, inlines = false, quiet = false;
  ModelOptions model;
  measure::StatOptions stat;
};

constexpr const char* examples =
    "Every instruction is counted where it was executed: the counts of all functions, with what the table names beside "
    "them, are the totals of tally stat.\n"
    "\n"
    "Examples:\n"
    "  tally profile -- ./prog\n"
    "  tally profile -e instructions,loads,stores --lines -- ./prog\n"
    "  tally profile --annotate main -- ./prog\n"
    "  tally profile --by thread -- ./prog\n"
    "  tally profile --inlines -- ./prog                             # inlined functions on their own\n"
    "  tally profile -o before.json -- ./prog                        # tally report before.json after.json: what "
    "changed\n"
    "  tally profile --format callgrind -o callgrind.out -- ./prog   # for KCachegrind\n"
    "  tally profile --format folded -o stacks.txt -- ./prog         # flamegraph.pl stacks.txt >flame.svg\n"
    "  tally profile -o prof.pb.gz -- ./prog                         # go tool pprof -top prof.pb.gz\n"
    "  tally profile --calls -e instructions --format autofdo -o prog.prof -- ./prog   # for clang "
    "-fprofile-sample-use=\n"
    "  tally profile --format cachegrind -o cg.out -- ./prog         # for cg_annotate, cg_diff\n";

constexpr std::pair<const char*, report::ProfileBy> groups[] = {{"function", report::ProfileBy::function},
                                                                {"line", report::ProfileBy::line},
                                                                {"object", report::ProfileBy::object},
                                                                {"process", report::ProfileBy::process},
                                                                {"thread", report::ProfileBy::thread}};

std::string format_names() {
  std::vector<std::string> names;
  for (const report::ProfileFormat& one : report::profile_formats()) names.emplace_back(one.name);
  return join(names, ", ");
}

void describe(Page& app, Options& options) {
  app.head("Which function, and which line of source, executes and counts how much.",
           "tally profile [options] [--] PROGRAM [arguments]");
  app.prefix_command();
  repeated(app.add_option(
               "-e,--event", options.event_lists,
               "what to count at each place: names separated by commas; may be repeated (instructions, loads, stores)"),
           "EVENTS");
  app.add_option("--by", options.by, "what a row is: function (default), line, object, process, thread")
      ->option_text("WHAT");
  app.add_flag("-l,--lines", options.lines, "a row for each line of source; as --by line");
  app.add_flag("--calls", options.stat.calls,
               "who called whom, how often, and what calls counted up to their returns; takes more time");
  app.add_option("--sort", options.sort, "rows with --calls: by what functions count themselves (own) or with callees")
      ->option_text("own|callees");
  app.add_option("--annotate", options.annotate, "below the table: the source of a function or file, with its counts")
      ->option_text("NAME");
  app.add_flag("--asm", options.instructions,
               "with --annotate: the instructions of the function, as objdump prints them");
  app.add_option("--top", options.top, "rows of the table (40); 0: all")->option_text("N");
  app.add_flag("--full-names", options.whole_names, "functions of C++ and Rust with their parameters");
  app.add_flag("--inlines", options.inlines,
               "inlined functions as functions: what they count is theirs, not that of the function that holds them");
  add_model_options(app, options.model);
  add_launch_options(app, options.stat);
  app.add_option("--format", options.format,
                 "table (default, but for FILE.html, FILE.json, FILE.pb.gz), html, callgrind, cachegrind, folded, "
                 "speedscope, pprof, autofdo, json")
      ->option_text("FORMAT");
  app.add_option("-o,--output", options.output, "write it to this file; else to standard error")->option_text("FILE");
  app.add_flag("-q,--quiet", options.quiet,
               "no word about who counts, and why; TALLY_QUIET=1 in the environment does the same");
  add_engine_tuning(app, options.stat.engine);
  app.footer(examples);
}

Result<report::ProfileStyle> style_of(const Options& options) {
  report::ProfileStyle style;
  style.whole_names = options.whole_names;
  if (options.top < 0) return fail(Code::bad_usage, "--top is negative", "--top 0 shows all rows");
  style.most = static_cast<std::size_t>(options.top);
  const std::string by = options.lines ? "line" : options.by;
  const auto* const found =
      std::find_if(std::begin(groups), std::end(groups), [&](const auto& g) { return by == g.first; });
  if (found == std::end(groups))
    return fail(Code::bad_usage, fmt::format("--by {} is nothing to group by", printable(by)),
                "it takes function, line, object, process or thread");
  style.by = found->second;
  if (options.sort != "own" && options.sort != "callees")
    return fail(Code::bad_usage, fmt::format("--sort {} is no order", printable(options.sort)), "own or callees");
  style.by_inclusive = options.sort == "callees";
  return style;
}

const report::ProfileFormat* format_of(const Options& options) {
  std::string wanted = options.format.empty() ? "table" : options.format;
  // As other commands do, by the name of the output.
  for (const auto& [ending, form] : {std::pair{".html", "html"}, {".json", "json"}, {".pb.gz", "pprof"}})
    if (options.format.empty() && options.output.ends_with(ending)) wanted = form;
  for (const report::ProfileFormat& one : report::profile_formats())
    if (one.name == wanted) return &one;
  return nullptr;
}

// Places are known of what the engine counts and its models say, and not of what the kernel does.
Result<void> check_events(const std::vector<event::Event>& events, bool calls, std::string_view format) {
  for (const event::Event& event : events) {
    const event::Kind kind = event::definition(event.id).kind;
    const bool modelled = kind == event::Kind::microarchitectural;
    if (modelled && calls)
      return fail(Code::bad_usage,
                  fmt::format("{} has no room for {}, a model's event",
                              format.empty() ? "--calls" : fmt::format("--format {}, which is of calls,", format),
                              printable(event.asked)),
                  "take instructions, loads, stores, branches, or a form without calls: table, pprof, callgrind");
    if (kind == event::Kind::hardware || modelled) continue;
    return fail(Code::bad_usage, fmt::format("{} is not known by place", printable(event.asked)),
                "instructions, loads, stores, branches, and misses and cycles of a model are");
  }
  return {};
}

Result<std::string> annotated(const result::Profile& profile, const std::string& name) {
  const auto read = [](const std::string& path, const std::string& object) -> std::optional<report::Source> {
    auto text = linux::read_file(path);
    if (!text) return std::nullopt;
    return report::Source{*std::move(text), linux::is_newer(path, object)};
  };
  return report::annotated(profile, name, read);
}

// "  401136:\tmov    %esi,-0x4(%rsp)": lines of objdump that are instructions.
std::map<std::uint64_t, std::string> instructions_in(const std::string& text) {
  std::map<std::uint64_t, std::string> made;
  for (const std::string& line : split(text, '\n')) {
    const std::size_t colon = line.find(":\t");
    if (colon == std::string::npos) continue;
    const std::size_t begin = line.find_first_not_of(' ');
    std::uint64_t address = 0;
    const auto [end, error] = std::from_chars(line.data() + begin, line.data() + colon, address, 16);
    if (error == std::errc{} && end == line.data() + colon) made[address] = printable(line.substr(colon + 2));
  }
  return made;
}

Result<std::string> annotated_instructions(const result::Profile& profile, const std::string& name) {
  const auto read = [](const std::string& object, std::uint64_t begin,
                       std::uint64_t end) -> Result<std::map<std::uint64_t, std::string>> {
    const auto ended =
        linux::run_tool({"objdump", "-d", "-C", "--no-show-raw-insn", fmt::format("--start-address={}", begin),
                         fmt::format("--stop-address={}", end), "--", object});
    if (!ended)
      return fail(Code::cannot_measure, "instructions are written out by objdump, which is not installed",
                  "install the package binutils");
    if (ended->exit_code != 0)
      return fail(Code::cannot_measure, "objdump reads no instructions there: " + printable(ended->said));
    return instructions_in(ended->said);
  };
  return report::annotated_instructions(profile, name, read);
}

int profile(Options& options) {
  const report::ProfileFormat* const format = format_of(options);
  if (format == nullptr)
    return report_error({Code::bad_usage, fmt::format("unknown format '{}'", printable(options.format)),
                         "the formats are: " + format_names(), 0});
  if (format->has_calls) options.stat.calls = true;
  if (options.sort == "callees" && !options.stat.calls)
    return report_error({Code::bad_usage, "--sort callees goes with --calls", "add --calls", 0});
  if (options.stat.calls && format->name == "table" && (options.lines || options.by != "function"))
    return report_error({Code::bad_usage, "--calls goes with a row for each function",
                         "leave --by and --lines out, or take another --format", 0});
  if (options.instructions && options.annotate.empty())
    return report_error({Code::bad_usage, "--asm goes with --annotate", "--annotate FUNCTION says of which", 0});
  if (!options.annotate.empty() && format->name != "table")
    return report_error({Code::bad_usage, "--annotate goes with the table", "leave --format out", 0});
  if (options.inlines && format->inlined == report::InlinedCodeIs::lines)
    return report_error({Code::bad_usage, fmt::format("--format {} tells inlined code by its lines", format->name),
                         "leave --inlines out", 0});
  if (options.inlines && options.instructions)
    return report_error({Code::bad_usage, "--asm shows functions as they lie in the file", "leave --inlines out", 0});
  const auto style = style_of(options);
  if (!style) return report_error(style.error());
  // Who names a machine wants to know what it misses.
  const char* const usual = format->has_calls || (options.stat.calls && options.model.simulation) ? "instructions"
                            : options.model.simulation ? "instructions,L1-dcache-load-misses,LLC-load-misses"
                                                       : "instructions,loads,stores";
  auto events = event::parse_lists(options.event_lists.empty() ? std::vector<std::string>{usual} : options.event_lists,
                                   {}, event::Mode::user);
  if (!events) return report_error(events.error());
  if (const auto known = check_events(*events, options.stat.calls, format->has_calls ? format->name : ""); !known)
    return report_error(known.error());
  options.stat.events = *std::move(events);
  if (format->has_calls && options.stat.events.size() > 1)
    return report_error({Code::bad_usage, fmt::format("--format {} has room for one event", format->name),
                         "take another run for the others", 0});
  constexpr std::size_t most_events = 4;
  if (options.stat.calls && options.stat.events.size() > most_events)
    return report_error({Code::bad_usage, "more than 4 events with --calls", "take another run for the others", 0});
  const linux::Machine machine = linux::look_at_machine();
  auto choice = backend::choose("sim", options.stat.events, machine, {.simulation = options.model.simulation});
  if (!choice) return report_error(choice.error());
  if (const auto there = check_launch(options.stat); !there) return report_error(there.error());
  auto output = options.output.empty()  ? Result<linux::Output>(linux::Output::standard_error())
                : options.output == "-" ? Result<linux::Output>(linux::Output::standard_output())
                                        : linux::Output::open_file(options.output);
  if (!output) return report_error(output.error());
  auto signals = linux::Signals::watch();
  if (!signals) return report_error(signals.error());
  result::CodeCounts code;
  options.stat.on_code = [&](result::CodeCounts counts) { code = std::move(counts); };
  auto stat = measure::stat(*choice->backend, options.stat, *signals);
  if (!stat) return report_error(stat.error());
  stat->environment = measure::environment(machine);
  const bool of_rows = format->has_lines || style->by == report::ProfileBy::line || !options.annotate.empty();
  const auto lines = of_rows ? profile::Lines::of_rows : profile::Lines::of_functions;
  const bool finds_inlines = options.inlines || format->inlined == report::InlinedCodeIs::frames;
  result::Profile made =
      profile::resolve(std::move(code), *stat, lines, finds_inlines ? profile::Inlines::yes : profile::Inlines::no);
  if (options.inlines && format->inlined == report::InlinedCodeIs::functions)
    made = report::with_inlined_functions(made);
  std::string text = format->write(made, *style);
  const auto source = options.annotate.empty() ? Result<std::string>("")
                      : options.instructions   ? annotated_instructions(made, options.annotate)
                                               : annotated(made, options.annotate);
  if (source && !source->empty()) text += "\n" + *source;
  const auto written = output->write(text);
  if (!stat->notices.empty() && !is_quiet(options.quiet)) say(stat->notices);
  int code_of_tally = exit_ok;
  if (!written) code_of_tally = report_error(written.error());
  if (!source) code_of_tally = report_error(source.error());
  return end_as_measured(*stat, code_of_tally, *signals);
}

}  // namespace

void describe_profile(Page& page) {
  static Options unused;
  describe(page, unused);
}

int run_profile(const std::vector<std::string>& arguments) {
  Options options;
  Page app;
  describe(app, options);
  if (const auto code = app.read(arguments)) return *code;
  if (auto simulated = options.model.choose(); !simulated) return report_error(simulated.error());
  auto command = command_of(app, false, "tally profile -- ls -l");
  if (!command) return report_error(command.error());
  options.stat.command = std::move(*command);
  return profile(options);
}

}  // namespace tally::cli
