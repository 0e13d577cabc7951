// The beginning of every JSON document of tally: its schema, and where the result comes from.
#pragma once

#include <nlohmann/json.hpp>

#include "tally/output/result/provenance.hpp"

namespace tally::output {

/// Keeps the order in which keys are set, so that a file proceeds from the general to the particular.
using Json = nlohmann::ordered_json;

/// The object `provenance` of docs/reference/provenance.md; null if it is not known.
Json provenance_json(const result::Provenance& provenance);

/// A document with the keys `schema` and `provenance`.
Json document(const char* schema, const result::Provenance& provenance);

}  // namespace tally::output
