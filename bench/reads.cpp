// Measures the cost of reading counters with tally, the kernel's system calls and PAPI, in retired instructions.
//
// To add a method, add a row: a name and the operation.
#include "bench/reads.hpp"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "tally/core/base/text.hpp"
#include "tally/counting/backend/perf/order_counters.hpp"
#include "tally/linux/machine/host_machine.hpp"
#include "tally/linux/machine/pmu_devices.hpp"
#include "tally/linux/perf/perf_event.hpp"

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
  if (fd < 0) give_up(fmt::format("cannot count instructions here (perf_event_open: {})", std::strerror(errno)));
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
  if (read(fds_[0], words, sizeof words) != sizeof words) give_up("cannot read its own counters");
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

// Instructions and cycles in user mode; with four events, also in the kernel.
class Group {
 public:
  explicit Group(int events) {
    for (int i = 0; i < events; ++i) {
      perf_event_attr attributes = hardware(i % 2 == 0 ? PERF_COUNT_HW_INSTRUCTIONS : PERF_COUNT_HW_CPU_CYCLES);
      attributes.exclude_kernel = i < 2;
      attributes.exclude_user = i >= 2;
      attributes.read_format = PERF_FORMAT_GROUP;
      fds_.push_back(open_event(attributes, i == 0 ? -1 : fds_.front()));
    }
  }
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group() {
    for (const int fd : fds_) close(fd);
  }
  int leader() const { return fds_.front(); }

 private:
  std::vector<int> fds_;
};

// The kernel's system calls, as a specialised program would use them.
void add_kernel_regions(const Meter& meter, int events, Table& regions) {
  const Group group(events);
  const int leader = group.leader();
  std::uint64_t words[16] = {};
  regions.rows.push_back({"read() at both ends", "a group, one call each", cost(meter, [&] {
                            (void)!read(leader, words, sizeof words / 2);
                            (void)!read(leader, words + 8, sizeof words / 2);
                          })});
  regions.rows.push_back({"ioctl enable, disable, read()", "a group, one call each", cost(meter, [&] {
                            ioctl(leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
                            ioctl(leader, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
                            (void)!read(leader, words, sizeof words);
                          })});
}

void add_kernel_readings(const Meter& meter, Table& readings) {
  std::uint64_t words[8] = {};
  {
    const int one = open_user_event(PERF_COUNT_HW_INSTRUCTIONS, -1);
    readings.rows.push_back({"read()", "one event", cost(meter, [&] { (void)!read(one, words, sizeof words); })});
    close(one);
  }
  {
    const Group two(2);
    readings.rows.insert(readings.rows.begin(), {"read()", "a group of two events",
                                                 cost(meter, [&] { (void)!read(two.leader(), words, sizeof words); })});
  }
  readings.rows.push_back({"getppid()", "any system call", cost(meter, [] { syscall(SYS_getppid); })});
}

void add_tally_readings(const Meter& meter, Table& readings) {
  using namespace tally;
  {
    const linux::PerfCounter one = linux::open_counter({linux::perf_type_hardware, PERF_COUNT_HW_INSTRUCTIONS, true});
    readings.rows.push_back(
        {"tally: PerfCounter", "one event, with its times", cost(meter, [&] { (void)one.read(); })});
  }
  std::vector<linux::PmuDevice> cores;
  for (const std::string& name : linux::read_host_machine().pmus) {
    if (auto device = linux::pmu_device("/", name)) cores.push_back(*std::move(device));
  }
  const auto events = event::parse_lists({"{instructions,cycles}"});
  backend::perf::Counters counters(*events, cores);
  counters.open({});
  for (const Count& count : counters.read()) {
    if (!count.value) give_up("tally's counters: " + count.reason);
  }
  readings.rows.push_back(
      {"tally: Counters", "a group of two, as counts with trust", cost(meter, [&] { (void)counters.read(); })});
}

// The loop's own instructions are in every row.
std::int64_t sum(const Row& row, const Cost& loop) {
  const Instructions own = row.cost.each - loop.each;
  return own.user + own.kernel;
}

// Also prints, for tally's regions, the factor between them and the best of the others.
void print(const Table& table, const Cost& loop) {
  fmt::print("{:<30} {:>8} {:>8} {:>8} {:>6} {:>6}  {}\n", table.title, "user", "kernel", "both", "times", "agree",
             "reads");
  std::int64_t best = 0;
  for (const Row& row : table.rows) {
    if (!row.is_region && (best == 0 || sum(row, loop) < best)) best = sum(row, loop);
  }
  for (const Row& row : table.rows) {
    const Instructions own = row.cost.each - loop.each;
    const double times = static_cast<double>(sum(row, loop)) / static_cast<double>(sum(table.rows.front(), loop));
    fmt::print("{:<30} {:>8} {:>8} {:>8} {:>6.2f} {:>4} %  {}", row.name, tally::thousands(own.user),
               tally::thousands(own.kernel), tally::thousands(own.user + own.kernel), times,
               100 * row.cost.agreeing / row.cost.measured, row.what);
    if (row.is_region)
      fmt::print("; the best of the others: {:.1f} ×", static_cast<double>(best) / static_cast<double>(sum(row, loop)));
    fmt::print("\n");
  }
  fmt::print("\n");
}

// Prints the reason, and returns false, if other tools could not be measured.
bool print_missing(const std::string& why) {
  if (!why.empty()) fmt::print("{}\n", why);
  return why.empty();
}

bool print_readings() {
  const Meter meter;
  const Cost loop = cost(meter, [] {});
  Table readings{"one reading", {}};
  add_kernel_readings(meter, readings);
  add_tally_readings(meter, readings);
  const std::string why = add_papi_readings(meter, readings);
  print(readings, loop);
  return print_missing(why);
}

bool print_regions(int events) {
  const Meter meter;
  const Cost loop = cost(meter, [] {});
  Table regions{fmt::format("begin and end, {} events", events), {}};
  add_kernel_regions(meter, events, regions);
  const std::string why = add_papi_regions(meter, events, regions);
  if (const std::string none = add_regions(meter, events, regions); !none.empty()) give_up(none);
  print(regions, loop);
  return print_missing(why);
}

// Runs in a separate process, because PAPI's high level chooses its events once.
template <class Print>
bool in_own_process(Print print) {
  const pid_t child = fork();
  if (child == 0) {
    const bool all = print();
    std::exit(all ? 0 : 1);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

int run(bool only_regions) {
  fmt::print(
      "Retired instructions per operation, median of {}. times: relative to the first row; agree: share equal to the "
      "median.\n\n",
      measurements);
  std::fflush(stdout);
  bool all = only_regions || in_own_process(print_readings);
  for (const int events : {2, 4}) all = in_own_process([&] { return print_regions(events); }) && all;
  return all ? 0 : 1;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) { return bench::run(argc > 1 && std::strcmp(argv[1], "regions") == 0); }
