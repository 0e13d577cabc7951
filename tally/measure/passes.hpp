// One run that is made of several executions, each of which counts some of the events.
#pragma once

#include "tally/backend/backend.hpp"
#include "tally/linux/input.hpp"

namespace tally::measure {

/// Executes the request's command once for each pass and puts together what they counted; once, with all events, where
/// there are no passes. Standard input that is a file is read from where it stood by each. A program that fails or is
/// interrupted ends the run: what the passes behind it would have counted is absent. Errors: those of Backend::run() in
/// the first pass; in a later one a notice tells why.
Result<backend::Outcome> run_passes(backend::Backend& backend, const backend::Request& request,
                                    const std::vector<event::Pass>& passes, const linux::Input& input);

}  // namespace tally::measure
