#include "tally/engine/translate/instrumentation.hpp"

namespace tally::engine::translate {
namespace {

class NoInstrumentation final : public Instrumentation {};
class NoProbes final : public Probes {};
constinit NoInstrumentation no_instrumentation;
constinit NoProbes no_probes;

/// Two sets of probes: marks, and those of calls or jumps.
class JoinedProbes final : public Probes {
 public:
  void join(Probes& first, Probes& second) {
    first_ = &first;
    second_ = &second;
  }
  bool begins_at(u64 pc) const override { return first_->begins_at(pc) || second_->begins_at(pc); }
  bool begins_at(const Instruction& in) const override { return first_->begins_at(in) || second_->begins_at(in); }
  void begin_trace(Builder& b, const Instruction& in) override {
    first_->begin_trace(b, in);
    second_->begin_trace(b, in);
  }
  void counted(Builder& b, u32 number) override {
    first_->counted(b, number);
    second_->counted(b, number);
  }
  bool passes_calls() const override { return first_->passes_calls() && second_->passes_calls(); }
  void called(Builder& b, const Instruction& site, bool direct) override {
    first_->called(b, site, direct);
    second_->called(b, site, direct);
  }
  /// Only one of them may emit code that continues at the target.
  bool returns(Builder& b, const Instruction& in) override { return first_->returns(b, in) || second_->returns(b, in); }
  bool jumps(Builder& b, const Instruction& in) override { return first_->jumps(b, in) || second_->jumps(b, in); }
  void jumped(Thread* t) override {
    first_->jumped(t);
    second_->jumped(t);
  }
  void make_gates(Arena& a) override {
    first_->make_gates(a);
    second_->make_gates(a);
  }
  bool has_room() const override { return first_->has_room() && second_->has_room(); }
  void discarded() override {
    first_->discarded();
    second_->discarded();
  }

 private:
  Probes *first_ = nullptr, *second_ = nullptr;
};
constinit JoinedProbes joined_probes;

}  // namespace

constinit Instrumentation* instrumentation = &no_instrumentation;
constinit Probes* probes = &no_probes;
bool is_instrumented, is_probed;

void instrument_with(Instrumentation& by) {
  instrumentation = &by;
  is_instrumented = true;
}
void probe_with(Probes& by) {
  if (is_probed) joined_probes.join(*probes, by);
  probes = is_probed ? static_cast<Probes*>(&joined_probes) : &by;
  is_probed = true;
}

}  // namespace tally::engine::translate
