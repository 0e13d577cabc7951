#include "tally/counting/backend/stepper/stepped.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "tally/core/base/text.hpp"
#include "tally/counting/backend/candidate.hpp"
#include "tally/counting/backend/none/none.hpp"
#include "tally/counting/backend/stepper/retired_counts.hpp"
#include "tally/linux/files/files.hpp"
#include "tally/linux/files/memory_file.hpp"
#include "tally/linux/process/scratch_folder.hpp"

namespace tally::backend::stepper {
namespace {

constexpr const char* not_counted = "the single-stepper does not count it";

// The number after a key in the stepper's output: {"instructions": 42, …}.
std::optional<std::uint64_t> number_of(const std::string& text, const char* key) {
  const std::string name = fmt::format("\"{}\": ", key);
  const std::size_t at = text.find(name);
  if (at == std::string::npos) return std::nullopt;
  return std::strtoull(text.c_str() + at + name.size(), nullptr, 10);
}

std::optional<RetiredCounts> counts_of(const std::string& text) {
  static constexpr std::pair<const char*, std::uint64_t RetiredCounts::*> fields[] = {
      {"instructions", &RetiredCounts::instructions},
      {"conditional", &RetiredCounts::conditional},
      {"taken", &RetiredCounts::taken},
      {"direct_jumps", &RetiredCounts::direct_jumps},
      {"indirect_jumps", &RetiredCounts::indirect_jumps},
      {"direct_calls", &RetiredCounts::direct_calls},
      {"indirect_calls", &RetiredCounts::indirect_calls},
      {"returns", &RetiredCounts::returns},
      {"far", &RetiredCounts::far},
      {"loads", &RetiredCounts::loads},
      {"stores", &RetiredCounts::stores}};
  RetiredCounts counts;
  for (const auto& [key, member] : fields) {
    const auto number = number_of(text, key);
    if (!number) return std::nullopt;
    counts.*member = *number;
  }
  return counts;
}

/// The path of tally-stepper. Errors: cannot_measure if it is neither in the directory of tally nor in
/// ../libexec/tally.
Result<std::string> find_stepper() {
  const std::string folder = linux::own_folder();
  for (const char* relative_path : {"/tally-stepper", "/../libexec/tally/tally-stepper"}) {
    if (linux::exists(folder + relative_path)) return folder + relative_path;
  }
  return fail(Code::cannot_measure, "the single-stepper is missing: no 'tally-stepper' in " + printable(folder),
              "build or install tally again");
}

}  // namespace

Nanoseconds stepping_time(std::int64_t steps) {
  constexpr std::int64_t ns_each = 20'000;  // measured: 17 to 36 µs on a virtual machine
  return Nanoseconds(ns_each * steps);
}

std::optional<Error> Stepped::refuses(const Order& order) const {
  if (const auto program = find_stepper(); !program) return program.error();
  if (order.target.attachment.any()) return cannot_attach();
  if (order.timing().any())
    return Error{Code::cannot_measure,
                 "`--backend stepper` does not support intervals, a delay, a time-out or --control",
                 "omit --backend to let tally choose a backend that supports them", 0};
  return native_->refuses(order);
}

Result<Outcome> Stepped::run(const Order& order) {
  const auto program = find_stepper();
  if (!program) return fail(program.error());
  const auto folder = linux::ScratchFolder::make();
  if (!folder) return fail(folder.error());
  const std::string file = folder->path() + "/counts";
  Order native = order;
  native.target.command = {*program, "--json", file};
  if (order.conditions.hides_vdso) native.target.command.emplace_back("--no-vdso");
  const auto limit = order.conditions.stepping_limit;
  if (limit) native.target.command.insert(native.target.command.end(), {"--limit", std::to_string(limit->count())});
  native.target.command.emplace_back("--");
  native.target.command.insert(native.target.command.end(), order.target.command.begin(), order.target.command.end());
  native.events.clear();
  auto outcome = native_->run(native);
  if (!outcome) return outcome;
  const std::string written = linux::content(file);
  const bool steps_itself = number_of(written, "steps_itself").value_or(0) != 0;
  const auto counts = steps_itself ? std::nullopt : counts_of(written);
  // The stepper exits with the code that a shell would return.
  if (const auto signal = number_of(written, "signal"); signal.value_or(0) != 0)
    outcome->wait_status = static_cast<int>(*signal);
  const std::string missing = steps_itself
                                  ? "the program sets the trap flag or traces processes, which single-stepping does"
                              : limit && outcome->duration >= *limit
                                  ? fmt::format("single-stepping did not end within {}", duration_text(*limit))
                                  : "the single-stepper wrote no counts";
  outcome->counts.clear();
  for (const event::Event& event : order.events) {
    const RetiredCount value = retired_count(event.id);
    outcome->counts.push_back(event_count(event, value == nullptr ? absent(not_counted)
                                                 : counts         ? exact(value(*counts), Source::stepper)
                                                                  : absent(missing)));
  }
  return outcome;
}

Outlook Stepped::outlook(const event::Event& event) const {
  if (retired_count(event.id) == nullptr) return {Trust::absent, not_counted, Source::none};
  return {Trust::exact, "", Source::stepper};
}

extern const Candidate by_name;

const Candidate by_name{"stepper", Candidate::ChoiceRule::by_name,
                        [](const linux::HostMachine&, const std::optional<Simulation>&) -> std::unique_ptr<Backend> {
                          return std::make_unique<Stepped>(none::make());
                        },
                        nullptr};

}  // namespace tally::backend::stepper
