#include "tally/cli/control_options.hpp"

#include "tally/cli/commands.hpp"

#include <utility>

#include "tally/tools/command/command_page.hpp"
#include "tally/tools/command/option_groups.hpp"

namespace tally::cli {

std::string is_delay(const std::string& value) { return value == "-1" ? "" : whole_number(1, 86'400'000)(value); }

void add_control_options(Page& page, ControlOptions& options) {
  page.add_option("--control", options.source,
                  "carry out commands from another program, as perf stat does: enable, disable, ping, stop; CHANNEL is "
                  "fd:N[,M] or fifo:PATH[,PATH], and answers (ack) go to the second one")
      .value_name("CHANNEL")
      .in(counting_group);
}

Result<void> ControlOptions::choose(backend::Order& order) {
  if (source.empty()) {
    if (!order.count()->timing.starts_off) return {};
    return fail(Code::bad_usage, "-D -1 needs --control: nothing else starts counting",
                "for example: tally stat -D -1 --control fd:10,11 -- ./prog");
  }
  if (order.target.attachment.any())
    return fail(Code::bad_usage, "--control cannot be used with -p, -t, -a, -C or --cgroup",
                "use it with a command: tally stat --control fd:10,11 -- ./prog");
  if (order.count()->multiplex)
    return fail(Code::bad_usage, "--control cannot be used with --multiplex",
                "count fewer events, or use --backend engine");
  auto opened = linux::ControlChannel::open(source);
  if (!opened) return fail(opened.error());
  channel = std::move(*opened);
  order.count()->timing.control = &*channel;
  return {};
}

}  // namespace tally::cli
