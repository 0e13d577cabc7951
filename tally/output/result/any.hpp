// A stored result of any kind.
#pragma once

#include <variant>

#include "tally/output/result/discovery_result.hpp"
#include "tally/output/result/lab_run.hpp"
#include "tally/output/result/memory_result.hpp"
#include "tally/output/result/profile_result.hpp"
#include "tally/output/result/regions_result.hpp"
#include "tally/output/result/stat_result.hpp"
#include "tally/output/result/verify_result.hpp"
#include "tally/output/result/windows_table.hpp"

namespace tally::result {

/// The content of one stored file, or of one line of it.
using AnyResult = std::variant<Memory, Stat, ProgramRegions, Verify, Discovery, Windows, LabRun, Profile>;

}  // namespace tally::result
