// A stored result of any kind.
#pragma once

#include <variant>

#include "tally/result/discover.hpp"
#include "tally/result/lab.hpp"
#include "tally/result/memory.hpp"
#include "tally/result/profile.hpp"
#include "tally/result/regions.hpp"
#include "tally/result/stat.hpp"
#include "tally/result/verify.hpp"
#include "tally/result/windows_table.hpp"

namespace tally::result {

/// What one stored file, or one line of it, holds.
using AnyResult = std::variant<Memory, Stat, ProgramRegions, Verify, Discovery, Windows, LabRun, Profile>;

}  // namespace tally::result
