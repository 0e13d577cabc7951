/// The report of an engine that fails: the command prints the first failure of a run.
///
/// Freestanding: no C library, no other directory.
#pragma once
#include <stdint.h>

namespace tally::channel {

struct EngineFailure {
  uint32_t state;    ///< 0: no failure; 1: being written; 2: complete
  uint32_t process;  ///< index of its Process
  int32_t pid, tid;
  int32_t signal, code;    ///< of a fault; 0: a check of the engine failed
  uint64_t address;        ///< of the engine's instruction that failed; 0: unknown
  uint64_t fault_address;  ///< the address that it accessed; `error` is the processor's error code
  uint64_t error;
  uint64_t value;               ///< a number that `what` refers to
  uint64_t registers[16];       ///< the engine's registers at a fault, by their numbers in instructions
  uint64_t program_pc;          ///< the program's address when it last entered the engine
  uint64_t resume;              ///< the translated code for that address
  uint64_t program[16];         ///< the program's registers at that time
  uint64_t image, image_bytes;  ///< address and size of the engine's image
  uint32_t unwilling;  ///< with Settings::strict: the Partial for which the program would have continued natively
  char what[96];
};

}  // namespace tally::channel
