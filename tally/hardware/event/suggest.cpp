#include "tally/hardware/event/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tally/core/base/text.hpp"
#include "tally/core/count/likwid_groups.hpp"
#include "tally/core/count/metric.hpp"
#include "tally/hardware/event/generic_events.hpp"
#include "tally/hardware/event/names_without_event.hpp"
#include "tally/hardware/event/perf_names.hpp"
#include "tally/hardware/event/shipped_groups.hpp"
#include "tally/hardware/pmu/apple/apple_events.hpp"
#include "tally/linux/machine/pmu_devices.hpp"

namespace tally::event {
namespace {

// Comparing is quadratic in the length of a name; longer texts are not misspelled names.
constexpr std::size_t longest_compared = 100;

/// Names with their lower-case forms. Comparisons ignore case because vendors differ in it.
class Candidates {
 public:
  /// `prefix` must precede the name in an event, but users often omit it.
  void add(std::string_view name, std::string_view prefix = "") {
    std::string small = lower(name);
    if (name.empty() || !seen_.insert(small).second) return;
    names_.push_back(fmt::format("{}{}", prefix, name));
    small_.push_back(std::move(small));
  }

  /// The nearest names, in the spelling of their source.
  std::vector<std::string> nearest(std::string_view text) const {
    std::vector<std::string> found;
    for (const std::string& one : tally::nearest(lower(text), small_)) {
      found.push_back(names_[static_cast<std::size_t>(std::find(small_.begin(), small_.end(), one) - small_.begin())]);
    }
    return found;
  }

