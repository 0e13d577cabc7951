#include "tally/hardware/event/modifiers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "tally/core/base/text.hpp"

namespace tally::event {
namespace {

constexpr const char* usage = "':u' counts user mode, ':k' the kernel, ':uk' both";

struct Refused {
  char letter;
  const char* why;
};

// perf-list(1), "EVENT MODIFIERS": those that do not apply to counts, or that tally cannot apply.
constexpr Refused refused[] = {
    {'p', "requests precise samples, which do not apply to counting: omit it"},
    {'P', "requests precise samples, which do not apply to counting: omit it"},
    {'S', "reads a group at each sample, which does not apply to counting: omit it"},
    {'h', "counts the hypervisor, which executes no code of a program: omit it"},
    {'G', "counts guests, which tally does not support; it is 0 for a program that runs no virtual machine"},
    {'H', "excludes guests, which tally never counts: omit it"},
    {'I', "excludes idle time, which a program's counts never include: omit it"},
    {'D', "pins the event to a counter; tally marks multiplexed counts instead: omit it"},
    {'W', "splits a group that does not fit; tally reports an error instead: omit it"},
    {'e', "requests exclusive use of the PMU, which tally does not support"},
    {'b', "counts in a BPF program, which tally does not support"},
};

}  // namespace

Result<Mode> parse_modifiers(std::string_view letters, std::string_view event) {
  bool user = false;
  bool kernel = false;
  for (const char letter : letters) {
    if (letter == 'u') {
      user = true;
    } else if (letter == 'k') {
      kernel = true;
    } else if (const auto* one = std::find_if(std::begin(refused), std::end(refused),
                                              [&](const Refused& known) { return known.letter == letter; });
               one != std::end(refused)) {
      return fail(Code::bad_usage, fmt::format("'{}': the modifier '{}' {}", printable(event), letter, one->why),
                  usage);
    } else {
      return fail(Code::bad_usage, fmt::format("unknown suffix ':{}' of '{}'", printable(letters), printable(event)),
                  usage);
    }
  }
  if (!user && !kernel) {
    return fail(Code::bad_usage, fmt::format("missing modifier after ':' in '{}'", printable(event)), usage);
  }
  return user && kernel ? Mode::both : kernel ? Mode::kernel : Mode::user;
}

}  // namespace tally::event
