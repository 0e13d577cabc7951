#include "tally/engine/machines/shipped_models.hpp"

#include <fmt/format.h>

#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/engine/machines/machine_model.hpp"
#include "tally/engine/machines/measured_memory.hpp"
#include "tally/engine/models/core/cores.hpp"
#include "tally/linux/files/input.hpp"

namespace tally::machines {

namespace {

// The cores, one per line. The command sends the engine what it needs of a core along with the machine.
const models::CoreTable* const cores[] = {
    &models::haswell_core, &models::skylake_core, &models::icelake_server_core, &models::sapphire_rapids_core,
    &models::zen2_core,    &models::zen3_core,    &models::zen4_core,           &models::zen5_core,
    &models::bonnell_core};

}  // namespace

const models::CoreTable* core_named(std::string_view name) {
  for (const models::CoreTable* core : cores)
    if (core->name == name) return core;
  return nullptr;
}

std::vector<std::string> core_names() {
  std::vector<std::string> result;
  for (const models::CoreTable* core : cores) result.emplace_back(core->name);
  return result;
}

std::vector<std::string> names() {
  std::vector<std::string> result{"host"};
  for (const ShippedModel& model : shipped) result.emplace_back(model.name);
  return result;
}

Result<MachineModel> named(std::string_view name, const std::filesystem::path& root) {
  if (name == "host") {
    auto machine = host(root);
    if (const auto measured = measured_memory(root); machine && measured) use_measured(*machine, *measured);
    return machine;
  }
  for (const ShippedModel& model : shipped) {
    if (model.name != name) continue;
    auto machine = parse(model.text, model.name);
    if (machine) machine->shipped = name;
    return machine;
  }
  return fail(
      Code::bad_usage, fmt::format("there is no machine model '{}'", name),
      fmt::format("models are {}; to use a file of your own, give its path with a slash in it", join(names(), ", ")));
}

Result<MachineModel> from_file(const std::filesystem::path& file) {
  constexpr std::uint64_t most_bytes = 16 << 20;
  const auto text = linux::read_file(file.string(), most_bytes);
  if (!text) {
    Error error = text.error();
    error.message = "the machine model: " + error.message;
    error.hint = "--model takes the name of a model, or a file in the format of docs/reference/machine-models.md";
    return fail(std::move(error));
  }
  return parse(*text, file.string());
}

}  // namespace tally::machines
