// The last verification of this machine, which later counts are seen in the light of.
#pragma once

#include <string>
#include <vector>

#include "tally/output/result/stat.hpp"
#include "tally/output/result/verify.hpp"

namespace tally::cli {

/// Keeps it in the folder of tally's own files, in place of the last one of that backend. A folder that cannot be
/// written, or that others can change, keeps nothing.
void keep(const result::Verify& verify);

/// What the kept one says about these counts; empty where there is none of this backend, processor and
/// microcode, or where others could have written it.
std::vector<std::string> kept_remarks(const result::Stat& stat);

}  // namespace tally::cli
