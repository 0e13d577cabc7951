// Detects that the kernel took counters away, from the records of counters that processes inherit.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "tally/linux/perf/perf_record.hpp"

namespace tally::backend::perf {

/// The kernel removes all counters from a process that executes a program which others may not inspect: one that
/// changes user, group or capabilities, or that may be executed but not read (begin_new_exec() in fs/exec.c). It
/// records the end of the process then, after the execution and before anything of the new program is mapped. Pure.
class TakenCounters {
 public:
  /// Takes records in the order of their time: those of threads and of mappings. Lost records cannot cause a wrong
  /// answer "taken", but they can hide one.
  void see(const linux::PerfRecord& record);

  /// Returns why counters are missing, with the first program; empty if none was taken away.
  std::string why() const;

 private:
  std::unordered_map<std::int32_t, std::string> executing_;  // by process: the program, until something is mapped
  std::string program_;
  std::int32_t process_ = 0;
};

}  // namespace tally::backend::perf
