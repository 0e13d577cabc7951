// Processes the accesses and branch outcomes that generated code does not settle, and publishes the models' counts.
#include "tally/engine/instrument/model_probes.hpp"

#include <initializer_list>
#include <utility>

#include "tally/engine/channel/stored_layout.hpp"
#include "tally/engine/inherited.hpp"
#include "tally/engine/instrument/access_records.hpp"
#include "tally/engine/instrument/call_code.hpp"
#include "tally/engine/instrument/call_probes.hpp"
#include "tally/engine/instrument/cold_models.hpp"
#include "tally/engine/instrument/jump_probes.hpp"
#include "tally/engine/instrument/located_probes.hpp"
#include "tally/engine/instrument/model_setup.hpp"
#include "tally/engine/instrument/python_frames.hpp"
#include "tally/engine/instrument/sites.hpp"
#include "tally/engine/instrument/window_probes.hpp"
#include "tally/engine/models/table_memory.hpp"
#include "tally/engine/translate/review.hpp"

namespace tally::engine::instrument {

static_assert(python_entry_word > static_cast<u32>(Ask::outcomes));

Lock llc_lock;

namespace {

using models::Access;

constexpr RingContent rings[] = {RingContent::notes, RingContent::outcomes};
static_assert(sizeof rings / sizeof *rings == offloaded_rings);

bool uses(RingContent what) {
  return what == RingContent::notes ? model_plan.code() || model_plan.data() : model_plan.branches;
}

// --- first levels ---------------------------------------------------------------------------------------------------

TALLY_NO_SAVES __attribute__((noinline)) void drain(Thread* t, ColdModels& r) {
  if (!uses(RingContent::notes)) return;
  const CompilersFlags flags;
  ModelThread& m = *model_thread(t);
  const u32 n = static_cast<u32>((reinterpret_cast<u64>(m.next_note) & (notes_room - 1)) / note_bytes());
  if (settings().models.worker_count != 0) {
    m.next_note = reinterpret_cast<u64*>(notes_publish(t, RingContent::notes, {n, 0, 0}));
    return;
  }
  Values& values = values_of(model_counts(t)->values);
  models::HierarchyCounts& counts = values.caches;
  m.next_note = r.note;
  const bool shares = settings().models.own_llc == 0;
  if (model_plan.notes_sites) {
    if (shares) llc_lock.take();
    ValueRecorder placer(t, counts, r.tlbs.counts(), values.branches);
    models::access_all({&r.first, on(channel::model_lower) ? &r.lower : nullptr, model_plan.pages ? &r.tlbs : nullptr},
                       reinterpret_cast<const models::PlacedNote*>(r.note), n, counts, placer);
    if (shares) llc_lock.release();
    values.tlbs.add(r.tlbs.counts());
    r.tlbs.clear_counts();
    return;
  }
  if (model_plan.pages) {
    r.tlbs.access_all(r.note, n);
    values.tlbs.add(r.tlbs.counts());
    r.tlbs.clear_counts();
  }
  const u32 missed = r.first.access_all(r.note, n, counts);
  if (missed == 0 || !on(channel::model_lower)) return;
  if (shares) llc_lock.take();
  r.lower.request_all(r.note, missed, counts);
  if (shares) llc_lock.release();
}

u32 outcomes_written(const ModelThread& m) {
  return static_cast<u32>((reinterpret_cast<u64>(m.next_outcome) & (notes_room - 1)) / sizeof(u32));
}

TALLY_NO_SAVES __attribute__((noinline)) void drain_outcomes(Thread* t, ColdModels& r) {
  if (!uses(RingContent::outcomes)) return;
  const CompilersFlags flags;
  ModelThread& m = *model_thread(t);
  const u32 n = outcomes_written(m);
  if (settings().models.worker_count != 0) {
    m.next_outcome = reinterpret_cast<u32*>(notes_publish(t, RingContent::outcomes, {n, 0, 0}));
    return;
  }
  m.next_outcome = r.outcome;
  models::BranchCounts placed;
  ValueRecorder recorder(t, models::no_caches, models::no_tlbs, placed);
  const models::Mispredictions wrong = model_plan.notes_returns
                                           ? models::play_placed(r.tage, r.outcome, n, placed, recorder)
                                           : r.tage.play(r.outcome, n, r.outcome);
  model_counts(t)->values.conditional_misses += wrong.conditional;
  model_counts(t)->values.indirect_misses += wrong.indirect;
  missed_of(model_counts(t)->missed).add_all(r.outcome, wrong.words());
}

/// Makes the page of this line the most recent page of its TLB set. Returns whether it already was.
bool is_page_most_recent(Thread* t, u64 line) {
  if (!model_plan.pages) return true;
  const u64 set = line >> model_plan.page_bits & (model_plan.data_page_sets - 1);
  u64& last = *reinterpret_cast<u64*>(reinterpret_cast<u64>(t) + data_pages_at + (set << page_stride_bits));
  return (std::exchange(last, line) ^ line) >> model_plan.page_bits == 0;
}

/// Accesses one line of data. Returns whether it wrote an access record.
bool touch_data(Thread* t, ColdModels& r, u64 line, models::Note note) {
  ModelThread& m = *model_thread(t);
  bool same_line = true;
  if (model_plan.l1d) {
    u64& last = *reinterpret_cast<u64*>(reinterpret_cast<u64>(t) + l1d_at + (line & model_plan.l1d_mask));
    same_line = std::exchange(last, line) == line;
  }
  const bool same_page = is_page_most_recent(t, line);
  if (same_line && same_page) return false;
  *m.next_note++ = line | note;
  if (model_plan.notes_sites) *m.next_note++ = m.site;
  if ((reinterpret_cast<u64>(m.next_note) & model_plan.notes_full) != 0) drain(t, r);
  return true;
}

TALLY_NO_SAVES __attribute__((noinline)) void access_first(Thread* t, ColdModels& r, u64 address, u64 bytes,
                                                           Access access) {
  const u64 line_bytes = model_plan.line_bytes, last = (address + bytes - 1) & ~(line_bytes - 1);
  u64 line = address & ~(line_bytes - 1);
  const models::Note what = models::note_of(0, access);
  bool noted = touch_data(t, r, line, what);
  channel::ModelLevelCounts& across = model_counts(t)->values.l1d_across;
  while (line < last) {
    line += line_bytes;
    noted |= touch_data(t, r, line, noted ? what | models::same_access : what);
    if (!model_plan.l1d) continue;
    const Access purpose = models::purpose_of(access);
    if (purpose != Access::store) across.loads++;
    if (purpose != Access::load) across.stores++;
  }
}

// --- string instructions --------------------------------------------------------------------------------------------

void count_string_steps(Thread* t, u64 steps) {
  values_of(model_counts(t)->values).caches.string_steps += steps;
  if (!model_plan.notes_sites) return;
  models::HierarchyCounts here;
  ValueRecorder recorder(t, here, models::no_tlbs, models::no_branches);
  here.string_steps = steps;
  recorder.stepped(model_thread(t)->site);
}

/// Processes the elements that a string instruction executed. Only the first element in a pair of lines needs a probe:
/// the others hit both lines and leave their LRU order unchanged.
void process_string_elements(Thread* t, u32 word, u64 rcx, u64 rsi, u64 rdi) {
  const ModelThread& m = *model_thread(t);
  ColdModels& r = *cold_models_of(t);
  const models::Repeat repeat = models::Repeat::of(word >> 8);
  const u64 words[models::Repeat::words] = {m.repeat[0], m.repeat[1], m.repeat_rdi, rcx, rsi, rdi};
  models::Repetition left(repeat, words);
  count_string_steps(t, repeat.steps(left.elements));
  const u64 bytes = repeat.bytes, line = model_plan.line_bytes;
  const auto elements_left = [&](u64 address) {
    // The number of elements from this one to the end of its line; 1 if the element crosses into another line.
    const u64 offset = address & (line - 1);
    if (offset + bytes > line) return u64{1};
    return left.down ? offset / bytes + 1 : (line - offset) / bytes;
  };
  while (left.elements > 0) {
    if (repeat.from) access_first(t, r, left.from, bytes, Access::load);
    if (repeat.to) access_first(t, r, left.to, bytes, repeat.to_stores ? Access::store : Access::load);
    u64 step = 1;
    if (cache_shapes().l1d.ways != 1 && tlb_shapes().dtlb.ways != 1) {
      step = left.elements;
      if (repeat.from && elements_left(left.from) < step) step = elements_left(left.from);
      if (repeat.to && elements_left(left.to) < step) step = elements_left(left.to);
    }
    left.elements -= step;
    const u64 distance = left.down ? 0 - step * bytes : step * bytes;
    left.from += distance;
    left.to += distance;
  }
}

}  // namespace

extern "C" TALLY_NO_SAVES __attribute__((visibility("hidden"), used)) void model_lookup(Thread* t, u64 argument,
                                                                                        u32 word) {
  ColdModels& r = *cold_models_of(t);
  switch (static_cast<Ask>(word & 0xff)) {
    case Ask::noted: drain(t, r); break;
    case Ask::outcomes: drain_outcomes(t, r); break;
    case Ask::access_log: play_access_log(t, r); break;
    default: return access_first(t, r, argument, bytes_of(word), static_cast<Access>(word & 0xff));
  }
  const CompilersFlags flags;
  review_at_times(t);
}

extern "C" __attribute__((visibility("hidden"), used)) void handle_model_request(Thread* t, u64, u32 word) {
  const ModelThread& m = *model_thread(t);
  if (word >= python_entry_word && word <= python_return_word) return python_asked(t, word);
  if ((word & call_tag) != 0) return calls_asked(t, word);
  if ((word & 0xff) == jump_word) return jumps_asked(t, word);
  if (static_cast<Ask>(word & 0xff) == Ask::element_accesses) return model_element_accesses(t, word >> 8);
  process_string_elements(t, word, m.saved[0], m.saved[2], m.saved[3]);
}

void models_access(Thread* t, u64 address, u64 bytes, Ask what) {
  access_first(t, *cold_models_of(t), address, bytes, static_cast<Access>(what));
}

channel::NoteRing* note_ring(Thread* t, RingContent what) {
  if (what == RingContent::windows) return window_ring(t);
  return reinterpret_cast<channel::NoteRing*>(reinterpret_cast<u64>(cold_models_of(t)) + own_room() +
                                              static_cast<u32>(what) * channel::note_ring_bytes);
}

namespace {

/// Sets the address of the next access records or outcomes.
void set_next(Thread* t, RingContent what, u64 block) {
  if (what == RingContent::notes)
    model_thread(t)->next_note = reinterpret_cast<u64*>(block);
  else
    model_thread(t)->next_outcome = reinterpret_cast<u32*>(block);
}

bool attach_notes(Thread* t, bool goes_on) {
  if (settings().models.worker_count == 0) {
    model_thread(t)->next_note = cold_models_of(t)->note;
    model_thread(t)->next_outcome = cold_models_of(t)->outcome;
    return true;
  }
  for (const RingContent what : rings) {
    if (!uses(what)) continue;
    const u64 block = notes_attach(t, what, goes_on);
    if (block == 0) return false;
    set_next(t, what, block);
  }
  return true;
}

constexpr channel::NoteBlock last_of_ring = {.count = 0, .forks = 0, .closes = 1};

/// Appends a mark to each ring in use, after the records that the ring already holds.
void publish_mark(Thread* t, const channel::NoteBlock& mark) {
  if (settings().models.worker_count == 0) return;
  for (const RingContent what : rings)
    if (uses(what)) set_next(t, what, notes_publish(t, what, mark));
}

}  // namespace

bool models_attach(Thread* t, bool goes_on) {
  if (settings().models.on == 0) return true;
  if (!map_channel(reinterpret_cast<u64>(model_counts(t)), channel::model_counts_bytes,
                   channel::model_counts_offset(t->index)))
    return false;
  __atomic_or_fetch(&model_counts(t)->without, models_without_memory(), __ATOMIC_RELAXED);
  if (model_plan.goes_by_sites) sites_forget(t);
  if (goes_on) {
    model_thread(t)->record = cold_models_of(t)->access_log;
    return attach_notes(t, goes_on) && located_values_attach(t);
  }
  if (cold_models_of(t) == nullptr) {
    const u64 at = try_reserve(own_room() + access_log_room + rings_bytes() + located_values_bytes(), read_write);
    if (at == 0) return false;
    cold_models_of(t) = reinterpret_cast<ColdModels*>((at + access_log_room - 1) & ~(access_log_room - 1));
  } else {
    ColdModels* const rest = cold_models_of(t);
    discard_pages(rest, cold_model_bytes());
    discard_pages(reinterpret_cast<const void*>(reinterpret_cast<u64>(t) + 0x1000), jump_table_at - 0x1000);
    cold_models_of(t) = rest;
  }
  make_cold_models(t);
  return attach_notes(t, goes_on) && located_values_attach(t);
}

void models_drain(Thread* t) {
  if (settings().models.on == 0 || cold_models_of(t) == nullptr) return;
  drain(t, *cold_models_of(t));
  drain_outcomes(t, *cold_models_of(t));
  if (model_plan.each) play_access_log(t, *cold_models_of(t));
}

void models_settle(Thread* t) {
  models_drain(t);
  if (settings().models.worker_count == 0) return;
  for (const RingContent what : rings)
    if (uses(what)) notes_wait(t, what);
}

void models_before_fork(Thread* t, u32 process) { publish_mark(t, {.count = 0, .forks = process, .closes = 0}); }

void models_close(Thread* t) { publish_mark(t, last_of_ring); }

void models_after_fork() {
  llc_lock = Lock{};
  sites_after_fork();
}

void models_repeat(Thread* t, u64 rcx, u64 rsi, u64 rdi) {
  ModelThread& m = *model_thread(t);
  process_string_elements(t, static_cast<u32>(m.repeat_word), rcx, rsi, rdi);
}

}  // namespace tally::engine::instrument
