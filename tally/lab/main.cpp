// tally-lab: started by `tally lab`, which checks the options and hands them on, each as --name=value.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tally/base/text.hpp"
#include "tally/lab/json.hpp"
#include "tally/lab/lint.hpp"
#include "tally/lab/prompt.hpp"
#include "tally/lab/script_story.hpp"
#include "tally/lab/story.hpp"

namespace tally::lab {
namespace {

// As tally's own: docs/reference of the exit codes.
enum ExitCode : int { exit_ok = 0, exit_no = 1, exit_bad_usage = 2, exit_cannot = 125, exit_not_found = 127 };

struct Options {
  std::string file;
  std::string statements;
  std::string model = "haswell-v3";
  int bits = 0;
  std::uint64_t skid = 0;
  std::uint64_t base = 1;
  std::uint64_t current = 1;
  std::uint64_t width = 1;
  std::uint64_t cache = 8 << 20;
  std::vector<std::string> defines;
  bool single = false;
  bool overcount = false;
  bool trace = false;
  bool step = false;
  std::string time;
  bool explain = false;
  bool quiet = false;
  bool dump = false;
  bool json = false;
  bool interactive = false;
  bool reads = false;
  std::uint64_t max_instructions = 100'000'000;
  std::vector<std::string> breaks;
};

std::optional<std::string> value_of(const std::string& argument, std::string_view name) {
  const std::string start = fmt::format("--{}=", name);
  if (!argument.starts_with(start)) return std::nullopt;
  return argument.substr(start.size());
}

std::uint64_t number(const std::string& text) { return std::strtoull(text.c_str(), nullptr, 10); }

Options read_options(const std::vector<std::string>& arguments) {
  Options options;
  for (const std::string& one : arguments) {
    if (auto v = value_of(one, "file")) options.file = *v;
    if (auto v = value_of(one, "statements")) options.statements = *v;
    if (auto v = value_of(one, "model")) options.model = *v;
    if (auto v = value_of(one, "bits")) options.bits = static_cast<int>(number(*v));
    if (auto v = value_of(one, "skid")) options.skid = number(*v);
    if (auto v = value_of(one, "base")) options.base = number(*v);
    if (auto v = value_of(one, "current")) options.current = number(*v);
    if (auto v = value_of(one, "max-instructions")) options.max_instructions = number(*v);
    if (auto v = value_of(one, "break")) options.breaks.push_back(*v);
    if (auto v = value_of(one, "width")) options.width = number(*v);
    if (auto v = value_of(one, "cache")) options.cache = number(*v);
    if (auto v = value_of(one, "define")) options.defines.push_back(*v);
    if (one == "--single") options.single = true;
    if (one == "--overcount") options.overcount = true;
    if (one == "--trace") options.trace = true;
    if (one == "--step") options.step = true;
    if (auto v = value_of(one, "time")) options.time = *v;
    if (one == "--explain") options.explain = true;
    if (one == "--quiet") options.quiet = true;
    if (one == "--dump") options.dump = true;
    if (one == "--json") options.json = true;
    if (one == "--interactive") options.interactive = true;
    if (one == "--reads") options.reads = true;
  }
  return options;
}

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

int report(const Error& error) {
  std::fflush(stdout);
  std::fprintf(stderr, "tally: %s\n", error.message.c_str());
  if (!error.hint.empty()) std::fprintf(stderr, "       %s\n", error.hint.c_str());
  switch (error.code) {
    case Code::bad_usage: return exit_bad_usage;
    case Code::not_found: return exit_not_found;
    default: return exit_cannot;
  }
}

Result<std::uint64_t> place_of(const Image& image, const std::string& word) {
  if (const auto address = image.address_of(word)) return *address;
  return fail(Code::bad_usage, fmt::format("there is no place '{}' in the program", printable(word)),
              "a line that has an instruction, a label, or an address as 100020H");
}

Result<Settings> settings_of(const Options& options, const Image& image) {
  Settings settings;
  settings.profile = pmu::emulated::profile_of(options.model);
  if (!settings.profile) {
    std::vector<std::string> names;
    for (const auto& profile : pmu::emulated::profiles()) names.emplace_back(profile.name);
    return fail(Code::bad_usage, fmt::format("there is no model '{}'", printable(options.model)),
                "there are " + join(names, ", "));
  }
  settings.behaviour.clock = {options.base, options.current};
  settings.behaviour.skid = static_cast<int>(options.skid);
  settings.behaviour.overcount_on_irq = options.overcount;
  settings.width = static_cast<int>(options.width);
  settings.cache_bytes = options.cache;
  settings.blocks = !options.single;
  settings.max_instructions = options.max_instructions;
  settings.steps = options.trace || options.step;
  settings.step_registers = options.step;
  settings.reads = options.reads;
  for (const std::string& word : options.breaks) {
    const auto address = place_of(image, word);
    if (!address) return fail(address.error());
    settings.breakpoints.push_back(*address);
  }
  return settings;
}

int exit_code_of(const End& end) {
  if (end.is_error()) return exit_no;
  return end.reason == End::Reason::exited ? end.code : exit_ok;
}

// What lies between two places: --time.
struct Stretch {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  bool is_open = false;
  std::uint64_t instructions = 0;
  std::uint64_t stamps = 0;

