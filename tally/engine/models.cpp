// What the simulated machine does where generated code does not settle it, and what becomes of its counts.
#include "tally/engine/models.hpp"

#include <new>

#include "tally/sim/branches.hpp"
#include "tally/sim/hierarchy.hpp"
#include "tally/sim/memory.hpp"
#include "tally/sim/tlb.hpp"

// Offsets as models.hpp asserts them. The flags are kept without pushf, which takes ten times as long.
asm(R"(
.text
.globl enter_model, model_leave_begin, model_leave_end, model_pad
.hidden enter_model, model_leave_begin, model_leave_end, model_pad
enter_model:
  mov %rax, %gs:0x1140
  lahf
  seto %al
  mov %rax, %gs:0x10f8
  mov %rcx, %gs:0x1100
  mov %rdx, %gs:0x1108
  mov %rsi, %gs:0x1110
  mov %rdi, %gs:0x1118
  mov %r8, %gs:0x1120
  mov %r9, %gs:0x1128
  mov %r10, %gs:0x1130
  mov %r11, %gs:0x1138
  mov %rsp, %gs:0x10f0
  movq $1, %gs:0x10b0
  mov %gs:0xc0, %rdi
  mov %gs:0x1098, %rsi
  mov %gs:0x10a0, %rdx
  mov %gs:0xa8, %rsp
  pushfq
  popq %gs:0x1148
  testb $4, %gs:0x1149      # the direction flag: compilers take it to be clear
  jz 3f
  cld
3:call model_asked
model_leave_begin:
  movq $0, %gs:0x10b0
  testb $4, %gs:0x1149
  jz 4f
  std
4:mov %gs:0x10f8, %rax
  add $0x7f, %al
  sahf
  mov %gs:0x1108, %rdx
  mov %gs:0x1110, %rsi
  mov %gs:0x1118, %rdi
  mov %gs:0x1120, %r8
  mov %gs:0x1128, %r9
  mov %gs:0x1130, %r10
  mov %gs:0x1138, %r11
  mov %gs:0x10f0, %rsp
  mov %gs:0xb8, %rcx      # does something wait? The flags must stay as they are
  jrcxz 1f
  jmp 2f
1:mov %gs:0x1100, %rcx
  mov %gs:0x1140, %rax
  jmp *%gs:0x10a8
2:mov %gs:0x1100, %rcx
  mov %gs:0x1140, %rax
model_leave_end:
model_pad:
  int3
  ud2
)");

