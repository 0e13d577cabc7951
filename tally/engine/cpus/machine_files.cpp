// The files of /proc and /sys that describe a machine with one processor.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/engine/cpus/cpu_model.hpp"
#include "tally/engine/cpus/cpuid_features.hpp"

namespace tally::cpus {
namespace {

/// Flags of every x86-64 processor, as in /proc/cpuinfo: those of leaf 1 (Presenter::common_features) and 80000001H.
constexpr std::string_view common_flags =
    "fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 clflush mmx fxsr sse sse2 syscall nx lm "
    "constant_tsc nopl nonstop_tsc cpuid";

std::string cpuinfo_of(const CpuModel& model) {
  std::string flags(common_flags);
  for (const FeatureBit& bit : feature_bits())
    // The kernel calls SSE3 by its code name.
    if (model.features.has(bit.feature)) flags += fmt::format(" {}", bit.name == "sse3" ? "pni" : bit.name);
  std::uint32_t kib = 0;
  for (const Cache& cache : model.caches)
    if (cache.level >= 2) kib = model.vendor == Vendor::amd && kib != 0 ? kib : cache.kib;
  return fmt::format(
      "processor\t: 0\nvendor_id\t: {}\ncpu family\t: {}\nmodel\t\t: {}\nmodel name\t: {}\nstepping\t: {}\n"
      "cpu MHz\t\t: 1000.000\ncache size\t: {} KB\nphysical id\t: 0\nsiblings\t: 1\ncore id\t\t: 0\n"
      "cpu cores\t: 1\napicid\t\t: 0\ninitial apicid\t: 0\nfpu\t\t: yes\nfpu_exception\t: yes\n"
      "cpuid level\t: {}\nwp\t\t: yes\nflags\t\t: {}\nbugs\t\t:\nbogomips\t: 2000.00\nclflush size\t: 64\n"
      "cache_alignment\t: 64\naddress sizes\t: 46 bits physical, 48 bits virtual\npower management:\n\n",
      model.vendor == Vendor::amd ? "AuthenticAMD" : "GenuineIntel", model.family, model.model, model.brand,
      model.stepping, kib, model.highest_leaf, flags);
}

/// The first processor of /proc/cpuinfo, as the only one. Its frequency changes all the time.
std::string first_of(std::string_view cpuinfo) {
  struct Fixed {
    std::string_view name, value;
  };
  static constexpr Fixed fixed[] = {{"processor", "0"}, {"cpu MHz", "1000.000"}, {"physical id", "0"},
                                    {"siblings", "1"},  {"core id", "0"},        {"cpu cores", "1"},
                                    {"apicid", "0"},    {"initial apicid", "0"}};
  std::string made;
  for (const std::string& line : split(std::string(cpuinfo.substr(0, cpuinfo.find("\n\n"))), '\n')) {
    const std::size_t end = line.find_first_of("\t:");
    const auto* const one =
        std::find_if(std::begin(fixed), std::end(fixed), [&](const Fixed& f) { return f.name == line.substr(0, end); });
    const std::size_t colon = line.find(": ");
    made += one != std::end(fixed) && colon != std::string::npos ? line.substr(0, colon + 2) + std::string(one->value)
                                                                 : line;
    made += '\n';
  }
  return made + "\n";
}

std::string memory_info() {
  constexpr std::uint64_t kib = 1024, all = channel::presented_memory / kib,
                          free = channel::presented_free_memory / kib;
  std::string made;
  const auto add = [&](std::string_view name, std::uint64_t value) {
    made += fmt::format("{:<16}{:>8} kB\n", std::string(name) + ":", value);
  };
  add("MemTotal", all);
  add("MemFree", free);
  add("MemAvailable", free);
  for (const char* const name : {"Buffers", "Cached", "SwapCached", "Active", "Inactive", "SwapTotal", "SwapFree"})
    add(name, 0);
  return made;
}

class FileList {
 public:
  void add(const std::string& path, const std::string& content) {
    files_.add(path.c_str(), static_cast<std::uint32_t>(path.size() + 1), content.data(),
               static_cast<std::uint32_t>(content.size()));
  }
  const channel::PresentedFiles& files() const { return files_; }

 private:
  channel::PresentedFiles files_{};
};

void add_caches(FileList& list, const CpuModel& model) {
  std::size_t index = 0;
  for (const Cache& cache : model.caches) {
    if (cache.level == 0) continue;
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", index++);
    static constexpr std::string_view types[] = {"", "Data", "Instruction", "Unified"};
    const auto add = [&](std::string_view name, const auto& value) {
      list.add(folder + std::string(name), fmt::format("{}\n", value));
    };
    add("level", cache.level);
    add("type", types[static_cast<int>(cache.content)]);
    add("size", fmt::format("{}K", cache.kib));
    add("ways_of_associativity", cache.ways);
    add("number_of_sets", cache.kib * 1024 / 64 / cache.ways);
    add("coherency_line_size", 64);
    add("shared_cpu_list", 0);
  }
}

}  // namespace

channel::PresentedFiles machine_files(const CpuModel* model, std::string_view cpuinfo,
                                      const std::string& library_cache) {
  FileList list;
  list.add("/proc/cpuinfo", model != nullptr ? cpuinfo_of(*model) : first_of(cpuinfo));
  list.add("/proc/meminfo", memory_info());
  list.add("/proc/loadavg", "0.00 0.00 0.00 1/1 1\n");
  list.add("/proc/version", fmt::format("Linux version {} (root@{}) {}\n", channel::presented_release,
                                        channel::presented_host, channel::presented_version));
  const std::pair<const char*, const char*> names[] = {{"ostype", "Linux"},
                                                       {"hostname", channel::presented_host},
                                                       {"domainname", channel::presented_domain},
                                                       {"osrelease", channel::presented_release},
                                                       {"version", channel::presented_version},
                                                       {"random/boot_id", "00000000-0000-4000-8000-000000000000"}};
  for (const auto& [name, value] : names)
    list.add(fmt::format("/proc/sys/kernel/{}", name), fmt::format("{}\n", value));
  for (const char* const name : {"online", "possible", "present"})
    list.add(fmt::format("/sys/devices/system/cpu/{}", name), "0\n");
  for (const char* const name : {"core_id", "physical_package_id", "thread_siblings_list", "core_siblings_list",
                                 "core_cpus_list", "package_cpus_list"})
    list.add(fmt::format("/sys/devices/system/cpu/cpu0/topology/{}", name), "0\n");
  if (model != nullptr) add_caches(list, *model);
  // Last, because it may be too long for the list.
  if (!library_cache.empty()) list.add("/etc/ld.so.cache", library_cache);
  return list.files();
}

}  // namespace tally::cpus
