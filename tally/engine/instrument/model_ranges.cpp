#include "tally/engine/instrument/model_ranges.hpp"

#include <initializer_list>

#include "tally/engine/context.hpp"

namespace tally::engine::instrument {

namespace {

/// The ranges of each trace.
struct TraceRanges {
  u32 first, count;
  u32 op;  // the first operation of its paths
};
Growing<TraceRanges> ranges_of;
Growing<ModelRange> ranges;

}  // namespace

void ranges_init() {
  if (ranges.data != nullptr) return;
  ranges_of.init(1u << 20);
  ranges.init(8u << 20);
}

void add_ranges(u32 trace, const ModelRange* of, u32 n, u32 op) {
  if (ranges_of.size <= trace) ranges_of.size = trace + 1;
  ranges_of[trace] = {ranges.size, n, op};
  for (u32 i = 0; i < n && !ranges.full(); i++) ranges.add(of[i]);
}

bool models_have_room() {
  constexpr u32 ways_of_trace = 4 * ModelCode::branch_limit;
  return !model_plan.any() || ranges.data == nullptr ||
         (!ranges_of.full() && !ranges.full(ModelCode::range_limit) && element_accesses_have_room() &&
          (!model_plan.each || (!log_paths.full(ways_of_trace) && !log_ops.full(ModelCode::ops_limit))));
}

void models_forget_code() {
  if (!model_plan.any() || ranges.data == nullptr) return;
  ranges_of.reset(0);
  ranges.reset(0);
  element_accesses_forget_code();
  if (!model_plan.each) return;
  log_paths.reset(0);
  log_ops.reset(0);
}

u32 models_ranges_of(const Trace& trace, KeptModelRange* out) {
  const TraceRanges& r = ranges_of[static_cast<u32>(&trace - tables.traces.data)];
  const auto encoded = [](u8 reg) { return static_cast<u8>((reg == no_register ? u8{rsp} : reg) & 15); };
  for (u32 i = 0; i < r.count; i++) {
    const ModelRange& range = ranges[r.first + i];
    out[i] = {range.begin,
              range.end,
              encoded(range.a),
              encoded(range.b),
              encoded(range.note),
              encoded(range.page),
              static_cast<u8>(range.outcomes & 127),
              range.flags};
  }
  return r.count;
}

void models_take_ranges(u32 trace, const KeptModelRange* kept, u32 n) {
  ranges_init();
  const auto decoded = [](u8 reg) { return reg == rsp ? u8{no_register} : reg; };
  if (ranges_of.size <= trace) ranges_of.size = trace + 1;
  ranges_of[trace] = {ranges.size, n, 0};
  for (u32 i = 0; i < n && !ranges.full(); i++) {
    const KeptModelRange& k = kept[i];
    ranges.add(
        {k.begin, k.end, decoded(k.a), decoded(k.b), decoded(k.note), decoded(k.page), k.outcomes, k.flags != 0, {}});
  }
}

namespace {

/// Completes a log record that ends here.
void restore_record(Thread* t, Context* c, u32 first, PathProgress progress, bool repeats) {
  if (repeats) {
    for (const u8 reg : {rcx, rsi, rdi}) model_thread(t)->record[progress.words++] = c->reg(reg);
    progress.count++;
  }
  if (progress.count != 0)
    models_play_partial(t, {first, progress.count, progress.words, progress.outcomes, progress.branches});
}

}  // namespace

void restore_model_state(Thread* t, Context* c, const CacheLocation& s, bool repeats) {
  const u32 trace = static_cast<u32>(s.trace - tables.traces.data);
  if (trace >= ranges_of.size) return;
  const TraceRanges& r = ranges_of[trace];
  for (u32 i = 0; i < r.count; i++) {
    const ModelRange& range = ranges[r.first + i];
    if (s.offset < range.begin || s.offset >= range.end) continue;
    ModelThread& m = *model_thread(t);
    if (range.flags) {
      c->flags = (c->flags & ~u64{every_flag}) | (m.spilled_flags >> 8 & every_flag & ~u64{overflow}) |
                 (m.spilled_flags & 1 ? overflow : 0);
    }
    if (range.note != no_register) {
      m.next_note = reinterpret_cast<u64*>(c->reg(range.note));
      c->reg(range.note) = m.spill_note;
    }
    if (range.page != no_register) c->reg(range.page) = m.spill_page;
    if (range.a != no_register) c->reg(range.a) = m.spill[0], c->reg(range.b) = m.spill[1];
    m.next_outcome += range.outcomes;
    if (model_plan.each) restore_record(t, c, r.op, range.progress, repeats);
    return;
  }
}

}  // namespace tally::engine::instrument
