// `tally doctor` on machines that we do not have. NAME.txt is its output on NAME.machine; TALLY_REBASE=1 in the
// environment rewrites them, to be read before they are committed.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "programs/doctor/diagnose.hpp"
#include "programs/doctor/doctor_text.hpp"
#include "tally/core/base/text.hpp"
#include "tests/machines/machine.hpp"

namespace tally::test {
namespace {

class Machines : public testing::TestWithParam<std::string> {};

TEST_P(Machines, the_report_is_the_reviewed_one) {
  const std::string path = machine_file(GetParam() + ".txt");
  const std::string text = doctor::doctor_text(doctor::diagnose(facts_of(GetParam())));
  if (std::getenv("TALLY_REBASE") != nullptr) std::ofstream(path) << text;
  std::ifstream file(path);
  std::ostringstream expected;
  expected << file.rdbuf();
  EXPECT_EQ(text, expected.str());
}

TEST_P(Machines, the_report_fits_the_terminal_but_for_commands_and_paths) {
  const doctor::Diagnosis diagnosis = doctor::diagnose(facts_of(GetParam()));
  for (const std::size_t terminal : {0u, 60u, 80u, 200u}) {
    for (const std::string& line : split(doctor::doctor_text(diagnosis, terminal), '\n')) {
      const bool is_command = line.starts_with("        ");
      const bool is_word = trimmed(line).find(' ') == std::string::npos;
      EXPECT_TRUE(is_command || is_word ||
                  display_width(line) <= (terminal == 0 ? 80 : std::min(terminal, std::size_t{80})))
          << line;
    }
  }
}

TEST_P(Machines, the_json_says_the_same) {
  const doctor::Diagnosis diagnosis = doctor::diagnose(facts_of(GetParam()));
  const auto json = nlohmann::json::parse(doctor::doctor_json(diagnosis));
  EXPECT_EQ(json["schema"], "tally-doctor/2");
  EXPECT_EQ(json["hardware"], diagnosis.hardware);
  EXPECT_EQ(json["cause"], diagnosis.cause);
  EXPECT_EQ(json["next"].size(), diagnosis.next.size());
  EXPECT_EQ(json["countable"].size(), diagnosis.countable.size());
  EXPECT_FALSE(json["evidence"].empty());
  for (const char* group : {"processor", "virtualisation", "kernel", "rights", "engine"}) {
    EXPECT_TRUE(json[group].is_object()) << group;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Machines, testing::ValuesIn(all_machines()), [](const auto& one) {
  std::string name = one.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

struct Answer {
  const char* machine;
  bool hardware;
  const char* cause;
  const char* says;  // somewhere in the verdict, the evidence or the steps
};

// The important part of each answer, whatever its other words.
constexpr Answer answers[] = {
    {"bare-intel", true, "counts", "perf_event_paranoid is 2"},
    {"bare-amd", true, "counts", "There is a PMU (cpu)"},
    {"bare-no-driver", false, "no-pmu", "the kernel does not drive it"},
    {"hybrid", true, "counts", "cpu_atom"},
    {"vmware", false, "no-vpmu", "vpmc.enable = \"TRUE\""},
    {"kvm-qemu", false, "no-vpmu", "-cpu host,pmu=on"},
    {"kvm-old-kernel", false, "no-pmu", "CPUID announces 8 counters (perfmon version 2)"},
    {"kvm-openstack", false, "no-vpmu", "hw:pmu=true"},
    {"qemu-tcg", false, "no-vpmu", "-accel kvm"},
    {"ec2-xen", false, "no-vpmu", ".metal"},
    {"ec2-nitro", false, "no-vpmu", ".metal"},
    {"xen", false, "no-vpmu", "vpmu=1"},
    {"gce", false, "no-vpmu", "--performance-monitoring-unit"},
    {"hyperv", false, "no-vpmu", "Set-VMProcessor"},
    {"azure", false, "no-vpmu", "Azure's choice"},
    {"wsl2", false, "no-vpmu", "hardwarePerformanceCounters=true"},
    {"virtualbox", false, "no-vpmu", "VirtualBox"},
    {"unknown-hypervisor", false, "no-vpmu", "SomebodyElse"},
    {"firecracker", false, "no-vpmu", "Firecracker"},
    {"kvm-frozen", false, "frozen", "counted as 2,600 instructions"},
    {"busy", false, "busy", "kernel.nmi_watchdog=0"},
    {"paranoid-3", false, "paranoid", "sysctl kernel.perf_event_paranoid=2"},
    {"container-paranoid-3", false, "paranoid", "on the host of the container"},
    {"container-seccomp", false, "filter", "--cap-add PERFMON"},
    {"container-seccomp-enosys", false, "filter", "returns ENOSYS"},
    {"container-in-vm", false, "no-vpmu", "in addition, perf_event_open does not reach"},
    {"yama-3", false, "no-vpmu", "kernel.yama.ptrace_scope"},
    {"security-module", false, "refused", "SELinux"},
    {"no-perf", false, "no-perf", "CONFIG_PERF_EVENTS"},
    {"gvisor", false, "intercepted", "gVisor"},
    {"arm64", true, "counts", "armv8_pmuv3_0"},
    {"arm64-no-pmu", false, "no-vpmu", "-cpu host,pmu=on"},
};

TEST(Answers, name_the_cause_and_the_next_step_of_every_machine) {
  std::vector<std::string> judged;
  for (const Answer& answer : answers) {
    const doctor::Diagnosis diagnosis = doctor::diagnose(facts_of(answer.machine));
    std::string text = diagnosis.verdict + "\n" + join(diagnosis.evidence, "\n");
    for (const doctor::Step& step : diagnosis.next) text += "\n" + step.text + "\n" + join(step.commands, "\n");
    EXPECT_EQ(diagnosis.hardware, answer.hardware) << answer.machine;
    EXPECT_EQ(diagnosis.cause, answer.cause) << answer.machine;
    EXPECT_NE(text.find(answer.says), std::string::npos) << answer.machine << "\n" << text;
    judged.emplace_back(answer.machine);
  }
  std::sort(judged.begin(), judged.end());
  EXPECT_EQ(judged, all_machines());
}

std::string all_of(const doctor::Diagnosis& diagnosis) {
  std::string text = diagnosis.verdict + "\n" + join(diagnosis.evidence, "\n");
  for (const doctor::Step& step : diagnosis.next) text += "\n" + step.text + "\n" + join(step.commands, "\n");
  return text;
}

void expect_message(const doctor::Diagnosis& diagnosis, const std::string& cause, const std::string& text) {
  EXPECT_EQ(diagnosis.cause, cause);
  EXPECT_NE(all_of(diagnosis).find(text), std::string::npos) << all_of(diagnosis);
}

struct Refusal {
  int os_errno;
  const char* cause;
  const char* says;
};

// The errors of perf_event_open(2) if there is a PMU and everything seems to be permitted.
constexpr Refusal refusals[] = {
    {ENOENT, "refused", "the PMU does not support this event"},
    {EBUSY, "held", "another program has exclusive use of the PMU"},
    {EMFILE, "files", "ulimit -n $(ulimit -H -n)"},
    {ENFILE, "files", "sysctl fs.file-nr fs.file-max"},
    {ENODEV, "refused", "the processor does not have the feature"},
    {EOPNOTSUPP, "refused", "the PMU cannot count in this way"},
    {E2BIG, "refused", "Boot a newer kernel"},
    {EINVAL, "refused", "rejects the event as invalid"},
    {EPERM, "refused", "A security module"},
    {ESRCH, "refused", "returns ESRCH"},
};

TEST(Answers, every_refusal_of_the_kernel_is_named_and_explained) {
  for (const Refusal& refusal : refusals) {
    doctor::Facts facts = facts_of("bare-intel");
    facts.probes.cores = {{refusal.os_errno, std::nullopt}};
    facts.probes.with_kernel = facts.probes.cores.front();
    const doctor::Diagnosis diagnosis = doctor::diagnose(facts);
    EXPECT_FALSE(diagnosis.hardware);
    expect_message(diagnosis, refusal.cause, refusal.says);
    expect_message(diagnosis, refusal.cause, doctor::errno_name(refusal.os_errno));
  }
}

TEST(Answers, a_pmu_that_cannot_exclude_the_kernel_is_found_by_counting_both) {
  doctor::Facts facts = facts_of("bare-intel");
  facts.probes.cores = {{EPERM, std::nullopt}};
  facts.probes.with_kernel = {0, std::nullopt};
  expect_message(doctor::diagnose(facts), "refused", "this PMU cannot exclude the kernel");
  expect_message(doctor::diagnose(facts), "refused", "tally stat --kernel");
}

// It counts a long loop as it should, and branches not at all: `auto` refuses it with the same words.
TEST(Answers, a_pmu_that_miscounts_known_work_is_refused) {
  doctor::Facts facts = facts_of("bare-intel");
  linux::KnownWork work{"branches", 0, linux::PerfValue{12, Nanoseconds(1000), Nanoseconds(1000)}, 500, 550};
  facts.probes.known_work = {work};
  EXPECT_FALSE(doctor::diagnose(facts).hardware);
  expect_message(doctor::diagnose(facts), "frozen", "it counts wrongly: a loop of 500 branches was 12");
  facts.probes.known_work.front().value->value = 503;
  EXPECT_TRUE(doctor::diagnose(facts).hardware);
}

TEST(Answers, what_keeps_programs_from_reading_counters_is_named_with_its_switch) {
  doctor::Facts facts = facts_of("bare-intel");
  facts.probes.user_reads = linux::UserReads{0, true};
  EXPECT_EQ(all_of(doctor::diagnose(facts)).find("system call"), std::string::npos);
  facts.probes.user_reads = linux::UserReads{0, false};
  facts.survey.core_pmus.front().user_reads = 0;
  expect_message(doctor::diagnose(facts), "counts", "echo 1 > /sys/bus/event_source/devices/cpu/rdpmc");
  facts.probes.user_reads = linux::UserReads{EPERM, false};
  expect_message(doctor::diagnose(facts), "counts", "sysctl kernel.perf_event_mlock_kb=516");
}

// The pages that a program of an ordinary user can map on a machine with two processors: 258 without locked memory of
// its own, 274 with 64 KiB, 2,306 with 8 MiB.
TEST(Answers, the_counters_whose_pages_may_be_locked_are_counted) {
  doctor::Facts facts = facts_of("bare-intel");
  facts.survey.online = "0-1";
  facts.survey.mlock_kb = 516;
  facts.survey.capabilities = 0;
  facts.survey.machine.perf_event_paranoid = 2;
  const auto user_mode_counters = [&]() -> std::string {
    for (const auto& group : doctor::describe(facts)) {
      for (const auto& fact : group.facts) {
        if (fact.name == "user_mode_counters") return fact.text;
      }
    }
    return "";
  };
  for (const auto& [bytes, counters] : {std::pair{0, "258: 64 threads"}, {65536, "274: 68 threads"}}) {
    facts.survey.locked_bytes = bytes;
    EXPECT_EQ(user_mode_counters(), std::string(counters) + " with 4 events each");
  }
  facts.survey.locked_bytes = 8 << 20;
  EXPECT_EQ(user_mode_counters(), "2,306: 576 threads with 4 events each");
  facts.survey.page_bytes = 65536;
  EXPECT_EQ(user_mode_counters(), "144: 36 threads with 4 events each");
  facts.survey.machine.perf_event_paranoid = -1;
  EXPECT_EQ(user_mode_counters(), "no limit: perf_event_paranoid");
  facts.survey.capabilities = 1u << linux::cap_ipc_lock;
  EXPECT_EQ(user_mode_counters(), "no limit: CAP_IPC_LOCK");
  facts.survey.capabilities = 0;
  facts.survey.machine.perf_event_paranoid = 2;
  facts.survey.locked_bytes = -1;
  EXPECT_EQ(user_mode_counters(), "no limit: ulimit -l");
  facts.survey.mlock_kb.reset();
  EXPECT_EQ(user_mode_counters(), "");
}

TEST(Answers, three_hundred_processors_need_more_files_than_the_usual_limit) {
  doctor::Facts facts = facts_of("bare-intel");
  facts.survey.online = "0-299";
  facts.survey.open_files = 1024;
  facts.survey.open_files_at_most = 524288;
  expect_message(doctor::diagnose(facts), "counts", "room for 3 events");
  expect_message(doctor::diagnose(facts), "counts", "ulimit -n 524288");
  facts.survey.open_files = 524288;
  EXPECT_EQ(all_of(doctor::diagnose(facts)).find("room for"), std::string::npos);
}

TEST(Answers, the_board_of_a_device_tree_identifies_a_virtual_machine) {
  doctor::Facts facts = facts_of("arm64-no-pmu");
  facts.survey.firmware = {};
  EXPECT_EQ(doctor::diagnose(facts).cause, "no-pmu");
  facts.survey.firmware.board = "linux,dummy-virt";
  expect_message(doctor::diagnose(facts), "no-vpmu", "tally does not recognise this host");
  facts.survey.firmware.board = "linux,dummy-virt, qemu,fw-cfg-mmio";
  expect_message(doctor::diagnose(facts), "no-vpmu", "-cpu host,pmu=on");
}

TEST(Answers, a_host_that_was_not_recognised_gets_no_advice) {
  const doctor::Diagnosis diagnosis = doctor::diagnose(facts_of("unknown-hypervisor"));
  ASSERT_EQ(diagnosis.next.size(), 2U);
  EXPECT_TRUE(diagnosis.next.front().commands.empty());
}

}  // namespace
}  // namespace tally::test
