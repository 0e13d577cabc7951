#include "programs/discover/discover_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "tally/core/base/parse_text.hpp"
#include "tally/core/base/text.hpp"
#include "tally/counting/backend/choose/choose_backend.hpp"
#include "tally/hardware/assembly/code_loop.hpp"
#include "tally/tools/command/command_page.hpp"
#include "tally/tools/command/common_options.hpp"

namespace tally::discover {
namespace {

constexpr const char* discover_footer =
    "tally runs short code sequences of known content (payloads) in several sizes, each next to a control that differs "
    "in one respect, and counts every event in all of them. The count per copy of a payload shows what the event "
    "counts. Events that no payload distinguishes are reported as aliases, together with a payload that would "
    "distinguish them.\n"
    "\n"
    "Backends: perf uses the PMU of this machine. engine uses an invented PMU: a secret event map, generated from the "
    "seed, on top of the engine's counts, with interrupts and noise. --score compares the result with that map.\n"
    "\n"
    "PAYLOAD is a name from --list, an assembly file (.s), or one line of assembly (Intel syntax on x86-64). The file "
    "of -o holds every count, one line per run. --resume continues an interrupted sweep; --analyse analyses the file "
    "again without counting.\n"
    "\n"
    "Examples:\n"
    "  tally discover --score\n"
    "  tally discover --seed 7 --payload load-miss --payload tlb-miss -o found.jsonl\n"
    "  tally discover --backend perf --umasks 0x01,0x02 -o found.jsonl\n"
    "  tally discover --resume found.jsonl\n"
    "  tally discover --payload 'crc32 rax, rbx' --control 'add rax, rbx'\n";

// Parses "0x00-0x1f,0x3c"; a range can also be written with "..".
Result<std::vector<std::uint64_t>> numbers(const std::string& list, std::uint64_t most, const char* what) {
  std::vector<std::uint64_t> all;
  for (const std::string& part : split(list, ',')) {
    const std::size_t dots = part.find("..");
    const std::size_t dash = dots == std::string::npos ? part.find('-') : dots;
    const auto first = parse_unsigned(trimmed(part.substr(0, dash)));
    const auto last = dash == std::string::npos
                          ? first
                          : parse_unsigned(trimmed(part.substr(dash + (dots == std::string::npos ? 1 : 2))));
    if (!first || !last || *last < *first || *last > most) {
      return fail(Code::bad_usage, fmt::format("'{}' is not a valid {}", printable(part), what),
                  fmt::format("for example: 0x00-0x1f,0x3c; the highest code is {:#x}", most));
    }
    for (std::uint64_t one = *first; one <= *last; ++one) all.push_back(one);
  }
  return all;
}

Result<std::vector<std::uint64_t>> codes_of(const DiscoverOptions& options) {
  auto events = numbers(options.events, 0xffff, "event code");
  if (!events || options.umasks.empty()) return events;
  auto masks = numbers(options.umasks, 0xff, "unit mask");
  if (!masks) return masks;
  std::vector<std::uint64_t> codes;
  for (const std::uint64_t event : *events) {
    for (const std::uint64_t mask : *masks) codes.push_back(event | mask << 8);
  }
  return codes;
}

// Whether it is code instead of a name in the library: a file, several words, or one word that assembles ("mfence").
bool is_code(const std::string& payload) {
  if (payload.find_first_of(" ;[\n") != std::string::npos || payload.ends_with(".s") || payload.ends_with(".S"))
    return true;
  const auto& library = discover::library();
  const bool is_name =
      std::any_of(library.begin(), library.end(), [&](const Payload& one) { return one.facts.name == payload; });
  return !is_name && !payload.empty() && assembly::machine_code(payload, "--payload").has_value();
}

// The counters of the invented PMU. "8": their number; "0-3,7" and "0x8f": the ones to use.
struct CounterChoice {
  int number = 0;
  std::vector<int> used;  // empty: all
};

Result<CounterChoice> counters_of(const std::string& text) {
  constexpr int most = 32;
  const auto wrong = [&] {
    return fail(Code::bad_usage, fmt::format("--counters: '{}' is not a number, a list or a mask", printable(text)),
                "for example: 8, 0-3,7 or 0x8f; at most 32 counters");
  };
  CounterChoice chosen;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    const auto mask = parse_unsigned(text);
    if (!mask || *mask == 0 || *mask >> most != 0) return wrong();
    for (int i = 0; i < most; ++i) {
      if (*mask >> i & 1) chosen.used.push_back(i);
    }
  } else if (text.find_first_of(",-.") != std::string::npos) {
    const auto list = numbers(text, most - 1, "counter number");
    if (!list) return fail(list.error());
    for (const std::uint64_t one : *list) chosen.used.push_back(static_cast<int>(one));
    std::sort(chosen.used.begin(), chosen.used.end());
    chosen.used.erase(std::unique(chosen.used.begin(), chosen.used.end()), chosen.used.end());
  } else {
    const auto number = parse_unsigned(text);
    if (!number || *number == 0 || *number > most) return wrong();
    chosen.number = static_cast<int>(*number);
    return chosen;
  }
  constexpr int usual = 8;
  chosen.number = std::max(usual, chosen.used.back() + 1);
  return chosen;
}

}  // namespace

