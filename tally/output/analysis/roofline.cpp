#include "tally/output/analysis/roofline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tally/core/base/text.hpp"
#include "tally/output/kit/json_values.hpp"
#include "tally/output/kit/memory_texts.hpp"

namespace tally::output {
namespace {

using result::Ceiling;
using result::Roofline;
using result::RooflinePoint;

constexpr const char* peak = "peak";

/// A ceiling, and the shortest time that it allows.
struct Bound {
  std::string limit;
  double per_second = 0;
  double seconds = 0;
};

// The widest instructions of a precision.
double widest_peak(const Roofline& roofline, const std::string& precision, int processors) {
  double rate = 0;
  for (const Ceiling& candidate : roofline.ceilings.peaks)
    rate = std::max(rate, ceiling(roofline.ceilings.peaks, precision, candidate.bits, processors));
  return rate;
}

struct Operations {
  const char* precision;
  std::int64_t count;
};

std::array<Operations, 5> operations_of(const RooflinePoint& point) {
  return {{{"double", point.operations - point.single - point.half - point.bf16 - point.x87},
           {"single", point.single},
           {"half", point.half},
           {"bf16", point.bf16},
           {"x87", point.x87}}};
}

// The time of the operations. Those of a precision without a peak are compared with that of double precision.
template <class RateOf>
double compute_seconds(const RooflinePoint& point, RateOf rate_of) {
  const double double_rate = rate_of("double");
  if (double_rate <= 0) return 0;
  double seconds = 0;
  for (const auto& [precision, count] : operations_of(point)) {
    const double rate = rate_of(precision);
    seconds += static_cast<double>(count) / (rate > 0 ? rate : double_rate);
  }
  return seconds;
}

std::vector<Bound> bounds_of(const Roofline& roofline, const RooflinePoint& point) {
  std::vector<Bound> bounds;
  const int processors = processors_of(roofline, point);
  const double compute = compute_seconds(point, [&](const char* of) { return widest_peak(roofline, of, processors); });
  if (compute > 0) bounds.push_back({peak, static_cast<double>(point.operations) / compute, compute});
  const auto add = [&](const std::string& level, std::int64_t bytes) {
    const double rate = ceiling(roofline.ceilings.bandwidths, level, 0, processors);
    if (rate > 0) bounds.push_back({level, rate, static_cast<double>(bytes) / rate});
  };
  if (!roofline.ceilings.bandwidths.empty()) add(roofline.ceilings.bandwidths.front().of, point.bytes);
  for (const result::LevelBytes& level : point.levels) add(level.level, level.bytes);
  return bounds;
}

std::string percent_of(const RooflineVerdict& verdict) {
  // A fraction of a percent of a ceiling says nothing, except close to none.
  const auto text = [](double percent) {
    return percent < 10 ? fmt::format("{:.1f}", percent) : fmt::format("{:.0f}", percent);
  };
  std::string range;
  if (verdict.percent_low && verdict.percent_high && text(*verdict.percent_low) != text(*verdict.percent_high))
    range = fmt::format(" ({} to {} %)", text(*verdict.percent_low), text(*verdict.percent_high));
  return text(verdict.percent) + " %" + range;
}

}  // namespace

int processors_of(const Roofline& roofline, const RooflinePoint& point) {
  constexpr double little = 0.1;
  const double busy = point.busy_processors.value_or(roofline.busy_processors);
  return std::max(1, static_cast<int>(std::ceil(busy - little)));
}

double ceiling(const std::vector<Ceiling>& ceilings, const std::string& of, int bits, int processors) {
  double single = 0;
  double all = 0;
  int most = 1;
  for (const Ceiling& ceiling : ceilings) {
    if (ceiling.of != of || ceiling.bits != bits) continue;
    if (ceiling.processors == 1) single = ceiling.per_second;
    if (ceiling.processors >= most) {
      most = ceiling.processors;
      all = ceiling.per_second;
    }
  }
  if (single <= 0) return all;
  return processors >= most ? all : std::min(all, single * processors);
}

std::optional<RooflineVerdict> judge(const Roofline& roofline, const RooflinePoint& point) {
  if (!point.seconds || *point.seconds <= 0) return std::nullopt;
  const std::vector<Bound> bounds = bounds_of(roofline, point);
  const auto limit = std::max_element(bounds.begin(), bounds.end(),
                                      [](const Bound& a, const Bound& b) { return a.seconds < b.seconds; });
  if (limit == bounds.end() || limit->seconds <= 0) return std::nullopt;
  RooflineVerdict verdict;
  if (point.bytes > 0) verdict.intensity = static_cast<double>(point.operations) / static_cast<double>(point.bytes);
  verdict.operations_per_second = static_cast<double>(point.operations) / *point.seconds;
  verdict.bytes_per_second = static_cast<double>(point.bytes) / *point.seconds;
  verdict.limit = limit->limit;
  verdict.limit_per_second = limit->per_second;
  verdict.percent = 100 * limit->seconds / *point.seconds;
  if (point.seconds_high) verdict.percent_low = 100 * limit->seconds / *point.seconds_high;
  if (point.seconds_low && *point.seconds_low > 0) verdict.percent_high = 100 * limit->seconds / *point.seconds_low;
  if (point.operations > 0 && 2 * point.scalar > point.operations) {
    const double seconds = compute_seconds(point, [&](const char* precision) {
      return ceiling(roofline.ceilings.peaks, precision, 0, processors_of(roofline, point));
    });
    if (seconds > 0) verdict.scalar_percent = 100 * seconds / *point.seconds;
  }
  return verdict;
}

std::string limit_text(const RooflineVerdict& verdict) {
  return verdict.limit == peak ? "the peak of floating-point operations" : verdict.limit + " bandwidth";
}

std::string main_precision(const RooflinePoint& point) {
  const auto all = operations_of(point);
  return std::max_element(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.count < b.count; })
      ->precision;
}

