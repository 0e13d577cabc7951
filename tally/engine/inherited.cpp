#include "tally/engine/inherited.hpp"

namespace tally::engine {
namespace {

u32 first_inherited;
bool own_tables;  // some threads have descriptor tables of their own

}  // namespace

u64 inherited(channel::Inherited which) {
  const u32 own = own_tables ? current()->first_descriptor : 0;
  return u64{own != 0 ? own : first_inherited} + which;
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
