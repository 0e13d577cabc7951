#include "tally/engine/clock.hpp"

#include <elf.h>

namespace tally::engine {
namespace {

struct Time {
  s64 seconds, ns;
};
using GetTime = s64 (*)(s32 clock, Time* to);

u64 vdso_at, vdso_end, linker_at, linker_end;
u64 data_at;  // the vdso's data precede it
bool data_is_listed;
GetTime vdso_get_time;
constexpr s32 monotonic = 1;

/// In the order of VdsoFunction; all addresses 0 if the vdso has none.
constexpr u32 functions = static_cast<u32>(VdsoFunction::none);
const char* const function_names[functions] = {"__vdso_clock_gettime", "__vdso_gettimeofday", "__vdso_time",
                                               "__vdso_clock_getres",  "__vdso_getcpu",       "__vdso_getrandom"};
u64 function_at[functions];

/// Returns the end of a loaded file, and the address of its dynamic section.
u64 end_of(u64 base, const Elf64_Dyn** dynamic = nullptr) {
  const auto& header = at<Elf64_Ehdr>(base);
  const auto* segments = reinterpret_cast<const Elf64_Phdr*>(base + header.e_phoff);
  u64 end = base;
  for (u32 i = 0; i < header.e_phnum; i++) {
    const u64 start = base + segments[i].p_offset;
    if (segments[i].p_type == PT_DYNAMIC && dynamic != nullptr) *dynamic = reinterpret_cast<const Elf64_Dyn*>(start);
    if (segments[i].p_type == PT_LOAD) end = page_up(start + segments[i].p_memsz);
  }
  return end;
}

/// Finds the functions by their symbols, as described in vdso(7).
void find_functions(u64 base) {
  const Elf64_Dyn* dynamic = nullptr;
  vdso_end = end_of(base, &dynamic);
  u64 symbols = 0, names = 0;
  for (; dynamic != nullptr && dynamic->d_tag != DT_NULL; dynamic++) {
    if (dynamic->d_tag == DT_SYMTAB) symbols = base + dynamic->d_un.d_ptr;
    if (dynamic->d_tag == DT_STRTAB) names = base + dynamic->d_un.d_ptr;
  }
  // The string table follows the symbols.
  for (u64 s = symbols; s != 0 && s + sizeof(Elf64_Sym) <= names; s += sizeof(Elf64_Sym)) {
    const auto& symbol = at<Elf64_Sym>(s);
    for (u32 i = 0; i < functions; i++)
      if (is_equal(reinterpret_cast<const char*>(names + symbol.st_name), function_names[i]))
        function_at[i] = base + symbol.st_value;
  }
}

}  // namespace

void clock_init(u64 vdso) {
  if (vdso == 0) return;
  vdso_at = vdso;
  constexpr u64 most_data_bytes = 16 * page_bytes;
  data_at = vdso - most_data_bytes;
  find_functions(vdso);
  vdso_get_time = reinterpret_cast<GetTime>(function_at[static_cast<u32>(VdsoFunction::get_clock)]);
}

void linker_init(u64 base) {
  linker_at = linker_end = base;
  if (base != 0) linker_end = end_of(base);
}

bool is_in_linker(u64 pc) { return pc - linker_at < linker_end - linker_at; }

bool is_in_vdso(u64 pc) { return pc - vdso_at < vdso_end - vdso_at; }

VdsoFunction vdso_function_at(u64 pc) {
  u32 i = 0;
  while (i < functions && (function_at[i] == 0 || function_at[i] != pc)) i++;
  return static_cast<VdsoFunction>(i);
}

u64 vdso_return_after(u64 pc) {
  constexpr u8 return_opcode = 0xc3;
  while (pc < vdso_end && at<u8>(pc) != return_opcode) pc++;
  return pc < vdso_end ? pc : 0;
}

void pause_for(u64 us) {
  const u64 pause[2] = {us / 1'000'000, us % 1'000'000 * 1000};
  kernel(SYS_nanosleep, reinterpret_cast<u64>(pause), 0);
}

u64 clock_ns() {
  Time time{};
  if (vdso_get_time == nullptr || vdso_get_time(monotonic, &time) != 0)
    kernel(SYS_clock_gettime, monotonic, reinterpret_cast<u64>(&time));
  return static_cast<u64>(time.seconds) * 1'000'000'000 + static_cast<u64>(time.ns);
}

void clock_data_listed(u64 start) {
  if (data_is_listed || start >= vdso_at) return;
  data_at = start;
  data_is_listed = true;
}

void clock_unmapped(u64 start, u64 end) {
  if (start >= vdso_end || end <= data_at) return;
  clock_without_time_stamp();
  if (end <= vdso_at) return;
  vdso_at = vdso_end = 0;
  for (u64& address : function_at) address = 0;
}

void clock_without_time_stamp() { vdso_get_time = nullptr; }

}  // namespace tally::engine
