// What a roofline says about a program and its functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tally/output/kit/json_document.hpp"
#include "tally/output/kit/memory_rows.hpp"
#include "tally/output/result/roofline_result.hpp"

namespace tally::output {

/// Processors whose ceilings apply: those that were busy, rounded up unless only little more was used.
int processors_of(const result::Roofline& roofline, const result::RooflinePoint& point = {});

/// The rate of this many processors: as many times the rate of one, at most that of all. 0 if it was not measured.
double ceiling(const std::vector<result::Ceiling>& ceilings, const std::string& of, int bits, int processors);

/// How close a point comes to the ceilings. Each level delivers its bytes, and the processor computes the operations,
/// in at least a certain time; the longest of these times belongs to the limit.
struct RooflineVerdict {
  std::optional<double> intensity;  ///< operations per byte that instructions load and store; empty without bytes
  double operations_per_second = 0, bytes_per_second = 0;
  std::string limit;                                ///< a level of the memory ("DRAM"), or "peak"
  double limit_per_second = 0;                      ///< its ceiling
  double percent = 0;                               ///< of what this limit allows
  std::optional<double> percent_low, percent_high;  ///< 95 % interval, from the interval of the time
  std::optional<double> scalar_percent;  ///< of the peak of scalar instructions, if most operations are scalar
};

/// Empty for a point without time, operations and bytes. Pure.
std::optional<RooflineVerdict> judge(const result::Roofline& roofline, const result::RooflinePoint& point);

/// "DRAM bandwidth", "peak of floating-point operations".
std::string limit_text(const RooflineVerdict& verdict);

/// The precision of most operations: as Ceiling::of.
std::string main_precision(const result::RooflinePoint& point);

/// "function multiply reaches 12 % of what its intensity allows; the limit is DRAM bandwidth", with what else limits
/// it.
std::string verdict_text(const result::Roofline& roofline, const result::RooflinePoint& point);

/// The columns of a point, for the table and the page, and its cells.
std::vector<MemoryColumn> roofline_columns();
std::vector<std::string> roofline_cells(const result::Roofline& roofline, const result::RooflinePoint& point);

/// Adds the verdict about a point to its JSON object.
void add_verdict(Json& json, const result::Roofline& roofline, const result::RooflinePoint& point);

/// How the roofline was made: model, processors, source of the times.
std::vector<std::string> roofline_notes(const result::Roofline& roofline);

}  // namespace tally::output
