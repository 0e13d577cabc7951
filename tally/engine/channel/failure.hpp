/// What an engine leaves behind where it fails itself: the first one of a run, for the command's report.
///
/// Freestanding: no C library, no other directory.
#pragma once
#include <stdint.h>

namespace tally::channel {

struct EngineFailure {
  uint32_t state;    ///< 0: none; 1: it is being written; 2: it is whole
  uint32_t process;  ///< index of its Process
  int32_t pid, tid;
  int32_t signal, code;    ///< of a fault; 0: the engine noticed it itself
  uint64_t address;        ///< of the engine's instruction that failed; 0: not known
  uint64_t fault_address;  ///< that it accessed, and the processor's error code
  uint64_t error;
  uint64_t value;               ///< the number that belongs to `what`
  uint64_t registers[16];       ///< the engine's, by their numbers in instructions; of a fault
  uint64_t program_pc;          ///< where the program was when the engine was entered last
  uint64_t resume;              ///< the translated code that stands for it
  uint64_t program[16];         ///< the program's registers then
  uint64_t image, image_bytes;  ///< where the engine's image is
  char what[96];
};

}  // namespace tally::channel
