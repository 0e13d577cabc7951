#include "programs/doctor/hosts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "tally/core/base/text.hpp"

namespace tally::doctor {
namespace {

// The source of a sign.
enum class Where {
  nowhere,
  hypervisor,  // CPUID 40000000H, as pmu::Processor names it
  vendor,      // DMI sys_vendor
  product,     // DMI product_name
  bios,        // DMI bios_version
  asset,       // DMI chassis_asset_tag
  board,       // the device tree
  acpi,        // OEM of the ACPI tables
  kernel,      // /proc/version
};

// A text that the source must contain.
struct Sign {
  Where where = Where::nowhere;
  std::string_view part;
};

struct HostRule {
  std::array<Sign, 2> signs;
  std::string_view name;
  std::string_view text;
  std::string_view commands;  // one a line
};

using enum Where;

// The first row whose signs all match is used. A new host needs a new row; its switch needs a source.
constexpr HostRule hosts[] = {
    // Release notes and source of WSL 0.50.2: counters are available unless the option is false, if Hyper-V provides
    // them.
    {{{{kernel, "microsoft-standard-WSL2"}}},
     "WSL 2",
     "WSL provides counters if Windows does. Check that %UserProfile%\\.wslconfig does not disable them, "
     "restart WSL, and update it (`wsl --update`): older versions cannot.",
     "[wsl2]\nhardwarePerformanceCounters=true\n\nwsl --shutdown"},
    {{{{hypervisor, "Xen"}, {bios, "amazon"}}},
     "Amazon EC2 (Xen)",
     "Only some instance types have counters; those whose name ends in .metal have all of them. There is no switch.",
     {}},
    {{{{vendor, "Amazon EC2"}}},
     "Amazon EC2",
     "Only some instance types have counters; those whose name ends in .metal have all of them. There is no switch.",
     {}},
    // Compute Engine API, AdvancedMachineFeatures.performanceMonitoringUnit.
    {{{{product, "Google Compute Engine"}}},
     "Google Compute Engine",
     "Create the machine with a PMU; not all machine series support it.",
     "gcloud compute instances create NAME --performance-monitoring-unit=standard"},
    // The asset tag is the same on every Azure machine.
    {{{{asset, "7783-7084-3265-9085-8269-3286-77"}}},
     "Microsoft Azure",
     "Whether a machine has counters is Azure's choice, by its size; a guest cannot switch them on.",
     {}},
    // Microsoft's documentation of Hyper-V, "Enable Intel Performance Monitoring Hardware in a Hyper-V virtual
    // machine".
    {{{{hypervisor, "Hyper-V"}}},
     "Hyper-V",
     "On the host, with the virtual machine off (Intel processors):",
     "Set-VMProcessor NAME -Perfmon @(\"pmu\")"},
    // VMware knowledge base 344161.
    {{{{hypervisor, "VMware"}}},
     "VMware",
     "Switch the machine off and tick \"Virtualize CPU performance counters\" among its processor settings, or write "
     "into its .vmx file the line below. (vpmc.freezeMode there says whether counters stop while the hypervisor "
     "works.)",
     "vpmc.enable = \"TRUE\""},
    // Firecracker changes CPUID to hide the PMU, and its documentation names no way to change that.
    {{{{hypervisor, "KVM"}, {acpi, "FIRECK"}}},
     "Firecracker on KVM",
     "Firecracker provides no PMU for its guests and has no switch for it: another virtual machine monitor is needed, "
     "or the "
     "host itself.",
     {}},
    {{{{product, "OpenStack"}}},
     "OpenStack",
     "Ask for a flavor with this extra spec (or an image with the property hw_pmu):",
     "openstack flavor set FLAVOR --property hw:pmu=true"},
    // QEMU's and libvirt's manuals; module parameter: Linux 5.17.
    {{{{hypervisor, "KVM"}}},
     "KVM",
     "On the host: the guest needs a processor model with a PMU, by QEMU's option or libvirt's element below, and "
     "KVM's "
     "own switch must not be off (kvm.enable_pmu=0).",
     "-cpu host,pmu=on\n<features><pmu state='on'/></features>\ncat /sys/module/kvm/parameters/enable_pmu"},
    {{{{hypervisor, "QEMU (TCG)"}}},
     "QEMU without KVM",
     "QEMU emulates this processor without a PMU. With KVM it can provide the host's:",
     "-accel kvm -cpu host,pmu=on"},
    // Only arm64 has no CPUID: the option is the same with and without KVM.
    {{{{vendor, "QEMU"}}},
     "QEMU",
     "On the host, QEMU's option or libvirt's element:",
     "-cpu host,pmu=on\n<features><pmu state='on'/></features>"},
    // The device that passes QEMU's settings to the firmware (Documentation/devicetree/bindings/firmware).
    {{{{board, "qemu,fw-cfg"}}},
     "QEMU",
     "On the host, QEMU's option or libvirt's element:",
     "-cpu host,pmu=on\n<features><pmu state='on'/></features>"},
    // Xen's documentation of its command line.
    {{{{hypervisor, "Xen"}}},
     "Xen",
     "On the host: start Xen with this on its command line, and the guest as HVM or PVH.",
     "vpmu=1"},
    {{{{hypervisor, "VirtualBox"}}},
     "VirtualBox",
     "VirtualBox provides no PMU for its guests, and we know of no setting for it.",
     {}},
    {{{{vendor, "innotek GmbH"}}},
     "VirtualBox",
     "VirtualBox provides no PMU for its guests, and we know of no setting for it.",
     {}},
    {{{{hypervisor, "Parallels"}}},
     "Parallels",
     "Switch the machine off and tick \"Enable PMU virtualization\" (Hardware, CPU & Memory, Advanced).",
     {}},
    {{{{product, "Apple Virtualization"}}},
     "Apple's Virtualization framework",
     "It provides no PMU for its guests, and we know of no setting for it.",
     {}},
};

std::string source_text(Where where, const Facts& facts) {
  const linux::Firmware& firmware = facts.survey.firmware;
  switch (where) {
    case hypervisor: return facts.processor ? facts.processor->hypervisor : "";
    case vendor: return firmware.vendor;
    case product: return firmware.product;
    case bios: return firmware.bios_version;
    case asset: return firmware.chassis_asset;
    case board: return firmware.board;
    case acpi: return firmware.acpi_oem;
    case kernel: return facts.survey.kernel_version;
    case nowhere: break;
  }
  return {};
}

std::string evidence(const Sign& sign, const Facts& facts) {
  const std::string text = printable(source_text(sign.where, facts));
  switch (sign.where) {
    case hypervisor: return "CPUID 40000000H: " + text;
    case vendor: return "DMI sys_vendor: " + text;
    case product: return "DMI product_name: " + text;
    case bios: return "DMI bios_version: " + text;
    case asset: return "DMI chassis_asset_tag: " + text;
    case board: return "device tree: " + text;
    case acpi: return "ACPI tables by " + text;
    case kernel: return fmt::format("\"{}\" in /proc/version", sign.part);
    case nowhere: break;
  }
  return {};
}

bool matches(const HostRule& rule, const Facts& facts) {
  return std::all_of(rule.signs.begin(), rule.signs.end(), [&](const Sign& sign) {
    return sign.where == nowhere || source_text(sign.where, facts).find(sign.part) != std::string::npos;
  });
}

std::string evidence_of(const HostRule& rule, const Facts& facts) {
  std::vector<std::string> all;
  for (const Sign& sign : rule.signs) {
    if (sign.where != nowhere) all.push_back(evidence(sign, facts));
  }
  return join(all, "; ");
}

// Several monitors use KVM, and some show their name only in the ACPI tables, which only root can read.
bool hides_monitor(const HostRule& rule, const Facts& facts) {
  constexpr std::uint64_t reads_all_files = 1U << 1 | 1U << 2;  // CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
  const linux::Firmware& firmware = facts.survey.firmware;
  return rule.name == "KVM" && firmware.vendor.empty() && firmware.acpi_oem.empty() && facts.survey.capabilities &&
         (*facts.survey.capabilities & reads_all_files) == 0;
}

}  // namespace

std::optional<bool> is_virtual(const Facts& facts) {
  if (facts.processor) return facts.processor->under_hypervisor;
  if (facts.survey.machine.hypervisor) return facts.survey.machine.hypervisor;
  // The same firmware names the provider on its bare-metal machines.
  if (facts.survey.firmware.product.ends_with("metal")) return false;
  // The board name of machines of QEMU, kvmtool and others.
  if (facts.survey.firmware.board.find("dummy-virt") != std::string::npos) return true;
  if (recognise_host(facts)) return true;
  return std::nullopt;
}

std::optional<Host> recognise_host(const Facts& facts) {
  for (const HostRule& rule : hosts) {
    if (!matches(rule, facts)) continue;
    Step step{std::string(rule.text), {}};
    if (!rule.commands.empty()) step.commands = split(rule.commands, '\n');
    Host host{std::string(rule.name), evidence_of(rule, facts), {}};
    if (hides_monitor(rule, facts)) {
      host.switches.push_back({"The monitor of this virtual machine cannot be read without root; this may find it:",
                               {"sudo tally doctor"}});
    }
    host.switches.push_back(std::move(step));
    return host;
  }
  return std::nullopt;
}

}  // namespace tally::doctor
