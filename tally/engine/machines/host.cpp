// Reads the caches that the kernel lists for the first processor.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "tally/core/base/parse_text.hpp"
#include "tally/core/base/text.hpp"
#include "tally/engine/machines/machine_model.hpp"
#include "tally/engine/machines/shipped_models.hpp"
#include "tally/linux/files/files.hpp"

namespace tally::machines {

namespace {

// The content of one directory index0, index1 … (Documentation/ABI/testing/sysfs-devices-system-cpu).
struct CacheEntry {
  std::int64_t level = 0;
  std::string type;  // "Data", "Instruction", "Unified"
  models::CacheShape shape;
};

std::int64_t number_in(const std::filesystem::path& file) { return parse_integer(linux::content(file)).value_or(0); }

// Returns nullopt if the geometry is implausible, or unknown to the kernel, as on some virtual and arm64 machines.
std::optional<CacheEntry> read_entry(const std::filesystem::path& folder) {
  CacheEntry cache;
  cache.level = number_in(folder / "level");
  cache.type = linux::content(folder / "type");
  const std::int64_t sets = number_in(folder / "number_of_sets");
  const std::int64_t ways = number_in(folder / "ways_of_associativity");
  const std::int64_t line = number_in(folder / "coherency_line_size");
  if (sets < 1 || sets > 0xffff'ffffLL || ways < 1 || ways > models::most_ways) return std::nullopt;
  if (line < 64 || line > 4096 || !std::has_single_bit(static_cast<std::uint64_t>(line))) return std::nullopt;
  cache.shape.sets = static_cast<std::uint32_t>(sets);
  cache.shape.ways = static_cast<std::uint32_t>(ways);
  cache.shape.line_bits = static_cast<std::uint8_t>(std::countr_zero(static_cast<std::uint64_t>(line)));
  return cache;
}

void assign_level(const CacheEntry& cache, models::HierarchyShape& caches, std::int64_t& last_level) {
  if (cache.level == 1 && cache.type != "Instruction") caches.l1d = cache.shape;
  if (cache.level == 1 && cache.type != "Data") caches.l1i = cache.shape;
  if (cache.level == 2) caches.l2 = cache.shape;
  if (cache.level > 2 && cache.level > last_level) {
    caches.llc = cache.shape;
    last_level = cache.level;
  }
}

// A processor as /proc/cpuinfo names it.
struct Cpu {
  std::string vendor;
  std::int64_t family = 0, model = 0;
  std::vector<std::string> flags;

  explicit Cpu(const std::string& cpuinfo)
      : vendor(linux::value_of(cpuinfo, "vendor_id")),
        family(parse_integer(linux::value_of(cpuinfo, "cpu family")).value_or(0)),
        model(parse_integer(linux::value_of(cpuinfo, "model")).value_or(0)),
        flags(split_words(linux::value_of(cpuinfo, "flags"))) {}

  bool has(std::string_view flag) const { return std::find(flags.begin(), flags.end(), flag) != flags.end(); }
};

// A shipped model, and why it is taken.
struct ChosenModel {
  std::string_view name;
  std::string reason;
};

// By extensions where models are many or where a hypervisor may show another one. A newer processor has the core of the
// newest one before it.
ChosenModel model_of(const Cpu& cpu) {
  const std::string which = fmt::format("{} family {} model {}", cpu.vendor, cpu.family, cpu.model);
  if (cpu.vendor == "AuthenticAMD" && cpu.family >= 0x17) {
    if (cpu.family > 0x19) return {"zen5", which};
    if (cpu.has("avx512f")) return {"zen4", which + " with AVX-512"};
    return {cpu.family == 0x19 ? "zen3" : "zen2", which};
  }
  if (cpu.vendor == "GenuineIntel") {
    if (cpu.has("amx_fp16")) return {"granite-rapids", which + " with AMX-FP16"};
    if (cpu.has("amx_tile") || cpu.has("avx512_fp16") || cpu.has("avx_vnni"))
      return {"sapphire-rapids", which + " with AMX, AVX512-FP16 or AVX-VNNI"};
    if (cpu.has("avx512_vbmi2")) return {"icelake", which + " with AVX512-VBMI2"};
    if (cpu.has("clflushopt")) return {cpu.has("avx512f") ? "skylake-server" : "skylake", which + " with CLFLUSHOPT"};
    if (!cpu.has("ssse3") || cpu.has("sse4_1")) return {"haswell", which};
    return {"bonnell", which};
  }
  return {"haswell", which + ", of which there is no model"};
}

}  // namespace

Result<MachineModel> host(const std::filesystem::path& root) {
  const std::string cpuinfo = linux::content(root / "proc/cpuinfo");
  const Cpu cpu(cpuinfo);
  const ChosenModel chosen = model_of(cpu);
  auto machine = named(chosen.name, root);
  if (!machine) return machine;
  const std::filesystem::path folder = root / "sys/devices/system/cpu/cpu0/cache";
  machine->name = "host";
  machine->title = linux::value_of(cpuinfo, "model name");
  models::HierarchyShape caches;
  caches.prefetch = machine->caches.prefetch;
  std::int64_t last_level = 0;
  for (const std::string& entry : linux::folder_entries(folder)) {
    if (entry.starts_with("index")) {
      if (const auto cache = read_entry(folder / entry)) {
        assign_level(*cache, caches, last_level);
      }
    }
  }
  if (caches.l1d.sets == 0) {
    return fail(Code::cannot_measure, fmt::format("the kernel lists no data cache in {}", folder.string()),
                fmt::format("name a model: {}; or describe the machine in a file", shipped.front().name));
  }
  machine->caches = caches;
  machine->sources = {"caches: " + folder.string(),
                      fmt::format("core {}, mispredictions, TLBs, latencies: the model {}, by {}", machine->core,
                                  chosen.name, chosen.reason)};
  if (cpu.has("hypervisor")) {
    // A walk translates the address of each table, too. On a Zen 4 it took 40 to 75 cycles, with tables in L2 or L3.
    machine->latencies.walk *= 2;
    machine->sources.emplace_back("page walks in a virtual machine: twice as long, an estimate");
  }
  return machine;
}

}  // namespace tally::machines
