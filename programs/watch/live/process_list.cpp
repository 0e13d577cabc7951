#include "programs/watch/live/process_list.hpp"

#include <dirent.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "tally/core/base/text.hpp"

namespace tally::watch {
namespace {

std::vector<int> process_numbers(const std::string& proc) {
  std::vector<int> all;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir(proc.c_str()), closedir);
  if (!folder) return all;
  while (const dirent* entry = readdir(folder.get())) {
    int number = 0;
    const char* digit = entry->d_name;
    for (; *digit >= '0' && *digit <= '9' && number < 100'000'000; ++digit) number = number * 10 + (*digit - '0');
    if (*digit == '\0' && number > 0) all.push_back(number);
  }
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

std::optional<ProcessStatistics> process_statistics(int process, std::string_view text) {
  // The name is in parentheses and may contain any character, including parentheses and spaces.
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nullopt;
  static const std::uint64_t page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  ProcessStatistics statistics;
  statistics.process = process;
  statistics.name = text.substr(open + 1, close - open - 1);
  const auto is_plain = [](char letter) { return letter >= ' ' && letter <= '~'; };
  if (!std::all_of(statistics.name.begin(), statistics.name.end(), is_plain))
    statistics.name = printable(valid_utf8(statistics.name));
  Words words(text.substr(close + 1));
  const std::string_view state = words.next();
  if (state.size() != 1) return std::nullopt;
  statistics.state = state.front();
  // The next field is 4; fields 10, 12, 14, 15, 20, 22 and 24 are needed.
  std::uint64_t fields[25] = {};
  for (int field = 4; field <= 24; ++field) fields[field] = words.number().value_or(0);
  statistics.minor_faults = fields[10];
  statistics.major_faults = fields[12];
  statistics.user_ticks = fields[14];
  statistics.kernel_ticks = fields[15];
  statistics.threads = fields[20];
  statistics.started = fields[22];
  statistics.resident_bytes = fields[24] * page;
  return statistics;
}

std::vector<ProcessStatistics> read_processes(const std::string& root) {
  const std::string proc = root + "/proc";
  FolderFiles files(proc);
  std::vector<ProcessStatistics> all;
  for (const int process : process_numbers(proc)) {
    char name[32];
    *fmt::format_to_n(name, sizeof name - 1, "{}/stat", process).out = '\0';
    if (auto statistics = process_statistics(process, files.record(name))) all.push_back(std::move(*statistics));
  }
  return all;
}

bool hides_processes(const std::string& root) {
  FolderFiles proc(root + "/proc");
  if (!proc.record("1/stat").empty()) return false;
  const std::vector<std::string> mounts = split(proc.text("self/mounts"), '\n');
  return std::any_of(mounts.begin(), mounts.end(), [](const std::string& mount) {
    return mount.find(" /proc proc ") != std::string::npos && mount.find("hidepid=") != std::string::npos;
  });
}

ProcessDetails read_details(FolderFiles& proc, int process) {
  constexpr std::size_t most = 4096;
  ProcessDetails details;
  std::string words(proc.text(fmt::format("{}/cmdline", process).c_str()).substr(0, most));
  std::replace(words.begin(), words.end(), '\0', ' ');
  details.command = printable(valid_utf8(trimmed(words)));
  const std::string_view status = proc.text(fmt::format("{}/status", process).c_str());
  const auto voluntary = number_after(status, "voluntary_ctxt_switches:");
  const auto involuntary = number_after(status, "nonvoluntary_ctxt_switches:");
  if (voluntary && involuntary) details.switches = *voluntary + *involuntary;
  // "time on a CPU, time waited, timeslices"; all are 0 if the kernel does not account for them.
  Words times(proc.text(fmt::format("{}/schedstat", process).c_str()));
  const auto ran = times.number();
  const auto waited = times.number();
  if (ran && waited && (*ran > 0 || *waited > 0)) details.waited_ns = *waited;
  return details;
}

}  // namespace tally::watch