  // What is to be told when the program stands at `address`.
  std::string pass(std::uint64_t address, const Machine& machine) {
    std::string text;
    if (address == to && is_open) {
      is_open = false;
      text = fmt::format("from {} to {}: {} instructions, {} time stamps\n", machine.image().place(from),
                         machine.image().place(to),
                         thousands(static_cast<std::int64_t>(machine.instructions() - instructions)),
                         thousands(static_cast<std::int64_t>(machine.pmu().time_stamp() - stamps)));
    }
    if (address == from) {
      is_open = true;
      instructions = machine.instructions();
      stamps = machine.pmu().time_stamp();
    }
    return text;
  }
};

Result<std::optional<Stretch>> stretch_of(const Options& options, const Image& image) {
  if (options.time.empty()) return std::optional<Stretch>{};
  const std::size_t dots = options.time.find("..");
  const auto from = place_of(image, options.time.substr(0, dots));
  if (!from) return fail(from.error());
  const auto to = place_of(image, options.time.substr(dots + 2));
  if (!to) return fail(to.error());
  return Stretch{*from, *to};
}

// Everything about one run: what it is told as, and what remains of it.
struct Run {
  const Options& options;
  const Script* script = nullptr;
  Telling telling;
  std::optional<ScriptStory> story;
  Linter linter;
  std::vector<Entry> entries;
  Machine* machine = nullptr;
  std::optional<Stretch> stretch;
  std::vector<std::uint64_t> asked;  // breakpoints that are told

  bool is_asked(std::uint64_t address) const { return std::find(asked.begin(), asked.end(), address) != asked.end(); }

  void hear(const Entry& heard) {
    Entry entry = heard;
    if (stretch && entry.kind == Entry::Kind::breakpoint) {
      const std::string text = stretch->pass(entry.address, *machine);
      if (!options.json) print(text);
      if (!is_asked(entry.address)) return;
    }
    const auto more = linter.look(entry, machine->pmu());
    entry.remarks.insert(entry.remarks.end(), more.begin(), more.end());
    if (options.json) {
      entries.push_back(std::move(entry));
    } else if (story) {
      print(story->hear(entry, *machine));
    } else {
      print(told(entry, *machine, telling));
    }
  }
};

struct Outcome {
  int code = exit_ok;
  bool is_error = false;
};

// `first`: statements before it were told already.
Outcome run(const Options& options, const Image& image, const Script* script, std::size_t first = 0) {
  auto settings = settings_of(options, image);
  if (!settings) return {report(settings.error()), true};
  const auto stretch = stretch_of(options, image);
  if (!stretch) return {report(stretch.error()), true};
  Run run{options, script, {options.explain, options.quiet}, {}, {}, {}, nullptr, *stretch, settings->breakpoints};
  if (script) {
    settings->reads = true;
    for (const Statement& one : script->statements) settings->breakpoints.push_back(one.address);
    settings->breakpoints.push_back(script->end);
    run.story.emplace(*script, run.telling, first);
  }
  if (*stretch) {
    settings->breakpoints.push_back((*stretch)->from);
    settings->breakpoints.push_back((*stretch)->to);
  }
  const auto machine = Machine::make(image, *settings, [&run](const Entry& entry) { run.hear(entry); });
  if (!machine) return {report(machine.error()), true};
  run.machine = machine->get();
  if (!options.json && !options.quiet && !options.interactive) print(headline(*settings->profile));
  const End end = (*machine)->run();
  const auto last = run.linter.at_end((*machine)->pmu(), (*machine)->interrupts_enabled());
  if (options.json) {
    print(json_text(run.entries, end, **machine, last));
    return {exit_code_of(end), end.is_error()};
  }
  if (run.story) print(run.story->finish(**machine));
  if (!script) print(ending(end, **machine, run.telling));
  if (!options.quiet) print(remarks_text(last, true, ""));
  if (options.dump) print(drawings(**machine));
  std::fflush(stdout);
  // At the prompt the statement is taken back: nothing has broken.
  if (end.is_error() && !options.interactive) {
    std::fprintf(stderr, "tally: %s\n", end.message.c_str());
    for (const std::string& line : wrapped(end.hint, 100)) std::fprintf(stderr, "       %s\n", line.c_str());
  }
  return {exit_code_of(end), end.is_error()};
}

// The prompt. All that was typed is run again with each line, and only the new statements are told: the machine is
// always in the state that the lines above lead to.
int converse(const Options& options) {
  print(headline(*settings_of(options, {})->profile));
  print("statements as for -e; dump draws all registers, reset starts anew, quit ends\n");
  Prompt prompt;
  std::string so_far;
  std::size_t told_already = 0;
  while (const auto line = prompt.read()) {
    const std::string words = trimmed(*line);
    if (words.empty()) continue;
    if (words == "quit" || words == "exit") break;
    if (words == "reset") {
      so_far.clear();
      told_already = 0;
      continue;
    }
    Options once = options;
    once.dump = words == "dump";
    const std::string text = once.dump ? so_far + ";nop" : so_far + ";" + words;
    const auto script = compile(text);
    if (!script) {
      report(script.error());
      continue;
    }
    // Statements that were told, and for a drawing the one that stands for none.
    const std::size_t first = once.dump ? script->statements.size() : told_already;
    const Outcome outcome = run(once, script->image, &*script, first);
    if (outcome.is_error || once.dump) continue;
    so_far = text;
    told_already = script->statements.size();
  }
  return exit_ok;
}

int run_all(const Options& options) {
  if (options.interactive) {
    if (const auto settings = settings_of(options, {}); !settings) return report(settings.error());
    return converse(options);
  }
  if (!options.statements.empty()) {
    const auto script = compile(options.statements);
    return script ? run(options, script->image, &*script).code : report(script.error());
  }
  const auto image = load(options.file, options.bits, options.defines);
  if (image) {
    for (const std::string& one : image->warnings) std::fprintf(stderr, "tally: %s\n", one.c_str());
  }
  return image ? run(options, *image, nullptr).code : report(image.error());
}

}  // namespace
}  // namespace tally::lab

int main(int count, char** words) { return tally::lab::run_all(tally::lab::read_options({words + 1, words + count})); }
