#include "programs/verify_output/verify_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tally/core/base/text.hpp"
#include "tally/output/kit/grid.hpp"
#include "tally/output/result/backend_label.hpp"

namespace tally::output {
namespace {

using result::Check;
using result::EventGrade;

constexpr std::size_t usual_verify_width = 110;

std::string counter_text(const result::Verify& verify) {
  const result::BackendLabel label = result::label_of(verify.backend);
  if (label.has_pmu && !verify.environment.pmus.empty()) return "the PMU " + verify.environment.pmus.front();
  return label.subject.empty() ? "the backend " + verify.backend : std::string(label.subject);
}

// All checks of one goal in one row: the worst verdict, and the number of checks.
struct GoalRow {
  std::string goal, what;
  std::map<result::Verdict, int> verdicts;
  int runs = 0;
  std::vector<std::string> inconclusive;  // reasons
};

std::vector<GoalRow> goal_rows(const result::Verify& verify) {
  std::vector<GoalRow> rows;
  for (const Check& check : verify.checks) {
    auto row = std::find_if(rows.begin(), rows.end(), [&check](const GoalRow& goal_row) {
      return goal_row.goal == check.goal && goal_row.what == check.what;
    });
    if (row == rows.end()) row = rows.insert(rows.end(), GoalRow{check.goal, check.what, {}, 0, {}});
    ++row->verdicts[check.verdict];
    row->runs += check.runs;
    if (check.verdict == result::Verdict::inconclusive) row->inconclusive.push_back(check.why);
  }
  return rows;
}

// "pass", "FAIL, 3 of 12", "pass, 2 inconclusive".
std::string verdict_text(GoalRow row) {
  int all = 0;
  for (const auto& [verdict, count] : row.verdicts) all += count;
  if (const int failed = row.verdicts[result::Verdict::fail])
    return all == 1 ? "FAIL" : fmt::format("FAIL, {} of {}", failed, all);
  const int inconclusive = row.verdicts[result::Verdict::inconclusive];
  if (inconclusive == all) return "inconclusive";
  return inconclusive ? fmt::format("pass, {} inconclusive", inconclusive) : "pass";
}

std::string failures(const result::Verify& verify, std::size_t width) {
  std::string text;
  for (const Check& check : verify.checks) {
    if (check.verdict != result::Verdict::fail) continue;
    std::string line = fmt::format("{} {}: {}.", check.goal, check.what, check.why);
    if (check.expected && check.measured) {
      line += fmt::format(" {}expected {}, measured {}, tolerance {} ({})",
                          check.program.empty() ? "" : check.program + ": ", thousands(*check.expected),
                          thousands(*check.measured), check.tolerance, check.reason);
    }
    text += hanging("   - ", (check.event.empty() ? "" : check.event + ", ") + line, width);
  }
  return text.empty() ? "" : "\n What failed\n" + text;
}

// Each reason once, in the order in which they come, with what has it.
struct WhyNot {
  std::vector<std::pair<std::string, std::vector<std::string>>> all;

  void add(const std::string& why, const std::string& of) {
    auto at = std::find_if(all.begin(), all.end(), [&why](const auto& reason) { return reason.first == why; });
    if (at == all.end()) at = all.insert(at, {why, {}});
    if (std::find(at->second.begin(), at->second.end(), of) == at->second.end()) at->second.push_back(of);
  }

