// The journal of a run: entries for events, and the reason of the end.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "programs/lab/pmu/pebs.hpp"
#include "programs/register/pmu/codec.hpp"

namespace tally::lab {

/// One event of a run.
struct Entry {
  enum class Kind {
    output,      ///< the program printed `text`
    write,       ///< a register of the PMU was written
    read,        ///< a register of the PMU was read, by RDMSR
    rdpmc,       ///< a counter was read: `value`; `number` is ECX
    overflow,    ///< of the counter whose name is `text`
    pmi,         ///< an interrupt was requested; `text` is the result
    frozen,      ///< counters stopped at a PMI
    record,      ///< a PEBS record was due: `record`
    enter,       ///< an interrupt or exception entered its handler; `number`: the vector, `value`: 1 for a PMI
    leave,       ///< IRET
    remark,      ///< from the linter
    breakpoint,  ///< the program is before `address`
    step,        ///< an instruction was executed: `text`
  };
  Kind kind = Kind::output;
  std::uint64_t address = 0;      ///< of the instruction
  std::uint64_t instruction = 0;  ///< number of instructions retired before
  int cpl = 0;
  std::uint32_t number = 0;  ///< MSR, ECX or vector
  std::uint64_t value = 0;
  std::uint64_t kept = 0;  ///< of a write: the resulting value of the register
  std::string text = {};
  pmu::emulated::PebsRecord record = {};
  std::vector<pmu::Remark> remarks = {};                            ///< about a value
  std::vector<std::pair<std::string, std::uint64_t>> changed = {};  ///< registers that the previous instruction changed
  std::vector<std::pair<std::string, std::uint64_t>> counters = {};  ///< those that changed, with their values
};

/// The reason for the end of a run.
struct End {
  enum class Reason {
    halted,    ///< HLT without anything that could wake the processor
    exited,    ///< the exit port was written
    returned,  ///< RET to the lab's start code
    limit,     ///< too many instructions
    fault,     ///< an exception without a handler
    hole,      ///< an access to unmapped memory
    stopped,   ///< a signal
  };
  Reason reason = Reason::halted;
  std::uint64_t address = 0;
  int code = 0;              ///< the value written to the exit port
  std::string message = {};  ///< in one sentence
  std::string hint = {};     ///< what to do; empty after a regular end
  bool is_error() const { return reason == Reason::limit || reason == Reason::fault || reason == Reason::hole; }
};

using Listener = std::function<void(const Entry&)>;

}  // namespace tally::lab
