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
    {'p', "asks for precise samples: a count has none, leave it out"},
    {'P', "asks for precise samples: a count has none, leave it out"},
    {'S', "reads a group at each sample: a count has none, leave it out"},
    {'h', "counts the hypervisor, which does nothing in a program's name: leave it out"},
    {'G',
     "counts what virtual machines of this machine execute, which is 0 for a program that runs none: tally does not"},
    {'H', "leaves out guests that this machine runs: tally never counts them, leave it out"},
    {'I', "leaves out idle time: a program's counts hold none, leave it out"},
    {'D', "pins the event to a counter: tally says of every count whether it was multiplexed, leave it out"},
    {'W', "splits a group that does not fit: tally refuses such a group instead, leave it out"},
    {'e', "keeps others off the PMU: tally does not"},
    {'b', "counts in a BPF program: tally does not"},
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
