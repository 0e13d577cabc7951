#include "tally/linux/conditions.hpp"

#include <sys/personality.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "tally/linux/system.hpp"

namespace tally::linux {
namespace {

constexpr unsigned long ask_only = 0xffffffff;

struct Setting {
  std::string_view name;
  std::string_view value;
  char separator;  ///< of a variable that is a list of settings "key=value"; 0 for a plain one
};

// Each is documented by the program that reads it; one more is one line here and one in
// docs/guides/repeatable-counts.md.
constexpr Setting settings[] = {
    // The kernel registers no restartable sequences, so the C library takes the same paths with every way of counting.
    {"GLIBC_TUNABLES", "glibc.pthread.rseq=0", ':'},
    {"PYTHONHASHSEED", "0", 0},
    {"PERL_HASH_SEED", "0", 0},
    {"PERL_PERTURB_KEYS", "0", 0},
    {"PERL_RAND_SEED", "0", 0},          // perl 5.38 and later
    {"QT_HASH_SEED", "0", 0},            // Qt 5 and 6
    {"GODEBUG", "randautoseed=0", ','},  // Go 1.20 and later: the seed of math/rand
};

void apply(const Setting& setting, std::vector<std::string>& environment) {
  const std::string begin = std::string(setting.name) + "=";
  const auto found = std::find_if(environment.begin(), environment.end(),
                                  [&](const std::string& one) { return one.starts_with(begin); });
  if (found == environment.end()) {
    environment.push_back(begin + std::string(setting.value));
    return;
  }
  const std::string key(setting.value.substr(0, setting.value.find('=') + 1));
  if (setting.separator == 0 || found->find(key) != std::string::npos) return;
  if (found->size() > begin.size()) *found += setting.separator;
  *found += setting.value;
}

}  // namespace

std::vector<std::string> repeatable_environment(std::vector<std::string> environment) {
  for (const Setting& setting : settings) apply(setting, environment);
  return environment;
}

Result<FixedAddresses> FixedAddresses::hold() {
  const int before = personality(ask_only);
  if (before < 0 || personality(static_cast<unsigned long>(before) | ADDR_NO_RANDOMIZE) < 0) {
    return system_failure(Code::cannot_measure, "cannot keep addresses from being randomised (personality)",
                          "a container's filter of system calls may forbid it; without --repeatable it is not needed");
  }
  return FixedAddresses(static_cast<unsigned long>(before));
}

FixedAddresses::FixedAddresses(FixedAddresses&& other) noexcept
    : before_(other.before_), held_(std::exchange(other.held_, false)) {}

FixedAddresses::~FixedAddresses() {
  if (held_) personality(before_);
}

}  // namespace tally::linux
