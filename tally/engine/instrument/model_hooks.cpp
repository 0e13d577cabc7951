// Connects the models to translation.
#include "tally/engine/instrument/model_code.hpp"
#include "tally/engine/instrument/sites.hpp"
#include "tally/engine/translate/arenas.hpp"
#include "tally/engine/translate/instrumentation.hpp"

namespace tally::engine::instrument {
namespace {

class ModelInstrumentation final : public Instrumentation {
 public:
  void begin_trace() override { model_code.begin_trace(); }
  void begin_segment(Builder& b, const Instruction* in, u32 n, u16 live, const u16* live_at_exits,
                     const u64* executions) override {
    model_code.begin_segment(b, in, n, live, live_at_exits, executions);
  }
  void open_first(Builder& b) override { model_code.open_first(b); }
  void before(Builder& b, u32 i, bool leaves) override { model_code.before(b, i, leaves); }
  void after(Builder& b, u32 i) override { model_code.after(b, i); }
  void indirect(Builder& b, const Instruction& in) override { model_code.indirect(b, in); }
  void conditional(Builder& b, u32 i, u32 segment, u16 live_there) override {
    model_code.conditional(b, i, segment, live_there);
  }
  void begin_exit(Builder& b, u32 i, bool taken, u16 live) override { model_code.begin_side_exit(b, i, taken, live); }
  void stay(Builder& b, const Instruction& in, bool taken, u16 live) override { model_code.stay(b, in, taken, live); }
  void emit_exit(Builder& b, u32 n) override { model_code.emit_side_exit(b, n); }
  void emit_exits(Builder& b) override { model_code.emit_side_exits(b); }
  void leave(Builder& b, u16 live) override { model_code.leave(b, live); }
  u32 loops(Builder& b) override { return model_code.loops(b); }
  void end_trace(Builder& b, u32 trace) override { model_code.end_trace(b, trace); }
  u8 spared(u8 reg) const override { return model_code.spared(reg); }
  u16 live_before(u32 i) const override { return model_code.live_before(i); }

  bool depends_on_accesses() const override { return model_plan.goes_by_sites; }
  void count_accesses() override { sites_count_up(); }
  bool is_out_of_date(u64 pc, u64 executions) const override { return has_become_unstable(pc, executions); }

  bool has_room() const override { return models_have_room(); }
  void discarded() override { models_forget_code(); }
  void make_gates(Arena& a) override {
    a.to_model = make_gate(a, enter_model);
    a.to_lookup = make_gate(a, enter_lookup);
  }
  void stepped(Thread* t, const Instruction& in) override {
    channel::UnseenValues& unseen = model_counts(t)->unseen;
    unseen.instructions++;
    unseen.accesses += u32{in.loads} + in.stores;
  }
};

constinit ModelInstrumentation hooks;

}  // namespace

void instrument_with_models() {
  if (model_plan.any()) instrument_with(hooks);
}

}  // namespace tally::engine::instrument
