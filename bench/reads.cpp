// What reading counters costs: tally's own way, the kernel's plain ones, and PAPI's, in retired instructions.
//
// One more way is one more row: a name and the operation.
#include "bench/reads.hpp"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "tally/backend/perf/counters.hpp"
#include "tally/base/text.hpp"
#include "tally/linux/machine.hpp"
#include "tally/linux/perf_event.hpp"
#include "tally/linux/pmu_devices.hpp"

namespace bench {
namespace {

[[noreturn]] void give_up(const std::string& why) {
  fmt::print(stderr, "bench_reads: {}\n", why);
  std::exit(125);
}

perf_event_attr hardware(std::uint64_t config) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.config = config;
  attributes.exclude_hv = 1;
  return attributes;
}

int open_event(perf_event_attr attributes, int leader) {
  const long fd = syscall(SYS_perf_event_open, &attributes, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
  if (fd < 0) give_up(fmt::format("no instructions are counted here (perf_event_open: {})", std::strerror(errno)));
  return static_cast<int>(fd);
}

int open_user_event(std::uint64_t config, int leader, std::uint64_t format = 0) {
  perf_event_attr attributes = hardware(config);
  attributes.exclude_kernel = 1;
  attributes.read_format = format;
  return open_event(attributes, leader);
}

}  // namespace

Meter::Meter() {
  perf_event_attr user = hardware(PERF_COUNT_HW_INSTRUCTIONS);
  user.exclude_kernel = 1;
  user.read_format = PERF_FORMAT_GROUP;
  perf_event_attr kernel = hardware(PERF_COUNT_HW_INSTRUCTIONS);
  kernel.exclude_user = 1;
  fds_[0] = open_event(user, -1);
  fds_[1] = open_event(kernel, fds_[0]);
}

Meter::~Meter() {
  for (const int fd : fds_) close(fd);
}

Instructions Meter::now() const {
  std::uint64_t words[3] = {};
  if (read(fds_[0], words, sizeof words) != sizeof words) give_up("its own counters cannot be read");
  return {static_cast<std::int64_t>(words[1]), static_cast<std::int64_t>(words[2])};
}

Cost median_cost(std::vector<Instructions> once, std::vector<Instructions> twice) {
  const auto median = [](std::vector<Instructions>& all, std::int64_t Instructions::*part) {
    std::sort(all.begin(), all.end(), [&](const auto& a, const auto& b) { return a.*part < b.*part; });
    return all[all.size() / 2].*part;
  };
  const auto both = [&](std::vector<Instructions>& all) {
    return Instructions{median(all, &Instructions::user), median(all, &Instructions::kernel)};
  };
  const Instructions one = both(once);
  const Instructions two = both(twice);
  const auto agreeing =
      std::min(std::count(once.begin(), once.end(), one), std::count(twice.begin(), twice.end(), two));
  return {two - one, static_cast<int>(agreeing), static_cast<int>(once.size())};
}

namespace {

// The kernel's own ways, as a program has them that knows what it wants.
void add_kernel(const Meter& meter, Table& readings, Table& regions) {
  std::uint64_t words[8] = {};
  {
    const int one = open_user_event(PERF_COUNT_HW_INSTRUCTIONS, -1);
    readings.rows.push_back({"read()", "one event", cost(meter, [&] { (void)!read(one, words, sizeof words); })});
    close(one);
  }
  const int leader = open_user_event(PERF_COUNT_HW_INSTRUCTIONS, -1, PERF_FORMAT_GROUP);
  const int member = open_user_event(PERF_COUNT_HW_CPU_CYCLES, leader);
  readings.rows.insert(readings.rows.begin(), {"read()", "a group of two events",
                                               cost(meter, [&] { (void)!read(leader, words, sizeof words); })});
  regions.rows.push_back({"read() at both ends", "a group of two events", cost(meter, [&] {
                            (void)!read(leader, words, sizeof words);
                            (void)!read(leader, words + 4, sizeof words / 2);
                          })});
  regions.rows.push_back({"ioctl enable, disable, read()", "a group of two events", cost(meter, [&] {
                            ioctl(leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
                            ioctl(leader, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
                            (void)!read(leader, words, sizeof words);
                          })});
  close(member);
  close(leader);
  readings.rows.push_back({"getppid()", "any system call", cost(meter, [] { syscall(SYS_getppid); })});
}

void add_tally(const Meter& meter, Table& readings, Table& regions) {
  using namespace tally;
  {
    const linux::PerfCounter one = linux::open_counter({linux::perf_type_hardware, PERF_COUNT_HW_INSTRUCTIONS, true});
    readings.rows.push_back(
        {"tally: PerfCounter", "one event, with its times", cost(meter, [&] { (void)one.read(); })});
  }
  std::vector<linux::PmuDevice> cores;
  for (const std::string& name : linux::look_at_machine().pmus) {
    if (auto device = linux::pmu_device("/", name)) cores.push_back(*std::move(device));
  }
  const auto events = event::parse_lists({"{instructions,cycles}"});
  backend::perf::Counters counters(*events, cores);
  counters.open({});
  for (const Count& count : counters.read()) {
    if (!count.value) give_up("tally's counters: " + count.reason);
  }
  readings.rows.push_back(
      {"tally: Counters, look", "a group of two, as it is held", cost(meter, [&] { counters.look(); })});
  readings.rows.push_back(
      {"tally: Counters, read", "the same, as counts with trust", cost(meter, [&] { (void)counters.read(); })});
  regions.rows.push_back({"tally: look at both ends", "a group of two, as it is held", cost(meter, [&] {
                            counters.look();
                            counters.look();
                          })});
  regions.rows.push_back({"tally: read at both ends", "the same, as counts with trust", cost(meter, [&] {
                            const std::vector<Count> before = counters.read();
                            const std::vector<Count> after = counters.read();
                            for (std::size_t i = 0; i < after.size(); ++i) (void)(after[i] - before[i]);
                          })});
}

// The loop's own instructions are in every row.
void print(const Table& table, const Cost& loop) {
  fmt::print("{:<30} {:>8} {:>8} {:>8} {:>6} {:>6}  {}\n", table.title, "user", "kernel", "both", "times", "agree",
             "reads");
  const auto sum = [&](const Cost& one) { return (one.each - loop.each).user + (one.each - loop.each).kernel; };
  for (const Row& row : table.rows) {
    const Instructions own = row.cost.each - loop.each;
    const double times = static_cast<double>(sum(row.cost)) / static_cast<double>(sum(table.rows.front().cost));
    fmt::print("{:<30} {:>8} {:>8} {:>8} {:>6.2f} {:>4} %  {}\n", row.name, tally::thousands(own.user),
               tally::thousands(own.kernel), tally::thousands(own.user + own.kernel), times,
               100 * row.cost.agreeing / row.cost.measured, row.what);
  }
  fmt::print("\n");
}

int run() {
  const Meter meter;
  const Cost loop = cost(meter, [] {});
  Table readings{"one reading", {}};
  Table regions{"a region: begin and end", {}};
  add_kernel(meter, readings, regions);
  add_tally(meter, readings, regions);
  if (const std::string none = add_regions(meter, regions); !none.empty()) give_up(none);
  const std::string why = add_papi(meter, readings, regions);
  fmt::print(
      "Retired instructions of one operation, the median of {}; times: of the first row; agree: so many were the "
      "median.\n\n",
      loop.measured);
  print(readings, loop);
  print(regions, loop);
  if (!why.empty()) fmt::print("{}\n", why);
  return why.empty() ? 0 : 1;
}

}  // namespace
}  // namespace bench

int main() { return bench::run(); }
