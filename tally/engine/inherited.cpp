#include "tally/engine/inherited.hpp"

#include <sys/mman.h>

namespace tally::engine {
namespace {

u32 first_inherited;
bool own_tables;  // some threads have descriptor tables of their own

}  // namespace

u64 inherited(channel::Inherited which) {
  const u32 own = own_tables ? current()->first_descriptor : 0;
  return u64{own != 0 ? own : first_inherited} + which;
}

bool map_channel(u64 at, u64 bytes, u64 offset) {
  if (failed(kernel(SYS_mmap, at, bytes, read_write, MAP_SHARED | MAP_FIXED, inherited(channel::inherited_channel),
                    offset)))
    return false;
  keep_from_core(at, bytes);
  return true;
}

bool write_to_channel(const void* from, u64 bytes, u64 offset) {
  const u64 first = offset & ~(page_bytes - 1), mapped = page_up(offset + bytes) - first;
  const u64 at = try_reserve(mapped, PROT_NONE);
  if (at == 0) return false;
  const bool is_mapped = map_channel(at, mapped, first);
  if (is_mapped) copy(reinterpret_cast<void*>(at + offset - first), from, bytes);
  unreserve(at, mapped);
  return is_mapped;
}

s64 open_own(const char* name) {
  constexpr u64 to_read = 02000000 /* O_CLOEXEC */;
  return kernel(SYS_openat, inherited(channel::inherited_proc), reinterpret_cast<u64>(name), to_read);
}

void set_inherited(u32 first) {
  if (own_tables && current()->first_descriptor != 0)
    current()->first_descriptor = first;
  else
    first_inherited = first;
}

void inherited_of_its_own(Thread* t) {
  t->first_descriptor = static_cast<u32>(inherited(channel::inherited_channel));
  own_tables = true;
}

}  // namespace tally::engine
