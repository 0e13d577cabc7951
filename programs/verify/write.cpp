#include "programs/verify/write.hpp"

#include <fmt/format.h>

#include "programs/verify/known_events.hpp"
#include "programs/workload/image.hpp"
#include "tally/core/base/text.hpp"
#include "tally/linux/files/output_file.hpp"

namespace tally::verify {
namespace {

workload::Parameters with(workload::Parameters usual, const workload::Parameters& wanted) {
  for (const workload::Named& field : workload::fields()) {
    if (wanted.*field.field != 0) usual.*field.field = wanted.*field.field;
  }
  return usual;
}

std::string number(std::uint64_t value) { return thousands(static_cast<std::int64_t>(value)); }

}  // namespace

Result<std::vector<Trial>> chosen(const ProgramSelection& wanted) {
  std::vector<Trial> trials;
  std::vector<std::string> names;
  for (const workload::Workload& one : workload::all()) names.emplace_back(one.name);
  for (const std::string& name : wanted.programs.empty() ? names : wanted.programs) {
    const workload::Workload* found = workload::find(name);
    if (!found) {
      const auto near = nearest(name, names);
      return fail(Code::bad_usage, fmt::format("unknown program '{}'", printable(name)),
                  near.empty() ? "`tally verify --list` lists them" : "did you mean " + join(near, ", ") + "?");
    }
    const Trial trial{found, with(found->usual, wanted.parameters)};
    const std::string why = workload::why_not(*found, trial.parameters);
    if (why.empty()) {
      trials.push_back(trial);
    } else if (!wanted.programs.empty()) {
      return fail(Code::bad_usage, why, "`tally verify --list` lists the parameters of each");
    }
  }
  if (trials.empty()) return fail(Code::bad_usage, "no program supports these parameters");
  return trials;
}

std::string expected_counts(const std::vector<Trial>& trials) {
  std::string text =
      "# Programs with known answers\n"
      "\n"
      "Each file is a static program without a C library. What it does in user mode, from its first instruction to its "
      "exit:\n"
      "\n"
      "| program | instructions | branches | conditional | taken | far | loads | stores | page faults |\n"
      "|---|--:|--:|--:|--:|--:|--:|--:|--:|\n";
  for (const Trial& trial : trials) {
    const workload::Counts counts = trial.known();
    const workload::Workload& workload = *trial.workload;
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
                        workload::label(workload, trial.parameters, '-'), number(counts.instructions),
                        number(counts.branches()), number(counts.conditional), number(counts.taken), number(counts.far),
                        number(counts.loads), number(counts.stores),
                        workload.page_faults ? number(workload.page_faults(trial.parameters)) : "");
  }
  return text +
         "\n"
         "- A REP string instruction is one instruction, and `loop` a conditional branch. A system call is a far "
         "branch, and one\n"
         "  of all branches.\n"
         "- Loads and stores are accesses, one for each element (`cmps` loads two). Processors count them in other "
         "ways.\n"
         "- Page faults are those in user mode with pages of 4 KiB; huge pages make them fewer. An empty field: it "
         "depends.\n"
         "- A processor's counter adds one instruction and one branch for each page fault and each interrupt, as a "
         "rule:\n"
         "  `rep_stosb` with n = 1,000,000 reads about 255 instead of 8. Conditional branches are free of that.\n"
         "- `region` ends with the exit code 102 where it may execute `rdpmc`, and by SIGSEGV where it may not.\n"
         "\n"
         "Made by `tally verify --write`; `tally verify --list` has the formulas.\n";
}

Result<void> write_programs(const std::string& folder, const std::vector<Trial>& trials) {
  if (const auto made = linux::make_folder(folder); !made) return fail(made.error());
  for (const Trial& trial : trials) {
    const std::string path = folder + "/" + workload::label(*trial.workload, trial.parameters, '-');
    const auto written = linux::write_program(path, workload::image(*trial.workload, trial.parameters));
    if (!written) return fail(written.error());
  }
  auto readme = linux::Output::open_file(folder + "/README.md");
  if (!readme) return fail(readme.error());
  return readme->write(expected_counts(trials));
}

}  // namespace tally::verify
