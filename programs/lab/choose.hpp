// Selects the computer for a program: x86 or with an Arm core.
#pragma once

#include <memory>

#include "programs/lab/computer.hpp"
#include "programs/lab/lab_options.hpp"
#include "programs/lab/x86_statements.hpp"
#include "programs/register/pmu/model.hpp"

namespace tally::lab {

/// Loads the program of --file. Errors: as load().
Result<Image> load_for(const Options& options);

/// Compiles statements to a program. Errors: as compile().
Result<Script> compile_for(const Options& options, const std::string& text);

/// Creates the computer of --model, or the default one for this program.
Result<std::unique_ptr<Computer>> make_computer(const Options& options, const Image& image, const RunSettings& settings,
                                                Listener listener);

/// Returns the registers that statements may name.
const pmu::Model& registers_of(const Options& options);

}  // namespace tally::lab
