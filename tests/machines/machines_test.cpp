// `tally doctor` on machines that we do not have. NAME.txt is what it says on NAME.machine; TALLY_REBASE=1 in the
// environment writes them anew, to be read before they are committed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tally/base/text.hpp"
#include "tally/doctor/diagnose.hpp"
#include "tally/report/doctor.hpp"
#include "tests/machines/machine.hpp"

namespace tally::test {
namespace {

class Machines : public testing::TestWithParam<std::string> {};

TEST_P(Machines, the_report_is_the_one_that_was_read_and_agreed_to) {
  const std::string path = machine_file(GetParam() + ".txt");
  const std::string text = report::doctor_text(doctor::diagnose(facts_of(GetParam())));
  if (std::getenv("TALLY_REBASE") != nullptr) std::ofstream(path) << text;
  std::ifstream file(path);
  std::ostringstream expected;
  expected << file.rdbuf();
  EXPECT_EQ(text, expected.str());
}

TEST_P(Machines, the_report_fits_80_columns_but_for_commands) {
  const result::Diagnosis diagnosis = doctor::diagnose(facts_of(GetParam()));
  for (const std::string& line : split(report::doctor_text(diagnosis), '\n')) {
    const bool command = line.starts_with("        ");
    EXPECT_TRUE(command || display_width(line) <= 80) << line;
  }
}

TEST_P(Machines, the_json_says_the_same) {
  const result::Diagnosis diagnosis = doctor::diagnose(facts_of(GetParam()));
  const auto json = nlohmann::json::parse(report::doctor_json(diagnosis));
  EXPECT_EQ(json["schema"], "tally-doctor/1");
  EXPECT_EQ(json["hardware"], diagnosis.hardware);
  EXPECT_EQ(json["cause"], diagnosis.cause);
  EXPECT_EQ(json["next"].size(), diagnosis.next.size());
  EXPECT_EQ(json["countable"].size(), diagnosis.countable.size());
  EXPECT_FALSE(json["evidence"].empty());
  for (const char* group : {"processor", "virtualisation", "kernel", "rights", "simulated_pmu"}) {
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

// What matters of each answer, whatever its other words.
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
    {"container-seccomp-enosys", false, "filter", "answers ENOSYS"},
    {"container-in-vm", false, "no-vpmu", "besides, perf_event_open does not reach"},
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
    const result::Diagnosis diagnosis = doctor::diagnose(facts_of(answer.machine));
    std::string said = diagnosis.verdict + "\n" + join(diagnosis.evidence, "\n");
    for (const result::Step& step : diagnosis.next) said += "\n" + step.text + "\n" + join(step.commands, "\n");
    EXPECT_EQ(diagnosis.hardware, answer.hardware) << answer.machine;
    EXPECT_EQ(diagnosis.cause, answer.cause) << answer.machine;
    EXPECT_NE(said.find(answer.says), std::string::npos) << answer.machine << "\n" << said;
    judged.emplace_back(answer.machine);
  }
  std::sort(judged.begin(), judged.end());
  EXPECT_EQ(judged, all_machines());
}

TEST(Answers, a_host_that_was_not_recognised_gets_no_advice) {
  const result::Diagnosis diagnosis = doctor::diagnose(facts_of("unknown-hypervisor"));
  ASSERT_EQ(diagnosis.next.size(), 2U);
  EXPECT_TRUE(diagnosis.next.front().commands.empty());
}

}  // namespace
}  // namespace tally::test
