#include "tally/linux/process/usage.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "tally/core/base/text.hpp"

namespace tally::linux {
namespace {

Nanoseconds time_of(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
}

// Returns the number after `key` in a file of lines "Key:\tnumber kB".
std::int64_t field(const std::string& text, const std::string& key) {
  const std::size_t at = text.find("\n" + key + ":");
  if (at == std::string::npos) return 0;
  return std::strtoll(text.c_str() + at + key.size() + 2, nullptr, 10);
}

std::string read_all(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

Usage usage_of(const rusage& statistics) {
  Usage usage;
  usage.user = time_of(statistics.ru_utime);
  usage.system = time_of(statistics.ru_stime);
  usage.minor_faults = statistics.ru_minflt;
  usage.major_faults = statistics.ru_majflt;
  usage.voluntary_switches = statistics.ru_nvcsw;
  usage.involuntary_switches = statistics.ru_nivcsw;
  usage.peak_rss_bytes = std::int64_t{statistics.ru_maxrss} * 1024;  // getrusage(2): kilobytes
  return usage;
}

Usage since(const Usage& now, const Usage& start) {
  Usage usage = now;
  // The kernel splits a process's time by sampled ticks, so either part can decrease by some microseconds.
  usage.user = std::max(Nanoseconds{0}, usage.user - start.user);
  usage.system = std::max(Nanoseconds{0}, usage.system - start.system);
  usage.minor_faults -= start.minor_faults;
  usage.major_faults -= start.major_faults;
  usage.voluntary_switches -= start.voluntary_switches;
  usage.involuntary_switches -= start.involuntary_switches;
  usage.peak_floor_bytes = start.peak_rss_bytes;
  return usage;
}

Usage operator+(const Usage& a, const Usage& b) {
  Usage sum = a;
  sum.user += b.user;
  sum.system += b.system;
  sum.minor_faults += b.minor_faults;
  sum.major_faults += b.major_faults;
  sum.voluntary_switches += b.voluntary_switches;
  sum.involuntary_switches += b.involuntary_switches;
  sum.peak_rss_bytes = std::max(a.peak_rss_bytes, b.peak_rss_bytes);
  return sum;
}

std::optional<Usage> usage_of_living(pid_t pid) {
  const std::string folder = "/proc/" + std::to_string(pid);
  const std::string stat = read_all(folder + "/stat");
  const std::string status = read_all(folder + "/status");
  // The name is in parentheses and may contain any character, including parentheses: fields begin after the last one.
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos || status.empty()) return std::nullopt;
  const auto fields = split(trimmed(std::string_view(stat).substr(name_end + 1)), ' ');
  if (fields.size() < 13) return std::nullopt;
  // proc_pid_stat(5) gives the state, here fields[0], the number 3.
  const auto number = [&](std::size_t field_number) { return parse_integer(fields[field_number - 3]).value_or(0); };
  const std::int64_t tick_ns = 1'000'000'000 / sysconf(_SC_CLK_TCK);
  Usage usage;
  usage.minor_faults = number(10);
  usage.major_faults = number(12);
  usage.user = Nanoseconds{number(14) * tick_ns};
  usage.system = Nanoseconds{number(15) * tick_ns};
  usage.voluntary_switches = field(status, "voluntary_ctxt_switches");
  usage.involuntary_switches = field(status, "nonvoluntary_ctxt_switches");
  usage.peak_rss_bytes = field(status, "VmHWM") * 1024;
  return usage;
}

}  // namespace tally::linux
