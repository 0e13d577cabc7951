#include "tally/engine/translate/instrumentation.hpp"

namespace tally::engine::translate {
namespace {

class NoInstrumentation final : public Instrumentation {};
class NoProbes final : public Probes {};
constinit NoInstrumentation no_instrumentation;
constinit NoProbes no_probes;

}  // namespace

constinit Instrumentation* instrumentation = &no_instrumentation;
constinit Probes* probes = &no_probes;
bool is_instrumented, is_probed;

void instrument_with(Instrumentation& by) {
  instrumentation = &by;
  is_instrumented = true;
}
void probe_with(Probes& by) {
  probes = &by;
  is_probed = true;
}

}  // namespace tally::engine::translate
