#include "programs/watch/watch_columns.hpp"

#include "tally/core/base/text.hpp"

namespace tally::watch {
namespace {

using enum result::WatchStyle;

// Counts are those of the interval, as in PCM; columns with the unit "a second" are divided by its length.
constexpr std::array<Definition, column_count> all{{
    {Id::util, "UTIL", "", "share of time on a processor, 0 to 1; of a process and a group: processors used", fixed, 2,
     "csypg"},
    {Id::user, "USER", "", "the part of UTIL in user mode", fixed, 2, "csypg"},
    {Id::kernel, "KERNEL", "", "the part of UTIL in the kernel", fixed, 2, "csypg"},
    {Id::iowait, "IOWAIT", "", "share of time that a processor was idle while its tasks waited for a disk, 0 to 1",
     fixed, 2, "csy"},
    {Id::ipc, "IPC", "", "instructions retired per active cycle", fixed, 2, "csypg"},
    {Id::cfreq, "CFREQ", "GHz", "frequency of the core", fixed, 2, "csy"},
    {Id::l3_misses, "L3MISS", "", "reads that missed the L3 cache, in the interval", count, 0, "csypg"},
    {Id::l2_misses, "L2MISS", "", "reads that missed the L2 cache, in the interval", count, 0, "csypg"},
    {Id::l3_hits, "L3HIT", "", "share of the reads of the L3 cache that hit it, 0 to 1", fixed, 2, "csypg"},
    {Id::l2_hits, "L2HIT", "", "share of the reads of the L2 cache that hit it, 0 to 1", fixed, 2, "csypg"},
    {Id::l3_per_instruction, "L3MPI", "", "misses of the L3 cache per instruction", fixed, 4, "csypg"},
    {Id::l2_per_instruction, "L2MPI", "", "misses of the L2 cache per instruction", fixed, 4, "csypg"},
    {Id::l3_occupancy, "L3OCC", "KiB", "lines of the L3 cache that are in use", count, 0, "csy"},
    {Id::temperature, "TEMP", "°C", "temperature", fixed, 0, "csy"},
    {Id::margin, "MARGIN", "°C", "degrees below the temperature at which the processor throttles; PCM calls it TEMP",
     fixed, 0, "csy"},
    {Id::instructions, "INST", "", "instructions retired, in the interval", count, 0, "csypg"},
    {Id::cycles, "CYC", "", "active cycles, in the interval", count, 0, "csypg"},
    {Id::faults, "FAULTS", "1/s", "page faults a second", count, 0, "csypg"},
    {Id::major_faults, "MAJFLT", "1/s", "page faults a second that read from a disk", count, 0, "ypg"},
    {Id::switches, "SWITCH", "1/s", "context switches a second; of a process: those of its first thread", count, 0,
     "csyp"},
    {Id::waiting, "WAIT", "", "tasks that were ready and waited for a processor, on average", fixed, 2, "csyp"},
    {Id::runnable, "RUNQ", "", "tasks that ran or were ready when it was read", fixed, 0, "y"},
    {Id::steal, "STEAL", "", "share of time in which the hypervisor ran something else, 0 to 1", fixed, 2, "csy"},
    {Id::throttled, "THROTTLE", "", "seconds a second in which the group's own limit held it back", fixed, 2, "g"},
    {Id::memory, "MEM", "B", "memory in use", bytes, 0, "ypg"},
    {Id::threads, "THREADS", "", "threads of the process", fixed, 0, "p"},
    {Id::cpu_pressure, "CPUPRS", "", "share of time in which a task waited for a processor, 0 to 1", fixed, 2, "yg"},
    {Id::memory_pressure, "MEMPRS", "", "share of time in which a task waited for memory, 0 to 1", fixed, 2, "yg"},
    {Id::io_pressure, "IOPRS", "", "share of time in which a task waited for a disk, 0 to 1", fixed, 2, "y"},
    {Id::read, "READ", "GB/s", "read from memory by its controllers, 10^9 bytes a second", fixed, 2, "sy"},
    {Id::write, "WRITE", "GB/s", "written to memory by its controllers, 10^9 bytes a second", fixed, 2, "sy"},
    {Id::local, "LOCAL", "%", "share of the cores' memory traffic that stays in the socket", fixed, 0, "sy"},
    {Id::processor_energy, "CPU", "J", "energy of the processor, in the interval", fixed, 2, "sy"},
    {Id::memory_energy, "DIMM", "J", "energy of the memory, in the interval", fixed, 2, "sy"},
    {Id::miss_latency, "LLCRDMISSLAT", "ns", "mean time of a read that missed the last level", fixed, 1, "sy"},
    {Id::uncore_frequency, "UncFREQ", "GHz", "frequency of the uncore", fixed, 2, "sy"},
}};

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (static_cast<std::size_t>(all[i].id) != i) return false;
  }
  return true;
}
static_assert(is_in_order());

}  // namespace

std::span<const Definition, column_count> definitions() { return all; }

std::optional<Id> column_named(std::string_view name) {
  for (const Definition& definition : all) {
    if (same_word(definition.name, name)) return definition.id;
  }
  return std::nullopt;
}

bool applies(const Definition& definition, result::WatchKind kind) {
  constexpr std::string_view letters = "csypg";
  return definition.kinds.find(letters[static_cast<std::size_t>(kind)]) != std::string_view::npos;
}

}  // namespace tally::watch
