#include "tally/engine/persist/persistent_cache.hpp"

#include "tally/engine/instrument/instrumentation_key.hpp"
#include "tally/engine/instrument/model_code.hpp"
#include "tally/engine/persist/bundle.hpp"
#include "tally/engine/persist/reuse.hpp"
#include "tally/engine/translate/generate.hpp"

namespace tally::engine::persist {
namespace {

/// What is known of a template without its code.
Template template_of(const Recording& r, const Trace& t) {
  Template made{};
  made.low_pc = r.pc < low_limit ? r.pc : 0;
  made.kind = kind_of_code();
  made.fixup_count = static_cast<u16>(r.fixups);
  made.range_count = static_cast<u8>(r.ranges);
  made.looked_ahead = t.looked_ahead;
  made.by_jump = r.by_jump;
  return made;
}

template <class T>
u8* put(u8* to, const T* from, u32 n) {
  copy(to, from, n * sizeof(T));
  return to + n * sizeof(T);
}

/// Keeps what the bundle needs of a finished trace, in addition to its code. Returns false if that is not possible.
bool add_own_template(const Recording& r, const Builder& b) {
  Trace& t = b.trace;
  if (t.bytes != b.e.here() - b.body || t.bytes > Recording::max_bytes) return false;
  const Template own = template_of(r, t);
  u8* const at = claim_own_record(sizeof own + r.fixups * sizeof(Fixup) + r.ranges * sizeof(CodeRange));
  if (at == nullptr) return false;
  put(put(put(at, &own, 1), r.fixup, r.fixups), r.range, r.ranges);
  t.use = note_use(*reinterpret_cast<const Template*>(at), t, false);
  return true;
}

/// Adds the template of a finished trace. If `use` is not 0, it replaces the template of that use.
void add_template(const Recording& r, const Builder& b, u32 use) {
  Trace& t = b.trace;
  const u64 code_bytes = b.e.here() - b.body, stub_bytes = has_probe_stubs() ? b.arena.cold - r.stubs : 0;
  if (code_bytes > Recording::max_bytes || stub_bytes > Recording::max_bytes || t.loop > Recording::max_bytes) return;
  LARGE static KeptModelRange model_range[ModelCode::range_limit];
  const u32 model_ranges = model_plan.any() ? models_ranges_of(t, model_range) : 0;
  for (u32 i = 0; i < r.ranges; i++)
    if (!is_constant(r.range[i].at(r.pc), r.range[i].bytes)) return;
  Template made = template_of(r, t);
  made.code_bytes = static_cast<u16>(code_bytes);
  made.trace_bytes = static_cast<u16>(t.bytes);
  made.stub_bytes = static_cast<u16>(stub_bytes);
  made.model_range_count = static_cast<u16>(model_ranges);
  made.loop = static_cast<u16>(t.loop);
  made.original_bytes = static_cast<u16>(r.originals);
  made.place_count = static_cast<u16>(t.place_count);
  made.segment_count = static_cast<u8>(t.segment_count);
  made.generation = r.generation;
  const u64 bytes = reinterpret_cast<u64>(made.originals()) + r.originals - reinterpret_cast<u64>(&made);
  // The last word is copied as a whole.
  made.head.bytes = static_cast<u32>(channel::record_bytes(bytes + 8));
  made.head.tag = tag_of(r.pc);
  u8* const at = made.head.tag == 0 ? nullptr : claim_record(made.head.bytes);
  if (at == nullptr) return;
  u8* to = put(at, &made, 1);
  to = put(to, &segment(t.number), t.segment_count);
  to = put(to, t.places, t.place_count);
  to = put(to, r.fixup, r.fixups);
  to = put(to, r.range, r.ranges);
  to = put(to, model_range, model_ranges);
  to = put(to, t.segments, t.segment_count);
  to = put(to, reinterpret_cast<const u8*>(t.body), made.code_bytes);
  to = put(to, reinterpret_cast<const u8*>(r.stubs), made.stub_bytes);
  put(to, r.original, r.originals);
  channel::RecordHead& head = *reinterpret_cast<channel::RecordHead*>(at);
  seal_record(head);
  const Template& added = *reinterpret_cast<const Template*>(at);
  if (use != 0 && use != PersistentCache::later_use) return replace_used(use, added);
  publish_record(head);
  t.use = note_use(added, t, false);
}

/// With machine models, code is several times as large. If the first run of a large program stored all of it, it would
/// take nearly twice as long; instead, each of a few runs stores a part.
constexpr u64 first_made_limit = 32u << 20;

class Store final : public PersistentCache {
 public:
  bool load(u64 pc) override { return load_bundle(pc); }
  const Template* find(u64 pc) override { return has_templates(pc) ? find_template(pc) : nullptr; }
  Trace* reuse(const Template& t, u64 pc, bool by_jump, Arena& a) override {
    Trace* const made = persist::reuse(t, pc, by_jump, a);
    if (made != nullptr && !made->dead) made->use = note_use(t, *made, true);
    return made;
  }
  Keep keeps(u64 pc, u8 generation) const override {
    if (!is_written() || !keeps_any()) return Keep::never;
    if (generation > 0) return Keep::now;
    if (instrumentation_key() != 0) return bytes_added() < first_made_limit ? Keep::now : Keep::never;
    return keep_of(pc);
  }
  void add(const Recording& r, const Builder& b, u32 use, Keep keep) override {
    if (keep != Keep::in_bundle || !add_own_template(r, b)) add_template(r, b, use);
  }
  bool used(u32 use, Used& out) const override {
    if (use == later_use) return true;
    const Template* const t = used_template(use);
    if (t != nullptr) out = {t->generation, t->by_jump};
    return t != nullptr || is_only_in_bundle(use, out.by_jump);
  }
  bool is_written() const override { return store_is_written(); }
  bool keeps_any() const override { return !keeps_nothing(); }
  const u8* find_data(u64 key, u64& bytes) override {
    const channel::Bundle* const bundle = find_bundle(key_in_program(key));
    if (bundle == nullptr) return nullptr;
    bytes = bundle->head.bytes - sizeof *bundle;
    return bundle->after_names();
  }
  u8* begin_data(u64 key, u64 bytes) override {
    channel::Bundle* const bundle = keeps_any() ? begin_bundle(key_in_program(key), bytes) : nullptr;
    return bundle != nullptr ? bundle->after_names() : nullptr;
  }
  void end_data(u8* data) override { end_bundle(reinterpret_cast<channel::Bundle*>(data)[-1]); }
  u32 damage() const override { return store_damage(); }
  void give_up_writing() override { give_up_writing_locked(); }
  void discarded() override { forget_used_traces(); }
  void unmapped(u64 start, u64 end) override { forget_modules(start, end); }
};
constinit Store hooks;

}  // namespace

void persistent_cache_init(u64 kept_inode, u64 added_inode, u64 first_instruction) {
  persistent_cache = &hooks;
  store_init(kept_inode, added_inode);
  bundles_init(first_instruction);
}

}  // namespace tally::engine::persist
