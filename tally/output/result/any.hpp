// A stored result of any kind.
#pragma once

#include <variant>

#include "tally/output/result/discover.hpp"
#include "tally/output/result/lab.hpp"
#include "tally/output/result/memory.hpp"
#include "tally/output/result/profile.hpp"
#include "tally/output/result/regions.hpp"
#include "tally/output/result/stat.hpp"
#include "tally/output/result/verify.hpp"
#include "tally/output/result/windows_table.hpp"

namespace tally::result {

/// The content of one stored file, or of one line of it.
using AnyResult = std::variant<Memory, Stat, ProgramRegions, Verify, Discovery, Windows, LabRun, Profile>;

}  // namespace tally::result