  std::string text(std::size_t width) const {
    std::string text;
    for (const auto& [why, of] : all) text += hanging("   - ", join(of, ", ") + ": " + why, width);
    return text;
  }
};

std::string reasons(const std::vector<GoalRow>& rows, std::size_t width) {
  WhyNot inconclusive;
  for (const GoalRow& row : rows)
    for (const std::string& why : row.inconclusive) inconclusive.add(why, row.goal);
  const std::string text = inconclusive.text(width);
  return text.empty() ? "" : "\n Inconclusive\n" + text;
}

// The reason for an event's grade.
std::string why_text(const result::GradedEvent& event) {
  std::string why = event.why;
  if (!event.published.empty()) why += "; " + event.published;
  if (!event.instead.empty()) why += "; count " + event.instead + " instead";
  return why;
}

// `column`: width of the reasons; 0: each is one cell, which the grid wraps.
Grid grades_grid(const result::Verify& verify, std::size_t column) {
  Grid grid({{"event"}, {"grade"}, prose_column("why")});
  for (const result::GradedEvent& graded_event : verify.events) {
    if (graded_event.grade == EventGrade::absent) continue;
    std::vector<std::string> lines =
        column == 0 ? std::vector<std::string>{why_text(graded_event)} : wrapped(why_text(graded_event), column);
    if (lines.empty()) lines.emplace_back();
    bool first = true;
    for (const std::string& line : lines) {
      grid.add({first ? graded_event.event.text() : "", first ? std::string(name(graded_event.grade)) : "", line});
      first = false;
    }
  }
  return grid;
}

std::string grades(const result::Verify& verify, std::size_t terminal) {
  WhyNot absent;
  for (const result::GradedEvent& graded_event : verify.events)
    if (graded_event.grade == EventGrade::absent) absent.add(graded_event.why, graded_event.event.text());
  constexpr std::size_t usual_column = 76;
  std::string text = grades_grid(verify, usual_column).text();
  const std::vector<std::string> lines = split(text, '\n');
  if (terminal != 0 &&
      std::any_of(lines.begin(), lines.end(), [&](const std::string& line) { return display_width(line) > terminal; }))
    text = grades_grid(verify, 0).text(terminal);
  if (!absent.all.empty()) text += "\n Absent\n";
  return text + absent.text(prose_width(usual_verify_width, terminal));
}

std::string method_text(const std::string& backend) { return std::string(result::label_of(backend).method); }

std::string program_answer(const result::Verify& verify) {
  const auto failed = std::count_if(verify.compared.begin(), verify.compared.end(),
                                    [](const auto& event) { return event.verdict == result::Verdict::fail; });
  const auto judged = std::count_if(verify.compared.begin(), verify.compared.end(),
                                    [](const auto& event) { return event.verdict != result::Verdict::inconclusive; });
  std::string text = fmt::format("{}: {} and {} ", printable(shell_words(verify.command)), method_text(verify.backend),
                                 method_text(verify.other));
  text += judged == 0 ? "could not be compared."
          : failed    ? fmt::format("differ in {} of {}.", failed, plural(judged, "event", "events"))
                      : fmt::format("agree in {}.", plural(judged, "event", "events"));
  if (verify.incomplete) text += " The run was interrupted; the result is incomplete.";
  return text;
}

// Empty for 0, so that a column of zeros is omitted.
std::string added(std::int64_t number) { return number == 0 ? "" : thousands(number); }

std::string compared_text(const result::Verify& verify, std::size_t terminal) {
  Grid grid({{"event"},
             {method_text(verify.backend), Align::right},
             {"spread", Align::right},
             {method_text(verify.other), Align::right},
             {"by faults", Align::right},
             {"by interrupts", Align::right},
             {"left", Align::right},
             {"allowed", Align::right},
             key_column("verdict")});
  for (const result::ComparedEvent& compared_event : verify.compared) {
    grid.add({compared_event.event, compared_event.exact ? thousands(*compared_event.exact) : "",
              added(compared_event.spread), compared_event.other ? thousands(*compared_event.other) : "",
              added(compared_event.by_faults), added(compared_event.by_interrupts),
              compared_event.left ? thousands(*compared_event.left) : "", added(compared_event.allowed),
              compared_event.verdict == result::Verdict::fail ? "FAIL" : std::string(name(compared_event.verdict))});
  }
  WhyNot unjudged;
  for (const result::ComparedEvent& event : verify.compared)
    if (!event.why.empty()) unjudged.add(event.why, event.event);
  return grid.text(terminal) + unjudged.text(prose_width(usual_verify_width, terminal));
}

}  // namespace

std::string verify_answer(const result::Verify& verify) {
  if (!verify.command.empty()) return program_answer(verify);
  std::map<EventGrade, int> by_grade;
  for (const result::GradedEvent& event : verify.events) ++by_grade[event.grade];
  std::vector<std::string> parts;
  for (const auto& [grade, count] : by_grade) parts.push_back(fmt::format("{} {}", count, name(grade)));
  const auto failed = std::count_if(verify.checks.begin(), verify.checks.end(),
                                    [](const Check& check) { return check.verdict == result::Verdict::fail; });
  const auto open = std::count_if(verify.checks.begin(), verify.checks.end(),
                                  [](const Check& check) { return check.verdict == result::Verdict::inconclusive; });
  std::string text;
  switch (verdict(verify)) {
    case result::Verdict::pass:
      text = fmt::format("The counts of {} can be trusted as graded: none of {} checks failed{}.", counter_text(verify),
                         verify.checks.size(), open ? fmt::format(", {} inconclusive", open) : "");
      break;
    case result::Verdict::fail:
      text = fmt::format("Some counts of {} cannot be trusted: {} of {} checks failed.", counter_text(verify), failed,
                         verify.checks.size());
      break;
    case result::Verdict::inconclusive:
      text = fmt::format("The counts of {} could not be checked.", counter_text(verify));
      break;
  }
  if (!parts.empty()) text += " Events: " + join(parts, ", ") + ".";
  if (!verify.noise.empty()) text += " Added noise: " + verify.noise + ".";
  if (verify.incomplete) text += " The run was interrupted; the result is incomplete.";
  return text;
}

std::string verify_text(const result::Verify& verify, bool all, std::size_t terminal) {
  const std::size_t width = prose_width(usual_verify_width, terminal);
  const std::vector<GoalRow> goals = goal_rows(verify);
  std::string text = "\n" + hanging(" ", verify_answer(verify), width);
  if (!verify.command.empty()) text += "\n" + compared_text(verify, terminal);
  if (!verify.events.empty()) text += "\n" + grades(verify, terminal);
  text += failures(verify, width);
  Grid grid({{"goal"}, prose_column("what"), key_column("verdict"), {"runs", Align::right}});
  for (const GoalRow& row : goals) {
    grid.add({row.goal, row.what, verdict_text(row), row.runs ? thousands(row.runs) : ""});
  }
  if (!goals.empty()) text += "\n" + grid.text(terminal) + reasons(goals, width);
  if (all) {
    Grid each({{"goal"},
               {"event"},
               {"program"},
               {"expected", Align::right},
               {"measured", Align::right},
               {"tolerance"},
               key_column("verdict"),
               {"runs", Align::right}});
    for (const Check& check : verify.checks) {
      if (check.runs == 0) continue;  // the reason is above
      each.add({check.goal, check.event, check.program, check.expected ? thousands(*check.expected) : "",
                check.measured ? thousands(*check.measured) : "", check.tolerance, std::string(name(check.verdict)),
                thousands(check.runs)});
    }
    text += "\n" + each.text(terminal);
  }
  if (!verify.notices.empty()) text += "\n";
  for (const std::string& notice : verify.notices) text += hanging(" note: ", notice, width);
  return text + "\n" +
         prose_line(fmt::format("{} programs executed in {} · {}{}", thousands(verify.runs),
                                duration_text(verify.duration), verify.environment.cpu, verify.quick ? " · quick" : ""),
                    terminal);
}

}  // namespace tally::output
