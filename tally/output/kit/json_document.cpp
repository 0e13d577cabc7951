#include "tally/output/kit/json_document.hpp"

namespace tally::output {

Json provenance_json(const result::Provenance& provenance) {
  if (!provenance.is_known()) return nullptr;
  const auto or_null = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  return {{"date", or_null(provenance.date)},     {"host", or_null(provenance.host)},
          {"label", or_null(provenance.label)},   {"command_line", provenance.command_line},
          {"commit", or_null(provenance.commit)}, {"tally", or_null(provenance.tally_version)}};
}

Json document(const char* schema, const result::Provenance& provenance) {
  Json json;
  json["schema"] = schema;
  json["provenance"] = provenance_json(provenance);
  return json;
}

}  // namespace tally::output
