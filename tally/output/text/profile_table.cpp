#include "tally/output/text/profile_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "tally/core/base/text.hpp"
#include "tally/output/analysis/cycle_causes.hpp"
#include "tally/output/analysis/profile_objects.hpp"
#include "tally/output/analysis/profile_samples.hpp"
#include "tally/output/analysis/profile_sums.hpp"
#include "tally/output/analysis/run_spread.hpp"
#include "tally/output/analysis/whole_functions.hpp"
#include "tally/output/kinds/profile_forms.hpp"
#include "tally/output/kit/footnotes.hpp"
#include "tally/output/kit/grid.hpp"
#include "tally/output/kit/presented_machine_text.hpp"
#include "tally/output/result/string_elements.hpp"
#include "tally/output/text/cause_table.hpp"
#include "tally/output/text/mix_table.hpp"
#include "tally/output/text/python_table.hpp"
#include "tally/output/text/roofline_block.hpp"

namespace tally::output {
namespace {

std::string share(std::int64_t part, std::int64_t whole) {
  if (whole == 0 || part == 0) return "";
  return fmt::format("{:.2f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

/// The events with columns of their own: causes of cycles have one together. The first one sorts the rows: an estimate
/// of cycles before the modelled cycles that it corrects.
std::vector<std::size_t> counted(const result::Profile& profile) {
  const auto causes = CauseColumns::find(profile.stat.events);
  std::vector<std::size_t> events;
  for (std::size_t e = 0; e < profile.event_count(); ++e)
    if (profile.stat.events[e].total.count.trust != Trust::absent && !(causes && causes->has(e))) events.push_back(e);
  const auto is_called = [&](std::size_t e, std::string_view base) {
    return profile.stat.events[e].total.name.base == base;
  };
  // The events of a roofline: operations first, and no columns for precisions that the program lacks.
  if (profile.stat.roofline && total_count(profile, 0) != 0) {
    std::erase_if(events, [&](std::size_t e) { return total_count(profile, e) == 0; });
    std::stable_partition(events.begin(), events.end(), [&](auto e) { return is_called(e, "fp-operations"); });
  }
  if (!events.empty() && is_called(events.front(), "cycles"))
    std::stable_partition(events.begin(), events.end(), [&](auto e) { return is_called(e, "core-cycles-estimate"); });
  return events;
}

/// The name of a row, in the cells of its kind.
std::vector<std::string> names(const result::Profile& profile, const ProfileSum& sum,
                               const std::vector<std::string>& functions, const std::vector<std::string>& objects,
                               const ProfileStyle& style, std::size_t first_event) {
  const result::ProfileFunction& function = profile.functions[sum.function];
  const std::string& object = objects[function.object];
  const result::CodeOwner& owner = profile.owners[sum.owner];
  switch (style.by) {
    case ProfileBy::function: {
      std::vector<std::string> cells;
      if (profile.runs > 1) cells.push_back(spread_text(function, first_event));
      // Sections and inlined functions have no entry count.
      cells.insert(cells.end(),
                   {function.name.starts_with('[') || function.entered == 0 ? "" : thousands(function.entered),
                    functions[sum.function], object, location_of(profile, function.source, function.line)});
      return cells;
    }
    case ProfileBy::line:
      return {sum.line != 0 ? location_of(profile, sum.source, sum.line) : "unknown line", functions[sum.function],
              object};
    case ProfileBy::object: return {object};
    case ProfileBy::process: return {owner.command, std::to_string(owner.pid)};
    case ProfileBy::thread:
      return {owner.command, std::to_string(owner.pid), owner.tid == 0 ? "others" : std::to_string(owner.tid),
              owner.thread};
  }
  return {};
}

std::vector<Column> name_columns(ProfileBy by, bool has_runs) {
  switch (by) {
    case ProfileBy::function: {
      std::vector<Column> columns;
      if (has_runs) columns.push_back({"spread", Align::right});
      columns.insert(columns.end(), {{"entered", Align::right},
                                     {"function", Align::left, usual_name_width, true},
                                     {"file", Align::left, usual_name_width},
                                     {"line"}});
      return columns;
    }
    case ProfileBy::line:
      return {{"line", Align::left, usual_name_width, true},
              {"function", Align::left, usual_name_width, false, true},
              {"file"}};
    case ProfileBy::object: return {{"file", Align::left, 0, true}};
    case ProfileBy::process: return {{"program", Align::left, 0, true}, {"process", Align::right}};
    case ProfileBy::thread:
      return {{"program", Align::left, 0, true}, {"process", Align::right}, {"thread", Align::right}, {"name"}};
  }
  return {};
}

/// The numbers of a row, before its name. For samples, the first event has an interval.
class Numbers {
 public:
  Numbers(const result::Profile& profile, std::vector<std::size_t> events, bool with_calls)
      : profile_(profile),
        events_(std::move(events)),
        with_calls_(with_calls),
        causes_(CauseColumns::find(profile.stat.events)) {}

  std::vector<Column> columns() const {
    std::vector<Column> made{{"share", Align::right}};
    const auto add = [&](const std::string& heading) { made.push_back({heading, Align::right}); };
    if (profile_.is_sampled()) add("95 % interval");
    if (with_calls_) add("with callees");
    if (with_calls_ && profile_.is_sampled()) add("95 % interval");
    for (const std::size_t e : events_)
      add(!has_samples_only(e)  ? profile_.stat.events[e].total.name.text()
          : events_.size() == 1 ? "samples"
                                : "samples of " + profile_.stat.events[e].total.name.text());
    if (causes_) {
      const bool has_estimate = std::any_of(events_.begin(), events_.end(), [&](std::size_t e) {
        return profile_.stat.events[e].total.name.base == "core-cycles-estimate";
      });
      add(has_estimate ? "modelled IPC" : "IPC");
      made.push_back({"main cause"});
    }
    if (!has_mix()) return made;
    add("vector");
    add("FP vector");
    made.push_back({"main category"});
    return made;
  }

  /// `inclusive`: for the first event; nothing if unknown. `samples`: empty if the counts are not samples; then the row
  /// has no interval and no number in a column of samples.
  std::vector<std::string> cells(const std::vector<std::int64_t>& counts, std::optional<std::int64_t> inclusive,
                                 const std::vector<std::int64_t>& samples) const {
    const std::size_t first = events_.front();
    std::vector<std::string> made;
    const auto add_share = [&](std::optional<std::int64_t> count) {
      made.push_back(count ? share(*count, total_count(profile_, first)) : "");
      if (profile_.is_sampled())
        made.push_back(count && !samples.empty() ? interval_text(profile_, first, *count) : "");
    };
    add_share(counts[first]);
    if (with_calls_) add_share(inclusive);
    for (const std::size_t e : events_)
      made.push_back(!samples.empty() ? thousands(samples[e]) : has_samples_only(e) ? "" : thousands(counts[e]));
    add_causes(counts, made);
    return made;
  }

  std::size_t columns_before_counts() const {
    return columns().size() - events_.size() - (causes_ ? 2 : 0) - (has_mix() ? 3 : 0);
  }
  bool has_mix() const { return !profile_.forms.empty(); }
  /// Adds the cells of a mix; null: of none.
  void add_mix(const result::InstructionMix* mix, std::vector<std::string>& cells) const {
    if (!has_mix()) return;
    cells.resize(cells.size() + 3);
    if (mix == nullptr || mix->instructions == 0) return;
    *(cells.end() - 3) = share_text(mix->vector, mix->instructions);
    *(cells.end() - 2) = share_text(mix->fp_vector, mix->fp);
    if (mix->categories.empty()) return;
    const auto& [name, count] = mix->categories.front();
    cells.back() = name + " " + share_text(count, mix->instructions);
  }
  void add_causes(const std::vector<std::int64_t>& counts, std::vector<std::string>& cells) const {
    if (!causes_) return;
    cells.push_back(causes_->ipc(counts));
    cells.push_back(causes_->main_cause(counts));
  }

  /// Returns whether the column of this event has samples instead of counts.
  bool has_samples_only(std::size_t event) const { return profile_.is_sampled() && !profile_.sampling[event].of_all(); }

 private:
  const result::Profile& profile_;
  std::vector<std::size_t> events_;
  bool with_calls_;
  std::optional<CauseColumns> causes_;
};

/// Adds a row for counts that are in the totals and in no other row.
void add_rest(const Numbers& numbers, Grid& grid, const std::vector<std::int64_t>& counts,
              const std::vector<std::int64_t>& samples, const std::string& what, std::size_t before_name) {
  if (std::all_of(counts.begin(), counts.end(), [](std::int64_t n) { return n == 0; })) return;
  std::vector<std::string> cells = numbers.cells(counts, std::nullopt, samples);
  numbers.add_mix(nullptr, cells);
  cells.resize(cells.size() + before_name);
  cells.push_back(what);
  grid.add(std::move(cells));
}

/// The rows in their order.
std::vector<ProfileSum> sorted_sums(const result::Profile& profile, const ProfileStyle& style, std::size_t first_event,
                                    const std::vector<std::int64_t>& inclusive) {
  std::vector<ProfileSum> sums = sums_of(profile, style.by);
  const bool by_inclusive = !inclusive.empty() && style.by_inclusive;
  const auto of = [&](const ProfileSum& sum) {
    return by_inclusive ? inclusive[sum.function * profile.event_count() + first_event] : sum.counts[first_event];
  };
  std::stable_sort(sums.begin(), sums.end(), [&](const ProfileSum& a, const ProfileSum& b) { return of(a) > of(b); });
  return sums;
}

std::vector<std::int64_t> inclusive_of_rows(const result::Profile& profile, const ProfileStyle& style) {
  const bool with_calls = !profile.calls.empty() && style.by == ProfileBy::function;
  return with_calls ? inclusive_of_functions(profile) : std::vector<std::int64_t>{};
}

std::size_t shown_rows(const ProfileStyle& style, const std::vector<ProfileSum>& sums) {
  return style.most == 0 ? sums.size() : std::min(style.most, sums.size());
}

/// Moves the kernel's row below the first `shown`, and returns how many rows are shown then: no model counts its
/// cycles, so it would be among those left out, whatever part of an estimate it has.
std::size_t show_kernel(const result::Profile& profile, std::size_t shown, std::vector<ProfileSum>& sums) {
  const auto end_of_shown = sums.begin() + static_cast<std::ptrdiff_t>(shown);
  const auto kernel = std::find_if(end_of_shown, sums.end(), [&](const ProfileSum& sum) {
    return profile.functions[sum.function].name == result::kernel_code;
  });
  if (kernel == sums.end()) return shown;
  std::rotate(end_of_shown, kernel, kernel + 1);
  return shown + 1;
}

/// The mix of the program, and those of the first functions; empty if it was not requested.
std::string mix_of_functions(const result::Profile& profile, const std::vector<ProfileSum>& sums,
                             const std::vector<std::string>& functions, const ProfileStyle& style) {
  constexpr std::size_t most = 4;
  if (!profile.stat.mix || profile.stat.mix->instructions == 0) return "";
  std::vector<NamedMix> mixes{{"", *profile.stat.mix}};
  for (std::size_t i = 0; i < std::min(shown_rows(style, sums), most) && style.by == ProfileBy::function; ++i)
    if (result::InstructionMix mix = result::mix_of(sums[i].executions, profile.forms); mix.instructions != 0)
      mixes.push_back({functions[sums[i].function], std::move(mix)});
  return mix_table(mixes, style.terminal) + "\n";
}

/// The trust of the counts: one line if all are equal.
std::string trust_lines(const result::Stat& stat) {
  const auto causes = CauseColumns::find(stat.events);
  const auto trust_of = [](const result::Event& event) { return trust_text(event.total.count); };
  const std::string first = trust_of(stat.events.front());
  if (std::all_of(stat.events.begin(), stat.events.end(), [&](const auto& event) { return trust_of(event) == first; }))
    return fmt::format(" trust: {}\n", first);
  std::string text;
  for (std::size_t e = 0; e < stat.events.size(); ++e)
    if (!causes || !causes->has(e))
      text += fmt::format(" trust of {}: {}\n", stat.events[e].total.name.text(), trust_of(stat.events[e]));
  return text;
}

}  // namespace

std::vector<std::uint32_t> shown_functions(const result::Profile& of, const ProfileStyle& style) {
  std::optional<WholeFunctions> whole;
  if (!style.whole_names) whole.emplace(of);
  const result::Profile& profile = whole ? whole->get() : of;
  const std::vector<std::size_t> events = counted(profile);
  if (events.empty() || style.by != ProfileBy::function) return {};
  const std::vector<ProfileSum> sums = sorted_sums(profile, style, events.front(), inclusive_of_rows(profile, style));
  std::set<std::uint32_t> shown;
  for (std::size_t i = 0; i < shown_rows(style, sums); ++i) shown.insert(sums[i].function);
  std::vector<std::uint32_t> functions;
  for (std::uint32_t f = 0; f < of.functions.size(); ++f)
    if (shown.count(whole ? whole->index_of(f) : f) != 0) functions.push_back(f);
  return functions;
}

std::string profile_table(const result::Profile& profile, const ProfileStyle& style) {
  const std::vector<std::size_t> events = counted(profile);
  if (events.empty()) return "nothing was counted\n" + trust_lines(profile.stat);
  const std::vector<std::int64_t> inclusive = inclusive_of_rows(profile, style);
  std::vector<ProfileSum> sums = sorted_sums(profile, style, events.front(), inclusive);
  const bool with_calls = !profile.calls.empty() && style.by == ProfileBy::function;
  const Numbers numbers(profile, events, with_calls);
  std::vector<Column> columns = numbers.columns();
  for (Column& column : name_columns(style.by, profile.runs > 1)) columns.push_back(std::move(column));
  Grid grid(std::move(columns));
  std::vector<std::string> functions = function_names(profile, style.whole_names);
  const std::vector<std::string> objects = object_names(profile, style.by == ProfileBy::object);
  if (!style.whole_names) functions = cut_names(std::move(functions));
  bool any_unseen = false;
  const std::size_t shown = show_kernel(profile, shown_rows(style, sums), sums);
  for (std::size_t i = 0; i < shown; ++i) {
    std::optional<std::int64_t> all;
    if (with_calls) all = inclusive[sums[i].function * profile.event_count() + events.front()];
    // The calls of a function that was reached by jumps are unknown, also those of an event whose counts a model
    // divides among the calls.
    if (all && std::any_of(events.begin(), events.end(), [&](std::size_t e) {
          return inclusive[sums[i].function * profile.event_count() + e] < sums[i].counts[e];
        })) {
      all.reset();
      any_unseen = true;
    }
    std::vector<std::string> cells = numbers.cells(sums[i].counts, all, sums[i].samples);
    if (numbers.has_mix()) {
      const result::InstructionMix mix = result::mix_of(sums[i].executions, profile.forms);
      numbers.add_mix(&mix, cells);
    }
    std::vector<std::string> of_row = names(profile, sums[i], functions, objects, style, events.front());
    if (!style.whole_names) of_row = cut_names(std::move(of_row));
    for (std::string& name : of_row) cells.push_back(std::move(name));
    grid.add(std::move(cells));
  }
  const std::size_t before_name = style.by != ProfileBy::function ? 0 : profile.runs > 1 ? 2 : 1;
  std::vector<std::int64_t> more(profile.event_count()), more_samples(profile.is_sampled() ? more.size() : 0),
      all_samples = more_samples;
  for (std::size_t i = 0; i < sums.size(); ++i)
    for (std::size_t e = 0; e < more.size(); ++e) {
      if (i >= shown) more[e] += sums[i].counts[e];
      if (!profile.is_sampled()) continue;
      all_samples[e] += sums[i].samples[e];
      if (i >= shown) more_samples[e] += sums[i].samples[e];
    }
  add_rest(numbers, grid, more, more_samples, fmt::format("--top 0 shows {} more", sums.size() - shown), before_name);
  add_rest(numbers, grid, profile.repeated, {}, result::string_elements, before_name);
  add_rest(numbers, grid, profile.unplaced, {}, "[not at any place: see below]", before_name);
  std::vector<std::int64_t> totals;
  for (std::size_t e = 0; e < profile.event_count(); ++e) totals.push_back(total_count(profile, e));
  std::vector<std::string> cells(numbers.columns_before_counts());
  for (const std::size_t e : events)
    cells.push_back(thousands(numbers.has_samples_only(e) ? all_samples[e] : totals[e]));
  numbers.add_causes(totals, cells);
  numbers.add_mix(profile.stat.mix ? &*profile.stat.mix : nullptr, cells);
  cells.resize(cells.size() + before_name);
  cells.emplace_back("total");
  grid.add(std::move(cells));

  const std::string python = python_table(profile, style);
  std::string text = profile.stat.roofline ? roofline_block(*profile.stat.roofline, style.terminal) + "\n" : "";
  text +=
      fmt::format("{}\n\n{}{}", profile.stat.target.empty() ? shell_words(profile.stat.command) : profile.stat.target,
                  python.empty() ? "" : python + "\n", grid.text(style.terminal));
  text += "\n";
  if (const std::string causes = cause_table(profile, style.terminal); !causes.empty()) text += causes + "\n";
  text += mix_of_functions(profile, sums, functions, style);
  text += trust_lines(profile.stat);
  if (const std::string line = runs_line(profile); !line.empty()) text += fmt::format(" {}\n", line);
  for (const std::string& line : sampling_lines(profile)) text += fmt::format(" {}\n", line);
  if (std::any_of(profile.unplaced.begin(), profile.unplaced.end(), [](std::int64_t n) { return n != 0; }))
    text += profile.is_sampled()
                ? " [not at any place]: counted and not sampled, because the kernel took the counters away\n"
                : " [not at any place]: counted natively, after a process was killed, without room for records of the "
                  "code, or (machine model) by too many different instructions of a thread\n";
  if (any_unseen)
    text += " with callees: empty if jumps (tail calls) also reach the function, or if its thread started in it\n";
  if (profile.calls_cut)
    text +=
        " too many different call stacks: some calls are attributed to their callers or to an outer call of the same "
        "function, and counts with callees may be too small\n";
  if (profile.calls_too_deep)
    text += " calls were too deep: calls nested deeper than 262,143 are attributed to their callers\n";
  if (profile.stat.incomplete) text += " incomplete: interrupted before all counts and names were collected\n";
  if (profile.stat.signal) text += fmt::format(" the program was killed by {}\n", signal_name(*profile.stat.signal));
  const auto end_of_shown = sums.begin() + static_cast<std::ptrdiff_t>(shown);
  const auto lineless = std::count_if(sums.begin(), end_of_shown, [](const ProfileSum& sum) { return sum.line == 0; });
  if (style.by == ProfileBy::line && lineless > 0)
    text +=
        lineless == end_of_shown - sums.begin()
            ? " no line information: compile the program with -g; --debuginfod downloads debug files of libraries\n"
            : " rows without a line: their files have no line information; --debuginfod downloads that of libraries\n";
  if (const std::string line = unnamed_share_line(profile); !line.empty()) text += fmt::format(" {}\n", line);
  for (const std::string& line : nameless_lines(profile)) text += fmt::format(" {}\n", line);
  for (const std::string& line : unread_lines(profile)) text += fmt::format(" {}\n", line);
  if (const auto words = presented_machine(profile.stat); !words.empty())
    text += fmt::format(" {} · {}\n", printable(profile.stat.backend), join(words, " · "));
  return wrapped_lines(text, style.terminal);
}

}  // namespace tally::output
