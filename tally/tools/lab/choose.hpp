// Which computer a program runs on: an x86 one, or one with an Arm core.
#pragma once

#include <memory>

#include "tally/hardware/pmu/model.hpp"
#include "tally/tools/lab/computer.hpp"
#include "tally/tools/lab/options.hpp"
#include "tally/tools/lab/statements.hpp"

namespace tally::lab {

/// The program of --file. Errors: as load().
Result<Image> load_for(const Options& options);

/// Statements as a program. Errors: as compile().
Result<Script> compile_for(const Options& options, const std::string& text);

/// The computer of --model, or the usual one for this program.
Result<std::unique_ptr<Computer>> make_computer(const Options& options, const Image& image, const RunSettings& settings,
                                                Listener listener);

/// The registers that statements may name.
const pmu::Model& registers_of(const Options& options);

}  // namespace tally::lab
