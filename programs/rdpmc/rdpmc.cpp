#include "programs/rdpmc/rdpmc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "programs/linux/rdpmc_switch.hpp"
#include "programs/linux/run_folder.hpp"
#include "programs/rdpmc/holder.hpp"
#include "tally/linux/files/files.hpp"
#include "tally/linux/machine/host_machine.hpp"

namespace tally::rdpmc {
namespace {

constexpr std::int64_t for_everybody = 2;

// The processor's PMUs; none if the kernel reports none. Fails if the architecture has no rdpmc switch.
Result<std::vector<linux::PmuDevice>> cores_of(const std::string& root) {
  const linux::HostMachine machine = linux::read_host_machine(root);
  if (machine.architecture != "x86_64") {
    return fail(Code::cannot_measure,
                fmt::format("{} has no switch that lets every program read counters: on arm64 a program may only read "
                            "counters of its own events (perf_user_access), not those of a processor",
                            machine.architecture.empty() ? "this architecture" : machine.architecture),
                "to read counters of a program's own regions use tally/tally.hpp, and as root `sysctl "
                "kernel.perf_user_access=1`");
  }
  std::vector<linux::PmuDevice> cores;
  for (const std::string& name : machine.pmus) {
    if (auto device = linux::pmu_device(root, name)) cores.push_back(*std::move(device));
  }
  return cores;
}

Result<RdpmcStatus> read_status(const std::string& root, const std::vector<linux::PmuDevice>& cores) {
  RdpmcStatus standing;
  for (const linux::PmuDevice& core : cores) {
    const auto value = linux::read_rdpmc_switch(root, core.name);
    if (!value && value.error().os_errno != EACCES) return fail(value.error());
    standing.switches.push_back({core.name, value ? std::optional(*value) : std::nullopt});
  }
  const std::string note = linux::run_note(folder_of(root));
  if (note.empty()) return standing;
  auto state = parse_state(note);
  if (!state) {
    return fail(Code::cannot_measure, fmt::format("{}/note: {}", folder_of(root), state.error().message),
                "remove that directory; the kernel's default is 1: echo 1 > /sys/bus/event_source/devices/cpu/rdpmc");
  }
  (linux::lives(state->holder) ? standing.held : standing.left) = *std::move(state);
  return standing;
}

// With the directory locked: restores what a killed process left.
Result<RdpmcStatus> repair(const std::string& root, const std::vector<linux::PmuDevice>& cores) {
  auto standing = read_status(root, cores);
  if (!standing || !standing->left) return standing;
  std::vector<std::string> notices{
      fmt::format("process {}, which held the counters, ended without restoring the setting; tally restored it",
                  standing->left->holder.number)};
  const bool all = put_back(root, standing->left->switches, notices);
  if (all) linux::remove_run_note(folder_of(root));
  standing = read_status(root, cores);
  if (standing) standing->notices = std::move(notices);
  return standing;
}

// The daemon cannot report that another program had changed a switch, so off() does.
void add_differences(const std::vector<SwitchChange>& before, RdpmcStatus& now) {
  for (const SwitchChange& old : before) {
    for (const Switch& one : now.switches) {
      if (one.pmu != old.pmu || one.value == old.before) continue;
      now.notices.push_back(fmt::format("{}: the setting was {} before, but another program wrote {}: not restored",
                                        one.pmu, old.before, one.value.value_or(-1)));
    }
  }
}

Error permission_error(const Error& why, const char* word) {
  if (why.os_errno != EACCES && why.os_errno != EPERM) return why;
  return {why.code, why.message, fmt::format("only root may: sudo tally rdpmc {}", word), why.os_errno};
}

}  // namespace

Result<RdpmcStatus> status(const std::string& root) {
  const auto cores = cores_of(root);
  if (!cores) return fail(cores.error());
  auto standing = read_status(root, *cores);
  if (!standing || !standing->left) return standing;
  const auto folder = linux::RunFolder::enter(folder_of(root));
  if (!folder) return standing;  // without root: only report what can be restored
  standing = repair(root, *cores);
  return standing;
}

Result<RdpmcStatus> on(const std::vector<event::Event>& events, const std::string& root, const Pin& pin) {
  const auto cores = cores_of(root);
  if (!cores) return fail(cores.error());
  if (cores->empty()) return fail(Code::cannot_measure, no_counters, "`tally doctor` shows why");
  auto requested = processor_events(events, *cores);
  if (!requested) return fail(requested.error());
  const auto folder = linux::RunFolder::enter(folder_of(root));
  if (!folder) return fail(permission_error(folder.error(), "on"));
  const auto before = repair(root, *cores);
  if (!before) return fail(before.error());
  if (before->left)
    return fail(Code::cannot_measure, before->notices.back(), "restore this first; tally has changed nothing");
  if (before->held) {
    return fail(Code::cannot_measure,
                fmt::format("already on: process {} holds the counters", before->held->holder.number),
                "`tally rdpmc status` shows them, `tally rdpmc off` releases them");
  }
  Task task{root, {}, *std::move(requested), *cores, pin};
  for (const Switch& one : before->switches) {
    if (!one.value) return fail(permission_error({Code::cannot_measure, "cannot read the setting", "", EACCES}, "on"));
    task.switches.push_back({one.pmu, *one.value, for_everybody});
  }
  const auto holder = linux::start_daemon("tally-rdpmc", [&](linux::Staying& staying) { return hold(task, staying); });
  if (!holder) {
    // If the daemon was killed, restore what it had changed; a second failure would add no information.
    (void)repair(root, *cores);
    return fail(permission_error(holder.error(), "on"));
  }
  auto standing = read_status(root, *cores);
  if (!standing) return standing;
  standing->notices = before->notices;
  for (const ProcessorEvent& event : task.events) {
    if (!event.doubt.empty()) standing->notices.push_back(fmt::format("{}: {}", event.name, event.doubt));
  }
  return standing;
}

Result<RdpmcStatus> off(const std::string& root) {
  const auto cores = cores_of(root);
  if (!cores) return fail(cores.error());
  auto standing = read_status(root, *cores);
  if (!standing || (!standing->held && !standing->left)) return standing;
  const auto folder = linux::RunFolder::enter(folder_of(root));
  if (!folder) return fail(permission_error(folder.error(), "off"));
  standing = read_status(root, *cores);
  if (!standing) return standing;
  const auto before = standing->held;
  if (before) {
    const auto ended = linux::end_and_wait(before->holder);
    if (!ended) return fail(permission_error(ended.error(), "off"));
  }
  // If the daemon could not restore everything, this tries again.
  standing = repair(root, *cores);
  if (standing && before) add_differences(before->switches, *standing);
  return standing;
}

}  // namespace tally::rdpmc
