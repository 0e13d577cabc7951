#include "tally/library/region_output.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/linux/files/output_file.hpp"
#include "tally/linux/files/terminal_width.hpp"
#include "tally/linux/process/parallel_job.hpp"
#include "tally/linux/process/region_handoff.hpp"
#include "tally/linux/process/self.hpp"
#include "tally/output/kinds/regions_format.hpp"

namespace tally::detail {
namespace {

struct Kept {
  std::mutex lock;
  std::string place;                              // value of TALLY_OUTPUT
  std::optional<std::filesystem::path> gathered;  // where a command that runs this program collects them, if
  bool searched = false;                          // this is true
  std::unique_ptr<RecordsMemory> memory;          // there, if
  bool has_tried_memory = false;                  // this is true
  bool watched = false;                           // the exit handler is registered
  bool is_child = false;                          // a forked child: its parent's file is not its own
  bool any_opened = false;                        // at least one Counters was opened
  std::optional<Error> why_none;                  // the first reason why a Counters was not opened
  std::optional<Error> wrong;                     // the first error that did not keep a Counters from opening
  std::vector<RegionResult> results;              // of Counters that were destroyed
};
Kept& kept() {
  static Kept* const one = new Kept;  // never destroyed: Counters that are destroyed later still use it
  return *one;
}

// The caller holds the lock.
const std::optional<std::filesystem::path>& gathered() {
  if (!std::exchange(kept().searched, true)) kept().gathered = linux::gathered_in();
  return kept().gathered;
}

result::ProgramRegions this_program() {
  return {linux::process_number(), linux::own_command(), "", {}, linux::mpi_rank(), {}};
}

result::ProgramRegions all_regions() {
  result::ProgramRegions program = this_program();
  {
    const std::lock_guard guard(kept().lock);
    program.regions = kept().results;
  }
  for (const auto& shared : all_shared()) {
    for (RegionResult& one : results_of(*shared)) program.regions.push_back(std::move(one));
    program.openmp_numbers.merge(openmp_numbers(*shared));
  }
  return program;
}

void print_to_stderr(const std::string& text) { (void)linux::Output::standard_error().write(text); }

void print_to_stderr(const Error& error) {
  print_to_stderr(fmt::format("tally: {}\n{}", printable(error.message),
                              error.hint.empty() ? "" : fmt::format("       {}\n", printable(error.hint))));
}

// Adds the process ID to the name if a child would use its parent's file: FILE.123.json.
std::string of_child(std::string place) {
  if (place.find("%p") == std::string::npos && place != "table") place.insert(place.rfind('.'), ".%p");
  return place;
}

Result<void> write(const result::ProgramRegions& program, const std::string& place) {
  if (place == "table")
    return linux::Output::standard_error().write(
        "tally: " + output::regions_table(program, linux::terminal_columns(linux::Stream::error)));
  const auto* const format = output::format_of_name(output::regions_formats(), place);
  if (format == nullptr) {
    return fail(
        Code::bad_usage,
        fmt::format("cannot write regions to '{}': it is neither 'table' nor the name of a .json or .csv file",
                    printable(place)),
        "for example: TALLY_OUTPUT=regions.json; in a name, %p becomes the process ID, %r the MPI rank, %h the host");
  }
  auto output = linux::Output::open_file(linux::name_of_process(place, program.pid));
  if (!output) return fail(output.error());
  return output->write(format->write(program));
}

void report_end(const Kept& known, const result::ProgramRegions& program) {
  if (!known.any_opened) {
    Error why = *known.why_none;
    why.message = "no regions: " + why.message;
    return print_to_stderr(why);
  }
  if (known.is_child && program.regions.empty()) return;
  const auto written = write(program, known.is_child ? of_child(known.place) : known.place);
  if (written) return;
  print_to_stderr(written.error());
  // The results are not lost.
  if (known.place != "table") print_to_stderr("tally: " + output::regions_table(program));
}

// Passes the regions to the command that runs this program. Returns whether it shows them: not if it has already ended.
bool handed_over(const Kept& known, result::ProgramRegions program) {
  if (!known.gathered) return false;
  if (!known.any_opened && !known.is_child) {
    program.reason = known.why_none->message;
    if (!known.why_none->hint.empty()) program.reason += "; " + known.why_none->hint;
  }
  if (program.regions.empty() && program.reason.empty()) return true;
  const std::string text = output::regions_json(program);
  return (known.memory ? known.memory->hand_over(text) : linux::hand_over(*known.gathered, text)).has_value();
}

void at_end() {
  const Kept& known = kept();
  const result::ProgramRegions program = known.any_opened ? all_regions() : this_program();
  const bool are_shown = handed_over(known, program);
  if (known.wrong) print_to_stderr(*known.wrong);
  // The command prints the table itself.
  if (!known.place.empty() && !(are_shown && known.place == "table")) report_end(known, program);
}

}  // namespace

void watch_end(const Error* failed) {
  const std::lock_guard guard(kept().lock);
  if (failed == nullptr) {
    kept().any_opened = true;
  } else if (!kept().why_none) {
    kept().why_none = *failed;
  }
  if (std::exchange(kept().watched, true)) return;
  const char* place = secure_getenv("TALLY_OUTPUT");
  kept().place = place == nullptr ? "" : place;
  if (gathered() || !kept().place.empty()) (void)std::atexit(at_end);
}

void print_at_end(Error error) {
  const std::lock_guard guard(kept().lock);
  if (!kept().wrong) kept().wrong = std::move(error);
}

void keep(Shared& shared) {
  if (kept().place.empty() && !kept().gathered) return;
  auto results = results_of(shared);
  const std::lock_guard guard(kept().lock);
  for (RegionResult& one : results) kept().results.push_back(std::move(one));
}

RecordsMemory* records_memory() {
  const std::lock_guard guard(kept().lock);
  if (!std::exchange(kept().has_tried_memory, true) && gathered()) kept().memory = RecordsMemory::create(*gathered());
  return kept().memory.get();
}

void describe(Shared& shared) {
  RecordsMemory* const memory = records_memory();
  if (memory == nullptr || shared.described_in == memory) return;
  memory->describe(shared.id, shared, this_program());
  shared.described_in = memory;
}

void lock_kept() {
  kept().lock.lock();
  if (kept().memory) kept().memory->lock();
}

void unlock_kept(bool in_child) {
  if (kept().memory) kept().memory->unlock();
  if (in_child) {
    kept().is_child = true;
    kept().results.clear();
    if (kept().memory) kept().memory->become_private();
    (void)kept().memory.release();  // never freed: open entries still use it
    kept().has_tried_memory = false;
  }
  kept().lock.unlock();
}

Result<void> write_regions(const std::string& place) { return write(all_regions(), place); }

}  // namespace tally::detail