 private:
  std::vector<std::string> names_;
  std::vector<std::string> small_;
  std::set<std::string> seen_;
};

// The names of this machine, most relevant first: tally's, the kernel's, this processor's.
Candidates candidates(const Sources& sources) {
  Candidates all;
  for (const Definition& line : event::all()) all.add(line.name);
  for (const Alias& alias : aliases()) all.add(alias.name);
  for (const KernelEvent& kernel_event : other_kernel_events()) all.add(kernel_event.name);
  for (const std::string& pmu : linux::pmu_names(sources.root)) {
    const auto device = linux::pmu_device(sources.root, pmu);
    if (!device) continue;
    for (const auto& [name, terms] : device->events) all.add(fmt::format("{}/{}/", pmu, name));
  }
  if (const pfm::Pmu* own = own_pmu(sources)) {
    for (const pfm::Name& one : pfm::names(*own)) all.add(one.name);
  }
  return all;
}

Candidates apple_candidates() {
  Candidates all;
  for (const pmu::apple::Event& line : pmu::apple::events()) {
    for (const std::string& word : split(line.framework_name, ' ')) all.add(word, "apple_m1::");
    all.add(line.linux_name, "apple_m1::");
  }
  return all;
}

// All vendor names, some ten thousand. They are the same on every machine.
const Candidates& of_all_processors() {
  static const Candidates all = [] {
    Candidates made;
    for (const pfm::Pmu& pmu : pfm::pmus()) {
      for (const pfm::Name& one : pfm::names(pmu)) made.add(one.name);
    }
    return made;
  }();
  return all;
}

// Searches this machine's names first, and those of other processors only if none is near. Compares the whole text
// before its first part: "UOPS_RETIRED:ALL" is a name.
std::vector<std::string> nearest_names(std::string_view text, const Sources& sources) {
  const Candidates here = candidates(sources);
  const Candidates apple = apple_candidates();
  for (const std::string_view wanted : {text, text.substr(0, text.find(':'))}) {
    auto near = here.nearest(wanted);
    if (!near.empty()) return near;
    const auto add = [&](const std::vector<std::string>& others) {
      for (const std::string& other : others) {
        const bool has_room = near.size() < 3 && std::find(near.begin(), near.end(), other) == near.end();
        if (has_room) near.push_back(other);
      }
    };
    add(apple.nearest(wanted));
    if (sources.others && sources.suggest_others) add(of_all_processors().nearest(wanted));
    if (!near.empty()) return near;
  }
  return {};
}

// The kernel's tracepoint groups (include/trace/events and arch/x86/include/asm/trace, TRACE_SYSTEM, Linux 6.18) whose
// names are not also the name of a processor's event or unit.
constexpr std::string_view trace_systems =
    " alarmtimer asoc block bpf_trace bpf_test_run bridge btrfs cgroup clk cma compaction "
    "context_tracking cpuhp csd damon devfreq devlink dma dma_fence drm error_report exceptions ext4 "
    "f2fs fib fib6 filelock filemap ftrace fuse gpio gpu_scheduler huge_memory hwmon hyperv i2c icmp "
    "initcall intel_iommu interconnect io_uring iocost iomap iommu ipi irq irq_matrix irq_vectors jbd2 "
    "kmem ksm kvm kvmmmu kyber libata lock maple_tree mce mdio migrate mmap mmap_lock mmc module mptcp "
    "msr napi neigh net netfs netlink nfs nfs4 nfsd nmi notifier nvme oom osnoise page_isolation "
    "page_pool pagemap percpu power printk pwm qdisc ras raw_syscalls rcu regmap regulator resctrl rpm "
    "rseq rtc sched scsi signal skb smbus sock spi sunrpc swiotlb sync_trace syscalls task tcp thermal "
    "thp timer timer_migration timestamp tlb udp ufs v4l2 vb2 virtio_gpu vmalloc vmscan vsyscall wbt "
    "workqueue writeback x86_fpu xdp xen xfs xhci-hcd ";

// Whether the text is a tracepoint, such as "sched:sched_switch": of the usual groups, or of this machine's, which on
// most machines only root can read.
bool is_tracepoint(std::string_view text, const Sources& sources) {
  const auto parts = split(text, ':');
  if (parts.size() != 2 || parts[0].empty() || parts[1].empty()) return false;
  return trace_systems.find(' ' + parts[0] + ' ') != std::string_view::npos ||
         linux::has_tracepoint(sources.root, parts[0], parts[1]);
}

struct Counterpart {
  std::string_view tracepoint, event;
};
constexpr Counterpart counterparts[] = {{"sched:sched_switch", "context-switches"},
                                        {"sched:sched_migrate_task", "cpu-migrations"},
                                        {"exceptions:page_fault_user", "page-faults"}};

Error refused_tracepoint(std::string_view text) {
  std::string hint = "tally counts hardware and software events: `tally events` lists them";
  for (const Counterpart& counterpart : counterparts) {
    if (counterpart.tracepoint == text) hint = fmt::format("count {} instead", counterpart.event);
  }
  return {Code::bad_usage,
          fmt::format("'{}' is a tracepoint of the kernel; tally does not count tracepoints", printable(text)), hint,
          0};
}

/// The hint for a name that is a metric's, or a common name for the last-level cache; empty for others.
std::string hint_of_known_name(std::string_view name) {
  const std::string small = lower(name);
  for (const MetricDefinition& metric : metric_table())
    if (lower(metric.name) == small) return fmt::format("{0} is a metric: `tally stat --metrics {0}`", metric.name);
  for (const ShippedGroup& group : shipped_groups())
    if (lower(group.name) == small) return fmt::format("{0} is a group: `tally stat --group {0}`", group.name);
  if (const std::string_view group = hint_of_likwid_group(name); !group.empty()) return std::string(group);
  if (!small.starts_with("l3-") && small != "l3") return "";
  return small.find("miss") != std::string::npos ? "did you mean LLC-load-misses, LLC-store-misses, cache-misses?"
                                                 : "did you mean LLC-loads, LLC-stores, cache-references?";
}

bool looks_like_code(std::string_view text) {
  return text.size() >= 2 && text.size() <= 16 &&
         text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos &&
         text.find_first_of("0123456789") != std::string_view::npos;
}

}  // namespace

Error unknown_event(std::string_view text, const Sources& sources) {
  constexpr const char* list =
      "`tally events` lists the events of this machine; `tally events --all PATTERN` searches all sources";
  Error error{Code::bad_usage, fmt::format("unknown event '{}'", printable(text.substr(0, 2 * longest_compared))), list,
              0};
  if (text.empty()) error.message = "missing event name";
  const std::string_view base = text.substr(0, text.find_last_not_of("uk:") + 1);
  if (is_tracepoint(text, sources)) return refused_tracepoint(text);
  if (text.starts_with("mem:")) {
    return {Code::bad_usage, fmt::format("'{}' is a breakpoint; tally does not count breakpoints", printable(text)),
            list, 0};
  }
  if (looks_like_code(base)) {
    error.hint = base.size() <= 4 ? fmt::format("for an event code, write r{}", base)
                                  : fmt::format("for an event code, write 0x{}", base);
  } else if (const auto uncounted = name_without_event(base)) {
    return {Code::bad_usage, fmt::format("tally has no event '{}': {}", printable(base), uncounted->what),
            std::string(uncounted->instead), 0};
  } else if (!base.empty() && base.size() <= longest_compared) {
    if (const std::string known = hint_of_known_name(base); !known.empty()) {
      error.hint = known;
      return error;
    }
    const auto near = nearest_names(base, sources);
    if (!near.empty()) error.hint = "did you mean " + join(near, ", ") + "?";
  }
  return error;
}

}  // namespace tally::event
