// A virtual machine is recognised from its firmware and processor, a host from all of its signs.
#include "programs/doctor/hosts.hpp"

#include <gtest/gtest.h>

namespace tally::doctor {
namespace {

Facts with_hypervisor(const std::string& name) {
  Facts facts;
  facts.processor = pmu::Processor{};
  facts.processor->under_hypervisor = true;
  facts.processor->hypervisor = name;
  return facts;
}

TEST(IsVirtual, is_unknown_without_evidence) { EXPECT_EQ(is_virtual(Facts{}), std::nullopt); }

TEST(IsVirtual, trusts_the_processor_more_than_the_firmware) {
  Facts facts;
  facts.survey.firmware.vendor = "QEMU";
  EXPECT_EQ(is_virtual(facts), true);
  facts.processor = pmu::Processor{};
  EXPECT_EQ(is_virtual(facts), false);
  facts.processor->under_hypervisor = true;
  EXPECT_EQ(is_virtual(facts), true);
}

TEST(IsVirtual, is_not_a_machine_of_a_provider_without_a_hypervisor) {
  Facts facts;
  facts.survey.firmware.vendor = "Amazon EC2";
  facts.survey.firmware.product = "m7g.large";
  EXPECT_EQ(is_virtual(facts), true);
  facts.survey.firmware.product = "m7g.metal";
  EXPECT_EQ(is_virtual(facts), false);
}

TEST(IsVirtual, reads_the_board_of_a_device_tree) {
  Facts facts;
  facts.survey.firmware.board = "linux,dummy-virt";
  EXPECT_EQ(is_virtual(facts), true);
  facts.survey.firmware.board = "raspberrypi,5-model-b";
  EXPECT_EQ(is_virtual(facts), std::nullopt);
}

TEST(RecogniseHost, finds_none_without_a_sign) {
  EXPECT_FALSE(recognise_host(Facts{}));
  EXPECT_FALSE(recognise_host(with_hypervisor("bhyve")));
}

TEST(RecogniseHost, takes_the_provider_before_the_hypervisor_that_it_uses) {
  Facts facts = with_hypervisor("KVM");
  EXPECT_EQ(recognise_host(facts).value().name, "KVM");
  facts.survey.firmware.product = "Google Compute Engine";
  EXPECT_EQ(recognise_host(facts).value().name, "Google Compute Engine");
  facts.survey.kernel_version = "Linux version 5.15.167.4-microsoft-standard-WSL2 (root@f9c826d3017f)";
  EXPECT_EQ(recognise_host(facts).value().name, "WSL 2");
}

TEST(RecogniseHost, needs_every_sign_of_a_row) {
  Facts facts = with_hypervisor("Xen");
  EXPECT_EQ(recognise_host(facts).value().name, "Xen");
  facts.survey.firmware.bios_version = "4.11.amazon";
  const auto host = recognise_host(facts);
  ASSERT_TRUE(host);
  EXPECT_EQ(host->name, "Amazon EC2 (Xen)");
  EXPECT_EQ(host->evidence, "CPUID 40000000H: Xen; DMI bios_version: 4.11.amazon");
  facts.processor->hypervisor = "Microsoft";
  EXPECT_FALSE(recognise_host(facts));
}

TEST(RecogniseHost, asks_for_root_if_the_name_of_a_monitor_on_kvm_is_hidden) {
  Facts facts = with_hypervisor("KVM");
  facts.survey.capabilities = 0;
  auto host = recognise_host(facts);
  ASSERT_TRUE(host);
  ASSERT_EQ(host->switches.size(), 2u);
  EXPECT_EQ(host->switches[0].commands, std::vector<std::string>{"sudo tally doctor"});
  EXPECT_EQ(host->switches[1].commands.size(), 3u);
  facts.survey.firmware.vendor = "QEMU";
  host = recognise_host(facts);
  ASSERT_TRUE(host);
  EXPECT_EQ(host->switches.size(), 1u);
  facts.survey.firmware.vendor.clear();
  facts.survey.capabilities = 1U << 1;
  host = recognise_host(facts);
  ASSERT_TRUE(host);
  EXPECT_EQ(host->switches.size(), 1u);
}

TEST(RecogniseHost, has_one_step_with_a_command_in_each_line) {
  const auto with_switch = recognise_host(with_hypervisor("Xen"));
  ASSERT_TRUE(with_switch);
  ASSERT_EQ(with_switch->switches.size(), 1u);
  EXPECT_EQ(with_switch->switches[0].commands, std::vector<std::string>{"vpmu=1"});
  const auto without = recognise_host(with_hypervisor("VirtualBox"));
  ASSERT_TRUE(without);
  ASSERT_EQ(without->switches.size(), 1u);
  EXPECT_TRUE(without->switches[0].commands.empty());
}

TEST(RecogniseHost, makes_foreign_text_printable) {
  Facts facts;
  facts.survey.firmware.vendor = "QEMU\x1b[31m";
  const auto host = recognise_host(facts);
  ASSERT_TRUE(host);
  EXPECT_EQ(host->evidence.find('\x1b'), std::string::npos) << host->evidence;
}

}  // namespace
}  // namespace tally::doctor
