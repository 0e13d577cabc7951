#include "tests/guest/machine.hpp"

#include <cstdlib>
#include <fstream>

#include "tally/linux/perf/perf_event.hpp"
#include "tally/linux/process/program_file.hpp"
#include "tally/linux/system_call.hpp"

namespace tally::hardware_test {

std::string why_no_pmu() {
  const linux::PerfCounter counter = linux::open_counter({linux::perf_type_hardware, 1, true});
  if (counter) return {};
  return "no instructions are counted here (perf_event_open: " + linux::errno_text(counter.os_errno) + ")";
}

KnownProgram known(const std::string& name, std::uint64_t n) {
  const workload::Workload* program = workload::find(name);
  return {std::string(WORKLOADS) + "/" + name + "_" + std::to_string(n), program->expected({.n = n})};
}

std::vector<std::pair<std::string, std::uint64_t>> known_programs() {
  return {{"countdown", 1},    {"countdown", 1000},    {"countdown", 1000000},
          {"system_calls", 1}, {"system_calls", 1000}, {"touch", 1000}};
}

Setting::Setting(std::string file, std::int64_t value) : file_(std::move(file)) {
  std::ifstream(file_) >> before_;
  std::ofstream(file_) << value;
}

Setting::~Setting() { std::ofstream(file_) << before_; }

std::vector<std::string> as_user(std::vector<std::string> words) {
  std::vector<std::string> all{linux::find_program("setpriv", linux::search_path()).value_or(""), "--reuid=1000",
                               "--regid=1000", "--clear-groups"};
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

bool is_guest() { return std::getenv("TALLY_GUEST") != nullptr; }

}  // namespace tally::hardware_test
