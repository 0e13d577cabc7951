#include "programs/results/bench_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "programs/linux/directory_lock.hpp"
#include "tally/core/base/text.hpp"
#include "tally/linux/files/input.hpp"
#include "tally/linux/files/output_file.hpp"
#include "tally/tools/command/command.hpp"

namespace tally::results {
namespace {

namespace fs = std::filesystem;

/// The list of benchmarks by the names of their files, one per line.
std::string list_file(const std::string& folder) { return (fs::path(folder) / "benchmarks.txt").string(); }

std::set<std::string> listed(const std::string& folder) {
  const std::vector<std::string> lines = split(linux::read_file(list_file(folder)).value_or(""), '\n');
  return {lines.begin(), lines.end()};
}

}  // namespace

std::string result_in(const std::string& folder, const Benchmark& benchmark) {
  return (fs::path(folder) / (benchmark.file_name() + ".json")).string();
}

std::string profile_in(const std::string& folder, const Benchmark& benchmark) {
  return (fs::path(folder) / "profiles" / (benchmark.file_name() + ".json")).string();
}

std::string failure_file(const std::string& folder, const Benchmark& benchmark) {
  return (fs::path(folder) / (benchmark.file_name() + ".failed")).string();
}

Result<linux::Descriptor> lock_results(const std::string& folder, bool writes) {
  const auto kind = writes ? linux::DirectoryLock::exclusive : linux::DirectoryLock::shared;
  linux::LockedDirectory locked = linux::lock_directory(folder, kind);
  if (!locked.is_refused) return std::move(locked.directory);
  const std::string text = fmt::format("another `tally bench` uses the directory '{}'", printable(folder));
  if (!writes) return fail(Code::bad_usage, text, "compare with this baseline when that call has ended");
  command::say({text + ": waits until it has ended; use another directory with -o to run both at the same time"});
  linux::await_lock(locked, kind);
  return std::move(locked.directory);
}

Result<void> remove_results(const std::string& folder, const Benchmark& benchmark) {
  std::error_code error;
  for (const std::string& file :
       {result_in(folder, benchmark), profile_in(folder, benchmark), failure_file(folder, benchmark)})
    if (!fs::remove(file, error) && error)
      return fail(Code::cannot_write, fmt::format("cannot remove '{}': {}", printable(file), error.message()));
  return {};
}

std::vector<std::string> only_in_baseline(const std::string& folder, const std::vector<Benchmark>& suite) {
  std::set<std::string> names;  // a benchmark may have several files
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().stem().string();
    if ((entry.path().extension() == ".json" || entry.path().extension() == ".failed") &&
        std::none_of(suite.begin(), suite.end(),
                     [&](const Benchmark& benchmark) { return benchmark.file_name() == name; }))
      names.insert(name);
  }
  return {names.begin(), names.end()};
}

Result<void> write_list(const std::string& folder, const std::vector<Benchmark>& suite, bool adds) {
  std::set<std::string> names = adds ? listed(folder) : std::set<std::string>();
  for (const Benchmark& benchmark : suite) names.insert(benchmark.file_name());
  names.erase("");
  std::string text;
  for (const std::string& name : names) text += name + "\n";
  auto file = linux::Output::open_file(list_file(folder));
  return file ? file->write(text) : fail(file.error());
}

bool is_listed(const std::string& folder, const Benchmark& benchmark) {
  return listed(folder).contains(benchmark.file_name());
}

}  // namespace tally::results
