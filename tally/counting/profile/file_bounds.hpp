// What reading a program's names and debug information may take: a file may be made so that it unpacks to far more than
// it holds.
#pragma once

#include <libelf.h>

#include <string>

namespace tally::profile {

/// What of a file is not to be read, and why; empty where all may be.
struct FileBounds {
  std::string symbols, debug;
};

/// Looks at what the sections of a file unpack to, without keeping it. Cost: none but where it has symbols in
/// .gnu_debugdata, which are unpacked twice then: 10 ms for 1 MB.
FileBounds bounds_of(Elf* elf);

}  // namespace tally::profile
