#include <fmt/format.h>

#include "programs/doctor/host_facts.hpp"
#include "tally/counting/backend/choose/choose_backend.hpp"
#include "tally/hardware/event/name_sources.hpp"
#include "tally/linux/files/cache_file.hpp"
#include "tally/linux/machine/execute_cpuid.hpp"

namespace tally::doctor {
namespace {

pmu::CpuidLeaf read_cpuid(std::uint32_t leaf, std::uint32_t subleaf) {
  const auto registers = linux::cpuid(leaf, subleaf).value_or(linux::CpuidRegisters{});
  return {registers.eax, registers.ebx, registers.ecx, registers.edx};
}

Trial failed(const Error& error) {
  return {std::nullopt, error.hint.empty() ? error.message : error.message + " (" + error.hint + ")"};
}

// The smallest program that every system has.
Trial try_engine(const linux::HostMachine& machine) {
  const auto events = event::parse_lists({"instructions"});
  if (!events) return failed(events.error());
  auto choice = backend::choose("engine", {.events = *events}, machine);
  if (!choice) return failed(choice.error());
  auto signals = linux::Signals::watch();
  if (!signals) return failed(signals.error());
  backend::Order order;
  order.target.command = {"true"};
  order.events = *events;
  order.conditions.signals = &*signals;
  const auto outcome = choice->backend->run(order);
  if (!outcome) return failed(outcome.error());
  const Count& count = outcome->counts.front().count;
  if (count.trust != Trust::exact) return {std::nullopt, count.reason};
  return {count.value, {}};
}

/// After the trial, which creates the directory.
std::string describe_translations() {
  const std::string path = linux::cache_folder();
  if (path.empty()) return "not used: neither HOME nor TALLY_CACHE_DIR names a directory (an absolute path)";
  const auto folder = linux::CacheFolder::open(path, false);
  if (!folder && folder.error().code == Code::not_found) return fmt::format("not used: '{}' cannot be created", path);
  if (!folder) return "not used: " + folder.error().message;
  const std::string remark = folder->take_remark();
  return remark.empty() ? "in " + path : "not all were used: " + remark + "; tally re-creates them";
}

}  // namespace

Facts examine() {
  Facts facts;
  facts.survey = linux::read_counting();
  facts.probes = linux::try_counting(facts.survey);
  if (linux::cpuid(0)) facts.processor = pmu::describe_processor(read_cpuid);
  if (const auto* table = event::own_pmu({})) facts.event_names = table->name + ", " + table->what;
  facts.frequency = linux::frequency_now(std::chrono::milliseconds(50));
  facts.trial = try_engine(facts.survey.machine);
  if (facts.trial.instructions) facts.kept_translations = describe_translations();
  return facts;
}

}  // namespace tally::doctor
