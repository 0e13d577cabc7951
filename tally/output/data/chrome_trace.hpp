// Windows in the trace format of Chrome's viewer, which Perfetto also opens.
#pragma once

#include <memory>
#include <string_view>

#include "tally/output/kinds/windows_format.hpp"

namespace tally::output {

/// The beginning of a trace.
inline constexpr std::string_view chrome_trace_begin = R"({"displayTimeUnit":"ns","traceEvents":[)";

/// A slice for each window in the row of its thread, and a curve for each event and thread: events per microsecond
/// in the window. `otherData` has the reasons for absent events. The first slice of a thread has no length, except for
/// the command's first thread. The format: Google's "Trace Event Format" (JSON object format, phases X and C).
std::unique_ptr<WindowWriter> make_chrome_trace();

}  // namespace tally::output