namespace tally::engine {

static_assert(models_at == 0x1080);

ModelPlan model_plan;

namespace {

using sim::Access;

/// channel::ModelValues with the types of the models.
struct Values {
  sim::HierarchyCounts caches;
  sim::TlbCounts tlbs;
  sim::BranchCounts branches;
};
static_assert(sizeof(Values) == sizeof(channel::ModelValues));
static_assert(offsetof(channel::ModelValues, itlb) == offsetof(Values, tlbs));
static_assert(offsetof(channel::ModelValues, conditional) == offsetof(Values, branches));
static_assert(offsetof(channel::ModelValues, prefetches) == offsetof(sim::HierarchyCounts, prefetches));
static_assert(offsetof(channel::ModelValues, l1d_across) == offsetof(sim::HierarchyCounts, l1d_across));

Values& values_of(channel::ModelValues& v) { return reinterpret_cast<Values&>(v); }

sim::HierarchyShape caches;
sim::TlbShape tlbs;
u64* shared_llc;
u64* shared_plain_llc;
Lock llc_lock;
u32 without;  // bits of channel::Model

constexpr u32 notes_limit = 512;

/// What a thread has beside what generated code looks into.
struct Rest {
  sim::Cache l1i, l1d;
  sim::LowerLevels lower;
  u64 asked;
  u32 notes;
  u64 note[notes_limit];  // a line, and in its low bits what it is wanted for
  alignas(16) u8 plain_caches[sizeof(sim::Hierarchy)];
  alignas(16) u8 plain_tlbs[sizeof(sim::Tlbs)];
  alignas(16) u8 plain_branches[sizeof(sim::Branches)];
};

/// Where a thread's Rest is: the last word of the page of its ModelThread.
Rest*& rest_of(Thread* t) { return *reinterpret_cast<Rest**>(reinterpret_cast<u64>(t) + 0x1ff8); }

u32 set_words(const sim::CacheShape& shape) {
  u32 words = 1u << shape.line_bits >> 3;
  while (words < shape.ways) words *= 2;
  return words;
}

/// Whether generated code can look into it: a set is a power of two of bytes that the scale of an address reaches.
bool can_be_inline(const sim::CacheShape& shape) {
  return shape.sets != 0 && (shape.sets & (shape.sets - 1)) == 0 && shape.replacement == sim::Replacement::lru &&
         set_words(shape) * 8 <= 8u << shape.line_bits && u64{shape.sets} * set_words(shape) * 8 <= first_level_bytes;
}

sim::CacheShape shape_of(const channel::ModelLevel& l) {
  return {l.sets,          l.ways, l.line_bits, static_cast<sim::Replacement>(l.replacement), l.write_allocate != 0,
          l.inclusive != 0};
}

bool on(channel::Model m) { return (settings().models.on & m) != 0; }

u64 lower_words() {
  return sim::table_words(caches.l2) + (settings().models.own_llc != 0 ? sim::shared_words(caches) : 0);
}
/// Of the plain models: a hierarchy whose last level is shared or not.
u64 plain_words() {
  return sim::private_words(caches) + (settings().models.own_llc != 0 ? sim::shared_words(caches) : 0) +
         sim::tlb_words(tlbs);
}
u64 rest_bytes() {
  return page_up(sizeof(Rest)) + page_up(lower_words() * 8) + (model_plan.each ? page_up(plain_words() * 8) : 0);
}

/// Tables of zeros: nothing is kept of what was there.
void make_rest(Thread* t) {
  Rest& r = *rest_of(t);
  u64* const tables = reinterpret_cast<u64*>(reinterpret_cast<u64>(&r) + page_up(sizeof(Rest)));
  const bool own = settings().models.own_llc != 0;
  if (model_plan.l1d) {
    r.l1d = sim::Cache(caches.l1d, reinterpret_cast<u64*>(reinterpret_cast<u64>(t) + l1d_at), set_words(caches.l1d));
  }
  if (model_plan.l1i)
    r.l1i = sim::Cache(caches.l1i, reinterpret_cast<u64*>(reinterpret_cast<u64>(t) + l1i_at), set_words(caches.l1i));
  r.lower = sim::LowerLevels(caches, tables, own ? tables + sim::table_words(caches.l2) : shared_llc);
  if (!model_plan.each) return;
  u64* const plain = tables + page_up(lower_words() * 8) / 8;
  u64* const plain_llc = own ? plain + sim::private_words(caches) : shared_plain_llc;
  u64* const plain_tlb = plain + plain_words() - sim::tlb_words(tlbs);
  new (r.plain_caches) sim::Hierarchy(caches, sim::tables_in(caches, plain, plain_llc));
  new (r.plain_tlbs) sim::Tlbs(tlbs, sim::tables_in(tlbs, plain_tlb));
  new (r.plain_branches) sim::Branches(static_cast<sim::Direction>(settings().models.direction));
}

sim::Hierarchy& plain_caches(Rest& r) { return *reinterpret_cast<sim::Hierarchy*>(r.plain_caches); }
sim::Tlbs& plain_tlbs(Rest& r) { return *reinterpret_cast<sim::Tlbs*>(r.plain_tlbs); }
sim::Branches& plain_branches(Rest& r) { return *reinterpret_cast<sim::Branches*>(r.plain_branches); }

// --- first levels ---------------------------------------------------------------------------------------------------

void drain(Thread* t, Rest& r) {
  sim::HierarchyCounts& counts = values_of(model_counts(t)->values).caches;
  const u32 n = r.notes;
  r.notes = 0;
  if (n == 0) return;
  const bool shares = settings().models.own_llc == 0;
  if (shares) llc_lock.take();
  for (u32 i = 0; i < n; i++) r.lower.request(r.note[i] & ~u64{3}, static_cast<Access>(r.note[i] & 3), counts);
  if (shares) llc_lock.release();
}

void note(Thread* t, Rest& r, u64 line, Access access) {
  if (!on(channel::model_lower)) return;
  r.note[r.notes] = line | static_cast<u64>(access);
  if (++r.notes == notes_limit) drain(t, r);
}

/// One line. Whether it was there.
bool touch(Thread* t, Rest& r, u64 line, Access access) {
  sim::HierarchyCounts& counts = values_of(model_counts(t)->values).caches;
  sim::Cache& level = access == Access::fetch ? r.l1i : r.l1d;
  const bool passes = access == Access::store && !level.shape().write_allocate;
  if ((passes ? level.use(line) : level.access(line)).hit) return true;
  if (access == Access::fetch)
    counts.l1i.fetch_misses++;
  else if (access == Access::store)
    counts.l1d.store_misses++;
  else
    counts.l1d.load_misses++;
  note(t, r, line, access);
  return false;
}

void access_first(Thread* t, Rest& r, u64 address, u64 bytes, Access access) {
  const u32 bits = caches.l1d.line_bits;
  const u64 first = address >> bits, last = (address + bytes - 1) >> bits;
  bool missed = !touch(t, r, first << bits, access);
  sim::LevelCounts& across = values_of(model_counts(t)->values).caches.l1d_across;
  for (u64 line = first + 1; line <= last && last >= first; line++) {
    const bool hit = touch(t, r, line << bits, access);
    across.count(access, hit || !missed);
    if (access == Access::modify) across.count(Access::store, true);
    missed = missed || !hit;
  }
}

// --- the plain models ----------------------------------------------------------------------------------------------

/// Where their counts go: beside those that they are compared with, or in their place.
Values& plain_values(Thread* t) {
  channel::ModelCounts& c = *model_counts(t);
  return values_of(settings().models.compared != 0 ? c.plain : c.values);
}

void access_plain(Rest& r, u64 address, u64 bytes, Access access) {
  if (on(access == Access::fetch ? channel::model_l1i : channel::model_l1d)) {
    const bool shares = settings().models.own_llc == 0 && on(channel::model_lower);
    if (shares) llc_lock.take();
    plain_caches(r).access(address, bytes, access);
    if (shares) llc_lock.release();
  }
  if (on(channel::model_tlbs)) plain_tlbs(r).access(address, bytes, access);
}

void keep_plain(Thread* t, Rest& r) {
  Values& v = plain_values(t);
  v.caches.add(plain_caches(r).counts());
  v.tlbs.add(plain_tlbs(r).counts());
  v.branches.add(plain_branches(r).counts());
  plain_caches(r).clear_counts();
  plain_tlbs(r).clear_counts();
  plain_branches(r).clear_counts();
}

void data_access(Thread* t, Rest& r, u64 address, u64 bytes, Access access) {
  if (model_plan.l1d) access_first(t, r, address, bytes, access);
  if (model_plan.each) access_plain(r, address, bytes, access);
}

// --- string instructions --------------------------------------------------------------------------------------------

/// `n` elements at `from` and `to`, upwards or downwards. What follows the first element of a pair of lines finds both
/// where they are, and leaves them in the same order: it need not be looked at.
void repeated(Thread* t, Rest& r, u32 word, u64 n, u64 from, u64 to, bool down) {
  const u64 bytes = word >> 8 & 0xff;
  const bool loads = word >> 16 & 1, second = word >> 17 & 1;
  const Access at_to = word >> 18 & 1 ? Access::store : Access::load;
  const u64 line = 1ull << caches.l1d.line_bits;
  const bool skips = !model_plan.each && r.l1d.exists() && r.l1d.shape().ways > 1 && r.l1d.shape().write_allocate;
  const auto elements_left = [&](u64 address) {
    // Elements that lie in the line of this one, this one included; 1 where it lies in two.
    const u64 offset = address & (line - 1);
    if (offset + bytes > line) return u64{1};
    return down ? offset / bytes + 1 : (line - offset) / bytes;
  };
  while (n > 0) {
    if (loads) data_access(t, r, from, bytes, Access::load);
    if (second) data_access(t, r, to, bytes, at_to);
    u64 step = 1;
    if (skips) {
      step = n;
      if (loads && elements_left(from) < step) step = elements_left(from);
      if (second && elements_left(to) < step) step = elements_left(to);
    }
    n -= step;
    const u64 distance = down ? 0 - step * bytes : step * bytes;
    from += distance;
    to += distance;
  }
}

void repeat_done(Thread* t, u32 word, u64 rcx, u64 rsi, u64 rdi) {
  ModelThread& m = *model_thread(t);
  const u64 mask = word >> 19 & 1 ? 0xffffffff : ~u64{0};
  const u64 n = (m.repeat[0] - rcx) & mask;
  const bool loads = word >> 16 & 1;
  const u64 before = loads ? m.repeat[1] : m.repeat[2], after = loads ? rsi : rdi;
  repeated(t, *rest_of(t), word, n, m.repeat[1] & mask, m.repeat[2] & mask, (after & mask) < (before & mask));
}

// --- branches -------------------------------------------------------------------------------------------------------

void unsettled(Thread* t, u64 index, bool taken) {
  sim::Counter2& counter = reinterpret_cast<sim::Counter2*>(reinterpret_cast<u64>(t) + gshare_at)[index];
  if (sim::predicts_taken(counter) != taken) values_of(model_counts(t)->values).branches.conditional_misses++;
  counter = sim::trained(counter, taken);
}

void indirect(Thread* t, u64 pc, u64 target) {
  u64& entry = reinterpret_cast<u64*>(reinterpret_cast<u64>(t) + indirect_at)[pc % sim::IndirectTargets::entries];
  if (entry + target != 0) values_of(model_counts(t)->values).branches.indirect_misses++;
  entry = 0 - target;
}

}  // namespace

extern "C" __attribute__((visibility("hidden"), used)) void model_asked(Thread* t, u64 argument, u32 word) {
  Rest& r = *rest_of(t);
  const ModelThread& m = *model_thread(t);
  const u64 bytes = word >> 8;
  switch (static_cast<Ask>(word & 0xff)) {
    case Ask::load: access_first(t, r, argument, bytes, Access::load); break;
    case Ask::store: access_first(t, r, argument, bytes, Access::store); break;
    case Ask::modify: access_first(t, r, argument, bytes, Access::modify); break;
    case Ask::fetch: touch(t, r, argument, Access::fetch); break;
    case Ask::plain_load: access_plain(r, argument, bytes, Access::load); break;
    case Ask::plain_store: access_plain(r, argument, bytes, Access::store); break;
    case Ask::plain_modify: access_plain(r, argument, bytes, Access::modify); break;
    case Ask::plain_fetch: access_plain(r, argument, bytes, Access::fetch); break;
    case Ask::taken: unsettled(t, argument, true); break;
    case Ask::not_taken: unsettled(t, argument, false); break;
    case Ask::indirect: indirect(t, argument, m.target); break;
    case Ask::repeat: repeat_done(t, word, m.saved[0], m.saved[2], m.saved[3]); break;
    case Ask::plain_taken: plain_branches(r).conditional(argument, m.target, true); break;
    case Ask::plain_not_taken: plain_branches(r).conditional(argument, m.target, false); break;
    case Ask::plain_jump: plain_branches(r).jump(argument, m.target); break;
    case Ask::plain_call: plain_branches(r).call(argument, m.target, argument + bytes); break;
    case Ask::plain_indirect: plain_branches(r).indirect_jump(argument, m.target); break;
    case Ask::plain_indirect_call: plain_branches(r).indirect_call(argument, m.target, argument + bytes); break;
    case Ask::plain_return: plain_branches(r).ret(m.target); break;
  }
  if (model_plan.each && ++r.asked % 4096 == 0) keep_plain(t, r);
}

void models_init() {
  const channel::Models& m = settings().models;
  if (m.on == 0) return;
  caches = {shape_of(m.l1i), shape_of(m.l1d), shape_of(m.l2), shape_of(m.llc), {m.next_line != 0, m.streamer != 0}};
  tlbs = {shape_of(m.itlb), shape_of(m.dtlb), shape_of(m.stlb)};
  if (!on(channel::model_l1i)) caches.l1i = {};
  if (!on(channel::model_l1d)) caches.l1d = {};
  if (!on(channel::model_lower)) caches.l2 = caches.llc = {};
  if (!on(channel::model_tlbs)) tlbs = {};
  const bool fits =
      (!on(channel::model_l1i) || can_be_inline(caches.l1i)) && (!on(channel::model_l1d) || can_be_inline(caches.l1d));
  const bool plain = m.each != 0 || !fits;
  model_plan.each = plain || m.compared != 0;
  model_plan.each_branch = model_plan.each && on(channel::model_branches);
  if (!plain || (m.compared != 0 && fits)) {
    model_plan.branches = on(channel::model_branches);
    model_plan.l1i = caches.l1i.sets != 0;
    model_plan.l1d = caches.l1d.sets != 0;
  }
  model_plan.line_bytes = 1u << (caches.l1d.sets != 0 ? caches.l1d.line_bits : caches.l1i.line_bits);
  model_plan.l1d_mask = (caches.l1d.sets - 1) << caches.l1d.line_bits;
  model_plan.l1d_scale = caches.l1d.sets == 0 ? 1 : set_words(caches.l1d) * 8 >> caches.l1d.line_bits;
  model_plan.l1i_sets = caches.l1i.sets;
  model_plan.l1i_set_bytes = caches.l1i.sets == 0 ? 0 : set_words(caches.l1i) * 8;
  if (caches.llc.sets != 0 && m.own_llc == 0) {
    const u64 bytes = sim::shared_words(caches) * 8;
    shared_llc = reinterpret_cast<u64*>(try_reserve(bytes, 3));
    if (model_plan.each && shared_llc != nullptr) shared_plain_llc = reinterpret_cast<u64*>(try_reserve(bytes, 3));
    if (shared_llc == nullptr || (model_plan.each && shared_plain_llc == nullptr)) {
      caches.llc = {};
      without |= channel::model_lower;
    }
  }
}

bool models_attach(Thread* t, bool goes_on) {
  if (settings().models.on == 0) return true;
  const s64 page = kernel(SYS_mmap, reinterpret_cast<u64>(model_counts(t)), channel::model_counts_bytes, 3,
                          0x11 /* MAP_SHARED | MAP_FIXED */, inherited(channel::inherited_channel),
                          channel::model_counts_offset(t->index));
  if (failed(page)) return false;
  model_counts(t)->without |= without;
  if (goes_on) {
    Rest& r = *rest_of(t);
    r.notes = 0;
    return true;
  }
  if (rest_of(t) == nullptr) {
    const u64 at = try_reserve(rest_bytes(), 3);
    if (at == 0) return false;
    rest_of(t) = reinterpret_cast<Rest*>(at);
  } else {
    Rest* const rest = rest_of(t);
    throw_away(rest, rest_bytes());
    throw_away(reinterpret_cast<const void*>(reinterpret_cast<u64>(t) + 0x1000), jump_table_at - 0x1000);
    rest_of(t) = rest;
  }
  make_rest(t);
  return true;
}

void models_drain(Thread* t) {
  if (settings().models.on == 0 || rest_of(t) == nullptr) return;
  drain(t, *rest_of(t));
  if (model_plan.each) keep_plain(t, *rest_of(t));
}

void models_after_fork() { llc_lock = Lock{}; }

void models_repeat(Thread* t, u64 rcx, u64 rsi, u64 rdi) {
  ModelThread& m = *model_thread(t);
  repeat_done(t, static_cast<u32>(m.repeat_word), rcx, rsi, rdi);
}

}  // namespace tally::engine