std::string verdict_text(const Roofline& roofline, const RooflinePoint& point) {
  const std::string what = fmt::format("{} {}", point.kind, point.name);
  // A thousandth of an operation per byte says nothing about its code.
  const bool computes = point.operations > point.bytes / 1000;
  const auto verdict = judge(roofline, point);
  if (!verdict) return fmt::format("{} has no point: {}", what, point.reason);
  constexpr double far_percent = 50;
  constexpr double near_percent = 70;
  // Masked and string instructions, whose operations and bytes functions lack, would only raise it.
  const bool lacks = point.kind == "function" && point.trust == Trust::partial && !roofline.notes.empty() &&
                     roofline.points.front().trust == Trust::exact;
  std::string text = fmt::format("{} reaches {}{} of what {} allows; the limit is {}", what, lacks ? "at least " : "",
                                 percent_of(*verdict), computes ? "its intensity" : "the memory", limit_text(*verdict));
  if (lacks) return text + ", of what is counted; masked and string instructions are not";
  if (!computes)
    text += fmt::format("; it computes {} floating-point operations", point.operations == 0 ? "no" : "hardly any");
  if (point.kind == "program" && point.trust == Trust::partial) text += "; some of its operations are not counted";
  const double x87 = widest_peak(roofline, "x87", 1), vectors = widest_peak(roofline, "double", 1);
  if (x87 > 0 && verdict->limit == peak && main_precision(point) == "x87")
    text += fmt::format("; its operations are those of x87, and the peak of double precision is {:.0f} times as high",
                        vectors / x87);
  if (verdict->percent >= far_percent) return text;
  if (verdict->scalar_percent && *verdict->scalar_percent >= near_percent)
    return fmt::format("{}; its operations are scalar, and it reaches {:.0f} % of the scalar peak", text,
                       *verdict->scalar_percent);
  constexpr double large_share = 0.25;
  if (point.kernel_share.value_or(0) >= large_share)
    return fmt::format(
        "{}; {:.0f} % of its processor time is the kernel's (page faults, system calls), which no ceiling explains",
        text, 100 * *point.kernel_share);
  constexpr double short_seconds = 0.004;
  if (point.kind == "program" && *point.seconds < short_seconds)
    return text + "; no ceiling is near, but a part of so short a run is the start of a process: repeat its work";
  return text +
         "; no ceiling is near: it waits for latencies, dependent or mispredicted instructions, or executes "
         "others";
}