void describe_discover_options(command::Page& page, DiscoverOptions& options) {
  page.head("Find out what undocumented events count, by running code of known content.", "tally discover [options]");
  page.add_option("--events", options.events, "event codes, separated by commas (default: 0x00-0xff)")
      .value_name("CODES");
  page.add_option("--umasks", options.umasks,
                  "on x86: unit masks to try with each event, such as 0x01,0x02 (default: 0)")
      .value_name("MASKS");
  page.add_option("--payload", options.payloads,
                  "use only this payload and its control; may be repeated (default: all)")
      .repeated()
      .value_name("PAYLOAD");
  page.add_option("--control", options.control,
                  "control for a payload of your own: the same code without the instruction in question")
      .value_name("PAYLOAD");
  page.add_option("--sizes", options.sizes, "copies of a payload per run: at least four numbers, separated by commas")
      .value_name("COPIES");
  page.add_option("--repeats", options.repeats, "runs of each size, after one warm-up run (default: 7)")
      .value_name("N")
      .check(command::whole_number(3, 1000));
  page.add_option("--tolerance", options.tolerance,
                  "how far a count may be from the number that a name predicts, next to its own error (default: 2%)")
      .value_name("PERCENT");
  page.add_option("--counters", options.counters,
                  "counters of the invented PMU: how many (8), which (0-3,7) or a mask (0x8f)")
      .value_name("N|LIST|MASK");
  page.add_option("--pin", options.processor,
                  "with --backend perf: run payloads on this CPU (default: the second allowed CPU)")
      .value_name("CPU")
      .check(command::whole_number(0));
  command::add_backend_option(page, options.backend, "the backend that counts: engine (default), perf")
      .one_of({"engine", "perf"});
  page.add_option("--seed", options.seed, "seed of the random number generator (default: 1)").value_name("SEED");
  page.add_option("-o,--output", options.output, "write every count to FILE").value_name("FILE");
  page.add_option("--resume", options.resume, "continue the interrupted sweep in FILE").value_name("FILE");
  page.add_option("--analyse", options.analyse, "analyse the counts in FILE again, without counting")
      .value_name("FILE");
  page.add_option("--table", options.table, "write the identified events to FILE, for --event-table")
      .value_name("FILE");
  page.add_flag("--json", options.json, "print one JSON object");
  page.add_flag("--all", options.all, "show the verdict for each payload");
  page.add_flag(
      "--score", options.score,
      "compare the result with the secret event map, and with the M1 framework's algorithm; with --backend engine");
  page.add_flag("--list", options.list, "list the payloads and exit");
  page.footer(discover_footer);
}

// The payloads of the library that the user named, with their controls, and the user's own.
Result<std::vector<Payload>> payloads_of(const DiscoverOptions& options) {
  std::vector<std::string> names;
  std::vector<Payload> own;
  int own_number = 0;
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
        own.push_back(users_own(control, *code, ""));
        own.back().facts.target.clear();
      }
    } else {
      names.push_back(control);
    }
    own.push_back(users_own(fmt::format("own-{}", ++own_number), *text, control));
  }
  // If all requested payloads are the user's own, uses the whole library, because event names come from it.
  const bool only_own = std::all_of(options.payloads.begin(), options.payloads.end(), is_code);
  auto all = chosen(only_own ? std::vector<std::string>{} : names);
  if (!all) return all;
  all->insert(all->end(), own.begin(), own.end());
  return all;
}

