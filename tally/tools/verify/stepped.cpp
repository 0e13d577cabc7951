#include "tally/tools/verify/stepped.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "tally/core/base/text.hpp"
#include "tally/linux/files/files.hpp"
#include "tally/linux/files/memory_file.hpp"
#include "tally/linux/process/scratch_folder.hpp"
#include "tally/tools/verify/known.hpp"

namespace tally::verify {
namespace {

// The number after a key in the stepper's output: {"instructions": 42, …}.
std::optional<std::uint64_t> number_of(const std::string& text, const char* key) {
  const std::string name = fmt::format("\"{}\": ", key);
  const std::size_t at = text.find(name);
  if (at == std::string::npos) return std::nullopt;
  return std::strtoull(text.c_str() + at + name.size(), nullptr, 10);
}

std::optional<workload::Counts> counts_of(const std::string& text) {
  struct Field {
    const char* key;
    std::uint64_t workload::Counts::*member;
  };
  static constexpr Field fields[] = {{"instructions", &workload::Counts::instructions},
                                     {"conditional", &workload::Counts::conditional},
                                     {"taken", &workload::Counts::taken},
                                     {"direct_jumps", &workload::Counts::direct_jumps},
                                     {"indirect_jumps", &workload::Counts::indirect_jumps},
                                     {"direct_calls", &workload::Counts::direct_calls},
                                     {"indirect_calls", &workload::Counts::indirect_calls},
                                     {"returns", &workload::Counts::returns},
                                     {"far", &workload::Counts::far},
                                     {"loads", &workload::Counts::loads},
                                     {"stores", &workload::Counts::stores}};
  workload::Counts counts;
  for (const Field& field : fields) {
    const auto number = number_of(text, field.key);
    if (!number) return std::nullopt;
    counts.*field.member = *number;
  }
  return counts;
}

}  // namespace

Nanoseconds stepping_time(std::int64_t instructions) {
  constexpr std::int64_t ns_each = 20'000;  // measured: 17 to 36 µs on a virtual machine
  return Nanoseconds(ns_each * instructions);
}

Result<std::string> find_stepper() {
  const std::string folder = linux::own_folder();
  for (const char* relative_path : {"/tally-stepper", "/../libexec/tally/tally-stepper"}) {
    if (linux::exists(folder + relative_path)) return folder + relative_path;
  }
  return fail(Code::cannot_measure, "the single-stepper is missing: no 'tally-stepper' in " + printable(folder),
              "build or install tally again");
}

Result<backend::Outcome> Stepped::run(const backend::Order& order) {
  const auto folder = linux::ScratchFolder::make();
  if (!folder) return fail(folder.error());
  const std::string file = folder->path() + "/counts";
  backend::Order native = order;
  native.target.command = {program_, "--json", file};
  if (order.conditions.hides_vdso) native.target.command.emplace_back("--no-vdso");
  native.target.command.emplace_back("--");
  native.target.command.insert(native.target.command.end(), order.target.command.begin(), order.target.command.end());
  native.events.clear();
  auto outcome = native_.run(native);
  if (!outcome) return outcome;
  const auto counts = counts_of(linux::content(file));
  outcome->counts.clear();
  for (const event::Event& event : order.events) {
    const KnownEvent* its = known(event.id);
    Count count = absent("the single-stepper wrote no counts");
    if (!its) count = absent("the single-stepper does not count it");
    if (its && counts) count = exact(its->value(*counts), Source::stepper);
    outcome->counts.push_back(backend::event_count(event, std::move(count)));
  }
  return outcome;
}

backend::Outlook Stepped::outlook(const event::Event& event) const {
  if (!known(event.id)) return {Trust::absent, "the single-stepper does not count it", Source::none};
  return {Trust::exact, "", Source::stepper};
}

}  // namespace tally::verify