std::vector<MemoryColumn> roofline_columns() {
  return {{""},      {"time", true},       {"GFLOP/s", true}, {"L1 GB/s", true}, {"FLOP/byte", true}, {"reached", true},
          {"limit"}, {"its ceiling", true}};
}

std::vector<std::string> roofline_cells(const Roofline& roofline, const RooflinePoint& point) {
  constexpr double giga = 1e9;
  const std::string name = point.kind == "program" ? "program" : point.name;
  const auto verdict = judge(roofline, point);
  if (!verdict) return {name, "", "", "", "", "", "", ""};
  return {name,
          value_text(std::llround(*point.seconds * giga), Unit::nanoseconds),
          number_text(verdict->operations_per_second / giga),
          number_text(verdict->bytes_per_second / giga),
          verdict->intensity ? number_text(*verdict->intensity) : "",
          percent_of(*verdict),
          verdict->limit,
          rate_text(verdict->limit_per_second, verdict->limit == peak ? "FLOP/s" : "B/s")};
}

void add_verdict(Json& json, const Roofline& roofline, const RooflinePoint& point) {
  const auto verdict = judge(roofline, point);
  json["verdict"] = nullptr;
  if (!verdict) return;
  json["verdict"] = {{"text", verdict_text(roofline, point)},
                     {"limit", verdict->limit},
                     {"limit_per_second", verdict->limit_per_second},
                     {"percent", verdict->percent},
                     {"percent_low", value_or_null(verdict->percent_low)},
                     {"percent_high", value_or_null(verdict->percent_high)},
                     {"intensity", value_or_null(verdict->intensity)},
                     {"operations_per_second", verdict->operations_per_second},
                     {"bytes_per_second", verdict->bytes_per_second}};
}

std::vector<std::string> roofline_notes(const Roofline& roofline) {
  int processors = 1;  // of the ceilings that were measured
  for (const Ceiling& peak : roofline.ceilings.peaks) processors = std::max(processors, peak.processors);
  processors = std::min(processors, processors_of(roofline));
  std::vector<std::string> notes{
      fmt::format("the program kept {:.2f} CPUs busy on average, so its ceilings are those of {} (`tally memory "
                  "ceilings`, {})",
                  roofline.busy_processors, plural(processors, "CPU", "CPUs"), roofline.ceilings.date)};
  constexpr double much_percent = 10;
  if (const double rejected = roofline.ceilings.rejected_percent; rejected > much_percent)
    notes.push_back(
        fmt::format("the machine was busy when its ceilings were measured ({:.0f} % of the measurements were "
                    "rejected): they may be "
                    "too low, and shares of them too high; repeat `tally memory ceilings` on an idle machine",
                    rejected));
  if (!roofline.model.empty())
    notes.push_back(
        fmt::format("L1 serves the bytes that instructions request (exact); bytes of the other levels: "
                    "{}, lines that a level requests, without write-backs and prefetching",
                    roofline.model));
  constexpr double noticeable = 0.95;
  notes.push_back(
      "times are those of a native run" +
      (roofline.busy_processors < noticeable
           ? fmt::format(", without the {:.0f} % of it in which the program waited for a processor, input or "
                         "output",
                         100 * (1 - roofline.busy_processors))
           : std::string()));
  const RooflinePoint program = roofline.points.empty() ? RooflinePoint{} : roofline.points.front();
  for (const auto& [precision, count] : operations_of(program))
    if (count > program.operations / 100 && widest_peak(roofline, precision, 1) <= 0)
      notes.push_back(fmt::format(
          "`tally memory ceilings` measured no peak of {} ({} of the operations): they are "
          "compared with that of double precision",
          precision, percent_text(100.0 * static_cast<double>(count) / static_cast<double>(program.operations))));
  notes.insert(notes.end(), roofline.notes.begin(), roofline.notes.end());
  return notes;
}

}  // namespace tally::output
