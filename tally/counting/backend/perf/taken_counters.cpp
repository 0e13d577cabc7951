#include "tally/counting/backend/perf/taken_counters.hpp"

#include <fmt/format.h>

#include "tally/core/base/text.hpp"

namespace tally::backend::perf {

void TakenCounters::see(const linux::PerfRecord& record) {
  using Kind = linux::PerfRecord::Kind;
  switch (record.what) {
    case Kind::executed: executing_[record.process] = record.name; break;
    case Kind::mapped: executing_.erase(record.process); break;
    case Kind::lost: executing_.clear(); break;
    case Kind::ended: {
      const auto found = record.thread == record.process ? executing_.find(record.process) : executing_.end();
      if (found == executing_.end()) break;
      if (process_ == 0) {
        process_ = record.process;
        program_ = found->second;
      }
      executing_.erase(found);
      break;
    }
    default: break;
  }
}

std::string TakenCounters::why() const {
  if (process_ == 0) return "";
  return fmt::format(
      "the kernel took the counters away from process {} when it executed '{}', which changes user, group or "
      "capabilities, or may be executed but not read",
      process_, printable(program_));
}

}  // namespace tally::backend::perf
