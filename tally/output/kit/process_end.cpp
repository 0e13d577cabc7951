#include "tally/output/kit/process_end.hpp"

#include <fmt/format.h>

#include "tally/core/base/text.hpp"

namespace tally::output {

bool has_only_threads(const result::Process& process) { return process.counts.empty() && !process.threads.empty(); }

std::string end_text(const result::Process& process) {
  switch (process.end) {
    case result::End::exited: return fmt::format("exit {}", process.end_code);
    case result::End::signalled: return signal_name(process.end_code);
    case result::End::executed: return "exec";
    case result::End::running: return "running";
    case result::End::unknown: break;
  }
  return "unknown";
}

}  // namespace tally::output
