#include "programs/discovery/payloads.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "programs/discovery/analysis/analyse.hpp"
#include "tally/core/base/text.hpp"
#include "tally/hardware/assembly/code_loop.hpp"
#include "tally/linux/process/spawn.hpp"

namespace tally::discover {
namespace {

void add(result::Composition& to, std::string_view name, double times) {
  if (const auto place = result::coordinate_of(name)) to[*place] += times;
}

// Adds the loop's own instructions, as in loop.cpp: dec and jnz, or subs, b.eq and b.
void add_loop(result::Composition& to) {
  const double share = 1.0 / static_cast<double>(copies_in_round);
  add(to, "integer-operations", share);
  add(to, "conditional-branches", share);
#if defined(__aarch64__)
  add(to, "instructions", 3 * share);
  add(to, "direct-jumps", share);
#else
  add(to, "instructions", 2 * share);
  add(to, "branches-taken", share);
#endif
}

void compose(result::Composition& to) {
  const auto sum = [&to](std::initializer_list<std::string_view> names) {
    double all = 0;
    for (const auto name : names) all += to[*result::coordinate_of(name)];
    return all;
  };
  const double unconditional = sum({"direct-jumps", "indirect-jumps", "calls", "returns"});
  add(to, "branches", unconditional + sum({"conditional-branches"}));
  add(to, "branches-taken", unconditional);
  add(to, "branch-misses", sum({"conditional-branch-misses", "indirect-branch-misses", "return-misses"}));
}

const Payload* find(std::string_view name) {
  for (const Payload& payload : library()) {
    if (payload.facts.name == name) return &payload;
  }
  return nullptr;
}

}  // namespace

Payload payload(std::string_view name, std::string_view control, std::string_view target, std::string_view init,
                std::string_view body, double instructions, std::vector<Amount> amounts, std::uint64_t memory_bytes) {
  Payload one;
  one.facts = {std::string(name), std::string(control), std::string(target), {}, true, {}};
  one.init = init;
  one.body = body;
  one.memory_bytes = memory_bytes;
  result::Composition& of = one.facts.composition;
  add(of, "instructions", instructions);
  for (const Amount& amount : amounts) add(of, amount.coordinate, amount.times);
  add_loop(of);
  compose(of);
  return one;
}

const std::vector<Payload>& library() {
  static const std::vector<Payload> all = table();
  return all;
}

Result<std::vector<Payload>> chosen(const std::vector<std::string>& names) {
  if (names.empty()) return library();
  std::vector<std::string> wanted{library().front().facts.name};
  for (const std::string& name : names) wanted.push_back(name);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Payload* one = find(wanted[i]);
    if (!one) {
      std::vector<std::string> known;
      for (const Payload& payload : library()) known.push_back(payload.facts.name);
      const auto near = nearest(wanted[i], known);
      return fail(Code::bad_usage, fmt::format("unknown payload '{}'", printable(wanted[i])),
                  near.empty() ? "`tally discover --list` shows them" : "did you mean " + join(near, ", ") + "?");
    }
    if (!one->facts.control.empty()) wanted.push_back(one->facts.control);
    if (wanted.size() > 1000) break;
  }
  std::vector<Payload> all;
  for (const Payload& payload : library()) {
    if (std::find(wanted.begin(), wanted.end(), payload.facts.name) != wanted.end()) all.push_back(payload);
  }
  return all;
}

Payload users_own(const std::string& name, const std::string& body, const std::string& control) {
  Payload one;
  one.facts = {name, control, users_payload, {}, false, body};
  one.body = body;
  return one;
}

Result<std::string> make_program(const Payload& payload, std::uint64_t copies, const std::string& folder) {
  const assembly::Loop loop{payload.init,
                            {payload.body},
                            copies_in_round,
                            std::max<std::uint64_t>(1, copies / copies_in_round),
                            true,
                            payload.memory_bytes,
                            assembly::usual_limit(copies)};
  return assembly::make_program(loop, folder, fmt::format("{}-{}", payload.facts.name, copies));
}

Error why_payload_failed(const std::string& name, std::uint64_t copies, int wait_status) {
  const linux::Exit exit = linux::exit_of(wait_status);
  if (linux::is_killed_by_timer(wait_status))
    return {Code::cannot_measure,
            fmt::format("{} copies of the payload '{}' did not end within {}", copies, printable(name),
                        duration_text(assembly::usual_limit(copies))),
            "remove the endless loop from the payload, or use fewer copies: --sizes", 0};
  return {Code::cannot_measure,
          exit.signal ? fmt::format("the payload '{}' was killed by {}", printable(name), signal_name(*exit.signal))
                      : fmt::format("the payload '{}' ended with {}", printable(name), exit.code),
          "", 0};
}

}  // namespace tally::discover
