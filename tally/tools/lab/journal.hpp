// What happens in a run, as it happens.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tally/hardware/pmu/codec.hpp"

namespace tally::lab {

/// One thing that happened.
struct Entry {
  enum class Kind {
    output,      ///< the program printed `text`
    write,       ///< a register of the PMU was written
    read,        ///< and read, by RDMSR
    rdpmc,       ///< a counter was read: `value`; `number` is ECX
    overflow,    ///< of the counter whose name is `text`
    pmi,         ///< an interrupt was asked for; `text` says what became of it
    frozen,      ///< counters stopped at a PMI
    enter,       ///< an interrupt or exception entered its handler; `number` is the vector
    leave,       ///< IRET
    remark,      ///< of the linter
    breakpoint,  ///< the program stands before `address`
    step,        ///< an instruction was executed: `text`
  };
  Kind kind = Kind::output;
  std::uint64_t address = 0;      ///< of the instruction
  std::uint64_t instruction = 0;  ///< how many had retired before
  int cpl = 0;
  std::uint32_t number = 0;  ///< MSR, ECX or vector
  std::uint64_t value = 0;
  std::uint64_t kept = 0;  ///< of a write: what the register holds now
  std::string text = {};
  std::vector<pmu::Remark> remarks = {};                             ///< what there is to say about a value
  std::vector<std::pair<std::string, std::uint64_t>> changed = {};   ///< registers that the instruction before changed
  std::vector<std::pair<std::string, std::uint64_t>> counters = {};  ///< those that changed, with what they hold
};

/// Why a run ended.
struct End {
  enum class Reason {
    halted,    ///< HLT, and nothing that could wake it
    exited,    ///< the exit port was written
    returned,  ///< RET to whoever started it
    limit,     ///< too many instructions
    fault,     ///< an exception that nobody handles
    hole,      ///< memory that is not there
    stopped,   ///< a signal
  };
  Reason reason = Reason::halted;
  std::uint64_t address = 0;
  int code = 0;              ///< what the exit port was written
  std::string message = {};  ///< in one sentence
  std::string hint = {};     ///< what to do; empty where all went well
  bool is_error() const { return reason == Reason::limit || reason == Reason::fault || reason == Reason::hole; }
};

using Listener = std::function<void(const Entry&)>;

}  // namespace tally::lab
