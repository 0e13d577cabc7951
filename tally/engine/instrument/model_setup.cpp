#include "tally/engine/instrument/model_setup.hpp"

#include <initializer_list>

#include "tally/engine/channel/hash.hpp"
#include "tally/engine/channel/stored_layout.hpp"
#include "tally/engine/instrument/located_probes.hpp"
#include "tally/engine/models/table_memory.hpp"

namespace tally::engine::instrument {

ModelPlan model_plan;
Growing<models::LogPath> log_paths;
Growing<models::Op> log_ops;

namespace {

models::HierarchyShape caches;
models::TlbShape tlbs;
u64* shared_llc;
u64* shared_plain_llc;
u32 missing;  // bits of channel::Model

// Each line of code has a number, which fits into an instruction.
Growing<u64> lines;
u32* line_slots;  // by address: open addressing
constexpr u32 line_slots_mask = 4 * line_limit - 1;

/// Whether generated code can probe the level by the most recent line of each set, in a table of `bytes` per set.
bool can_be_inline(const models::CacheShape& shape, u64 bytes) {
  return shape.sets != 0 && shape.write_allocate && (shape.sets & (shape.sets - 1)) == 0 &&
         shape.replacement == models::Replacement::lru && shape.line_bits >= 4 &&
         shape.sets * bytes <= first_level_bytes;
}

models::CacheShape shape_of(const channel::ModelLevel& l) {
  return {l.sets,          l.ways, l.line_bits, static_cast<models::Replacement>(l.replacement), l.write_allocate != 0,
          l.inclusive != 0};
}

/// Whether generated code can probe pages: they have one size, which is at least that of a cache line. Without a first
/// level, every access changes the second one.
bool pages_can_be_inline() {
  const u32 bits = tlbs.page_bits();
  if (tlbs.stlb.sets != 0 && (tlbs.itlb.sets == 0 || tlbs.dtlb.sets == 0)) return false;
  for (const models::CacheShape* shape : {&tlbs.itlb, &tlbs.dtlb, &tlbs.stlb})
    if (shape->sets != 0 && shape->line_bits != bits) return false;
  for (const models::CacheShape* shape : {&caches.l1i, &caches.l1d})
    if (shape->sets != 0 && shape->line_bits > bits) return false;
  return bits >= 6 && bits <= 22;  // the set's number is computed from the low 32 bits of an address
}

u64 level_words() {
  if (settings().models.worker_count != 0) return 0;
  return models::FirstLevels::words(caches) + models::LowerLevels::own_words(caches) + models::tlb_words(tlbs) +
         (settings().models.own_llc != 0 ? models::shared_words(caches) : 0);
}
/// For the plain models: a hierarchy with or without a shared last level.
u64 plain_words() {
  return models::private_words(caches) + (settings().models.own_llc != 0 ? models::shared_words(caches) : 0) +
         models::tlb_words(tlbs);
}

/// Whether `bytes` can be reserved for a last level and leave what the engine needs in addition: 1.6 GB of addresses.
/// Otherwise the engine would exceed a limit on address space later, and could not count the program at all.
bool has_room(u64 bytes) {
  const u64 wanted = bytes + (2ull << 30), at = try_reserve(wanted, never_overcommits() ? PROT_NONE : read_write);
  if (at != 0) unreserve(at, wanted);
  return at != 0;
}

}  // namespace

const models::HierarchyShape& cache_shapes() { return caches; }

const models::TlbShape& tlb_shapes() { return tlbs; }

u32 models_without_memory() { return missing; }

u64 cold_model_bytes() {
  return page_up(sizeof(ColdModels)) + page_up(level_words() * 8) + (model_plan.each ? page_up(plain_words() * 8) : 0);
}

u64 own_room() { return (cold_model_bytes() + access_log_room - 1) & ~(access_log_room - 1); }

u64 rings_bytes() { return settings().models.worker_count != 0 ? u64{offloaded_rings} * channel::note_ring_bytes : 0; }

void make_cold_models(Thread* t) {
  ColdModels& r = *cold_models_of(t);
  u64* const tables = reinterpret_cast<u64*>(reinterpret_cast<u64>(&r) + page_up(sizeof(ColdModels)));
  const bool own = settings().models.own_llc != 0;
  if (settings().models.worker_count == 0) {
    u64* const tlb = tables + models::FirstLevels::words(caches);
    u64* const lower = tlb + models::tlb_words(tlbs);
    r.first = models::FirstLevels(caches, tables);
    r.tlbs = models::Tlbs(tlbs, models::tables_in(tlbs, tlb));
    r.lower = models::LowerLevels(caches, lower, own ? lower + models::LowerLevels::own_words(caches) : shared_llc);
    r.tage.reset();
  }
  model_thread(t)->record = r.access_log;
  // No line, and no page: zeros would mean line 0.
  *reinterpret_cast<u64*>(reinterpret_cast<u64>(t) + l1d_at) = no_line;
  *reinterpret_cast<u64*>(reinterpret_cast<u64>(t) + data_pages_at) = ~u64{0};
  if (!model_plan.each) return;
  u64* const plain = tables + page_up(level_words() * 8) / 8;
  u64* const plain_llc = own ? plain + models::private_words(caches) : shared_plain_llc;
  u64* const plain_tlb = plain + plain_words() - models::tlb_words(tlbs);
  make_plain(r, models::Hierarchy(caches, models::tables_in(caches, plain, plain_llc)),
             models::Tlbs(tlbs, models::tables_in(tlbs, plain_tlb)));
}

u64 models_key() {
  if (!model_plan.any()) return 0;
  u64 words[(sizeof model_plan + 7) / 8] = {};
  copy(words, &model_plan, sizeof model_plan);
  return channel::check_of(words, sizeof words) | 1;
}

bool models_can_be_kept() {
  if (!model_plan.any()) return true;
  // A mapping moves by whole pages, so numbers that depend on more than the offset in the page differ each time.
  if (model_plan.each) return false;
  const auto stays = [](u64 bytes) { return bytes <= page_bytes; };
  return (!model_plan.l1i || stays(u64{model_plan.l1i_sets} * model_plan.line_bytes)) &&
         (!model_plan.l1d || stays(u64{model_plan.l1d_mask} + model_plan.line_bytes)) &&
         (!model_plan.pages || stays(u64{1} << model_plan.page_bits));
}

u32 line_number(u64 line) {
  // Neighbouring lines have neighbouring slots: at random, each line would use another page of the table.
  u32 i = channel::hash_bits(line >> 12, 16) << 6 | (line >> 6 & 63);
  while (line_slots[i] != 0) {
    if (lines[line_slots[i]] == line) return line_slots[i];
    i = (i + 1) & line_slots_mask;
  }
  if (lines.full()) return 0;
  return line_slots[i] = lines.add(line);
}

void models_init() {
  const channel::Models& m = settings().models;
  if (m.on == 0) return;
  caches = {shape_of(m.l1i), shape_of(m.l1d), shape_of(m.l2), shape_of(m.llc), {m.next_line != 0, m.streamer != 0}};
  tlbs = {shape_of(m.itlb), shape_of(m.dtlb), shape_of(m.stlb)};
  if (on(channel::model_core)) caches.misses = {tlbs, m.streams != 0, {m.crowded_load, m.crowded_store}};
  if (!on(channel::model_l1i)) caches.l1i = {};
  if (!on(channel::model_l1d)) caches.l1d = {};
  if (!on(channel::model_lower)) caches.l2 = caches.llc = {};
  if (!on(channel::model_tlbs)) tlbs = {};
  const bool fits = (!on(channel::model_tlbs) || pages_can_be_inline()) &&
                    (!on(channel::model_l1i) || can_be_inline(caches.l1i, 4)) &&
                    (!on(channel::model_l1d) || can_be_inline(caches.l1d, u64{1} << caches.l1d.line_bits));
  const bool plain = m.each != 0 || !fits;
  model_plan.notes_full = static_cast<u32>(notes_room - (m.worker_count != 0 ? notes_offloaded : notes_kept));
  model_plan.each = plain || m.compared != 0;
  model_plan.each_branch = model_plan.each && on(channel::model_branches);
  if (!plain || (m.compared != 0 && fits)) {
    model_plan.branches = on(channel::model_branches);
    model_plan.l1i = caches.l1i.sets != 0;
    model_plan.l1d = caches.l1d.sets != 0;
    model_plan.pages = on(channel::model_tlbs);
  }
  model_plan.chases = on(channel::model_core);
  model_plan.notes_sites = places_misses() && !plain && (model_plan.code() || model_plan.data());
  model_plan.notes_returns = places_misses() && model_plan.branches;
  model_plan.goes_by_sites = model_plan.data() || model_plan.code();
  model_plan.page_bits = tlbs.page_bits();
  model_plan.data_page_sets = models::page_sets_distinguished(tlbs.dtlb);
  model_plan.code_page_sets = models::page_sets_distinguished(tlbs.itlb);
  model_plan.line_bytes = 1u << (caches.l1d.sets != 0   ? caches.l1d.line_bits
                                 : caches.l1i.sets != 0 ? caches.l1i.line_bits
                                                        : tlbs.page_bits());
  model_plan.l1d_mask = (caches.l1d.sets - 1) << caches.l1d.line_bits;
  if (model_plan.each) {
    log_paths.init(1u << 24);
    log_ops.init(1u << 27);
  }
  if (model_plan.code()) {
    lines.init(line_limit);
    lines.size = 1;
    line_slots = reinterpret_cast<u32*>(reserve((line_slots_mask + 1) * sizeof *line_slots, read_write));
  }
  model_plan.l1i_sets = caches.l1i.sets;
  const bool has_levels = m.worker_count == 0 || model_plan.each;
  const u64 bytes = models::shared_words(caches) * 8;
  if (caches.llc.sets != 0 && has_levels && !has_room(bytes * (model_plan.each ? 2 : 1))) {
    caches.llc = {};
    missing |= channel::model_llc;
  }
  if (caches.llc.sets != 0 && m.own_llc == 0 && has_levels) {
    shared_llc = reinterpret_cast<u64*>(try_reserve(bytes, read_write));
    if (shared_llc != nullptr && caches.llc.sets >= 8192)
      kernel(SYS_madvise, reinterpret_cast<u64>(shared_llc), page_up(bytes), MADV_HUGEPAGE);
    if (model_plan.each && shared_llc != nullptr)
      shared_plain_llc = reinterpret_cast<u64*>(try_reserve(bytes, read_write));
    if (shared_llc == nullptr || (model_plan.each && shared_plain_llc == nullptr)) {
      caches.llc = {};
      missing |= channel::model_llc;
    }
  }
}

}  // namespace tally::engine::instrument
