#include "tally/cli/first_contact.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "tally/core/base/foreign_text.hpp"
#include "tally/core/base/text.hpp"
#include "tally/core/base/version.hpp"
#include "tally/hardware/event/event.hpp"
#include "tally/linux/files/memory_file.hpp"

namespace tally::cli {
namespace {

// The directory of documents is share/doc/tally after installation, and the source directory in a build tree.
std::string find_readme() {
  const std::string folder = linux::own_folder();
  if (folder.empty()) return "";
  for (const char* documents : {"/" TALLY_DOCUMENTS_FOLDER, "/../.."}) {
    // Above bin can be a home directory with a README.md of its own.
    if (!linux::exists(folder + documents + "/docs/guides/from-perf.md")) continue;
    std::error_code failed;
    const auto path = std::filesystem::canonical(folder + documents + "/README.md", failed);
    if (!failed) return path.string();
  }
  return "";
}

std::string what_is_counted(FirstContact::Counting counting) {
  switch (counting) {
    case FirstContact::Counting::by_pmu: return "counted by hardware: instructions, cycles, branches, cache misses";
    case FirstContact::Counting::by_engine:
      return "exact: instructions, branches, loads, stores; --model host adds cycles";
    case FirstContact::Counting::by_kernel: return "counted by the kernel: page faults, context switches, times";
    case FirstContact::Counting::nothing: break;
  }
  return "`tally doctor` explains, and says what to do";
}

}  // namespace

FirstContact first_contact_of(const Result<backend::Choice>& choice, const linux::HostMachine& machine) {
  if (choice) return first_contact_of(choice->backend->traits(), choice->notices, machine);
  FirstContact contact;
  contact.why = choice.error().message;
  return contact;
}

FirstContact first_contact_of(const backend::Traits& traits, const std::vector<std::string>& notices,
                              const linux::HostMachine& machine) {
  FirstContact contact;
  if (traits.has_pmu_counters) {
    contact.counting = FirstContact::Counting::by_pmu;
    contact.why = fmt::format("PMU {}{}", join(machine.pmus, ", "), machine.cpu.empty() ? "" : " of " + machine.cpu);
  } else {
    contact.counting = traits.is_engine ? FirstContact::Counting::by_engine : FirstContact::Counting::by_kernel;
    contact.why = notices.empty() ? "no PMU is used" : notices.front();
  }
  return contact;
}

FirstContact read_first_contact() {
  const linux::HostMachine machine = linux::read_host_machine();
  FirstContact contact = first_contact_of(backend::choose("auto", {.events = event::default_set()}, machine), machine);
  contact.readme = find_readme();
  return contact;
}

std::string first_contact_text(const FirstContact& contact) {
  const std::string more = contact.readme.empty() ? "" : "; " + contact.readme;
  return fmt::format(
      "tally {} counts what programs do on the processor, and grades each count.\n"
      "  here  {}\n"
      "        {}\n"
      "  try   tally stat -- ls -l\n"
      "  read  tally --help; man tally{}\n",
      version(), ForeignText(contact.why).in_line(), what_is_counted(contact.counting), ForeignText(more).in_line());
}

}  // namespace tally::cli