Result<Record> new_record(const DiscoverOptions& options, const std::vector<Payload>& payloads) {
  Record record;
  record.backend = options.backend;
  record.seed = options.seed;
  record.repeats = options.repeats + 1;
  auto codes = codes_of(options);
  if (!codes) return fail(codes.error());
  record.events = *std::move(codes);
  const bool chooses = !backend::traits_of(options.backend).has_pmu_counters;
  // On a PMU a run takes at least a millisecond, and starting the program is negligible next to thousands of copies.
  record.sizes = chooses ? std::vector<std::uint64_t>{100'000, 200'000, 400'000, 800'000}
                         : std::vector<std::uint64_t>{20'000, 40'000, 80'000, 160'000};
  if (!options.sizes.empty()) {
    auto sizes = numbers(options.sizes, 1'000'000'000, "number of copies");
    if (!sizes) return fail(sizes.error());
    record.sizes = *std::move(sizes);
    if (record.sizes.size() < 2 || !std::is_sorted(record.sizes.begin(), record.sizes.end()) || record.sizes[0] < 20) {
      return fail(Code::bad_usage, "--sizes needs at least two numbers of copies in ascending order, each 20 or more",
                  "for example: --sizes 100000,200000,400000,800000");
    }
  }
  for (std::uint64_t& size : record.sizes) size -= size % copies_in_round;
  for (const Payload& one : payloads) record.payloads.push_back(one.facts);
  const auto counters = counters_of(options.counters);
  if (!counters) return fail(counters.error());
  if (!chooses && options.counters != DiscoverOptions().counters) {
    return fail(Code::bad_usage,
                "--counters needs the invented PMU (--backend engine): with perf the kernel chooses the counters");
  }
  if (chooses && options.processor) {
    return fail(Code::bad_usage, "--pin needs --backend perf: the invented PMU is not tied to a CPU");
  }
  if (chooses) {
    record.counters = counters->number;
    record.used = counters->used;
  }
  return record;
}

// The payloads of a resumed record; they must be the same as when it was started.
Result<std::vector<Payload>> payloads_of(const Record& record) {
  std::vector<Payload> all;
  for (const Facts& facts : record.payloads) {
    const auto& library = discover::library();
    const auto one = std::find_if(library.begin(), library.end(), [&](const auto& p) { return p.facts == facts; });
    if (one == library.end() && !facts.known && !facts.code.empty()) {
      all.push_back({facts, "", facts.code});
      continue;
    }
    if (one == library.end()) {
      return fail(Code::bad_usage,
                  fmt::format("payload '{}' in this file differs from the one in this version of tally", facts.name),
                  "`--analyse` still analyses its counts");
    }
    all.push_back(*one);
  }
  return all;
}

Result<Limits> limits_of(const DiscoverOptions& options) {
  constexpr double most_percent = 50;
  std::string_view text = options.tolerance;
  if (text.ends_with('%')) text.remove_suffix(1);
  double percent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
  if (error != std::errc{} || end != text.data() + text.size() || !(percent >= 0 && percent <= most_percent)) {
    return fail(Code::bad_usage,
                fmt::format("--tolerance: '{}' is not a percentage from 0 to 50", printable(options.tolerance)),
                "for example: --tolerance 5%");
  }
  Limits limits;
  limits.share = percent / 100;
  return limits;
}

// Explains why there are more payloads than the user asked for; empty if there are not.
std::string payload_count_text(const std::vector<Payload>& payloads) {
  const auto count = [&](auto is_it) { return std::count_if(payloads.begin(), payloads.end(), is_it); };
  const auto own = count([](const Payload& one) { return one.facts.target == users_payload; });
  const auto known = count([](const Payload& one) { return one.facts.known; });
  if (static_cast<std::size_t>(known) == library().size()) {
    if (own == 0) return {};
    return fmt::format(
        "{} payloads: {} of your own, its control, and those of the library, which identify known events",
        payloads.size(), own);
  }
  return fmt::format("{} payloads: those you chose, their controls, and {}, which test the PMU itself", payloads.size(),
                     payloads.front().facts.name);
}

}  // namespace tally::discover
