#include "tally/cli/attach_options.hpp"

#include <fmt/format.h>

#include <utility>

#include "tally/linux/machine/host_machine.hpp"
#include "tally/tools/command/command_page.hpp"
#include "tally/tools/command/option_groups.hpp"
#include "tally/tools/launch/launch.hpp"

namespace tally::cli {

void add_process_options(Page& page, std::string& processes, bool& all_processors) {
  const GroupScope group(page, attaching_group);
  page.add_option("-p,--pid", processes,
                  "attach to running processes until they end or Ctrl-C; includes threads and children they start "
                  "later; not with the engine")
      .value_name("PIDS");
  page.add_flag("-a,--all-cpus", all_processors,
                "count everything that runs on any CPU; `tally sample`: with --only and --wait, programs of all users");
}

void add_attach_options(Page& page, AttachOptions& options) {
  add_process_options(page, options.processes, options.all_processors);
  const GroupScope group(page, attaching_group);
  page.add_option("-t,--tid", options.threads, "attach to running threads; each is counted alone").value_name("TIDS");
  page.add_option("-C,--cpu", options.processors, "count everything that runs on these CPUs: 0,2-3").value_name("CPUS");
  page.add_option("--cgroup", options.cgroup,
                  "count only the tasks of the control group PATH, on all CPUs or on those of -C")
      .value_name("PATH");
  page.add_flag("--per-core", options.per_core, "with -a, -C or --cgroup: also report the counts of each core");
  page.add_flag("--per-socket", options.per_socket, "with -a, -C or --cgroup: also report the counts of each socket");
}

Result<backend::Attachment> AttachOptions::choose() const {
  auto pids = ids_of(processes, "process");
  if (!pids) return fail(pids.error());
  auto tids = ids_of(threads, "thread");
  if (!tids) return fail(tids.error());
  backend::Attachment attachment{.processes = std::move(*pids), .threads = std::move(*tids), .processors = {}};
  attachment.cgroup = cgroup;
  if (all_processors || !processors.empty() || !cgroup.empty()) {
    auto list = linux::processors(all_processors ? "" : processors);  // empty: all of them
    if (!list) return fail(list.error());
    attachment.processors = std::move(*list);
  }
  if (!attachment.processors.empty() && !(attachment.processes.empty() && attachment.threads.empty()))
    return fail(Code::bad_usage, "-p and -t cannot be used with -a, -C or --cgroup", "use only one of them");
  if (!per_core && !per_socket) return attachment;
  if (per_core && per_socket)
    return fail(Code::bad_usage, "--per-core and --per-socket cannot be used together", "use only one of them");
  if (attachment.processors.empty()) {
    return fail(Code::bad_usage, fmt::format("{} needs -a, -C or --cgroup", per_core ? "--per-core" : "--per-socket"),
                "add -a for all CPUs, or -C 0,2-3 for some");
  }
  attachment.parts = per_core ? result::PartOf::core : result::PartOf::socket;
  return attachment;
}

}  // namespace tally::cli
