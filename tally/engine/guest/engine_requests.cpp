// Replies to a program that asks what it has executed (tally/engine/channel/count_request.hpp).
#include "tally/engine/guest/engine_requests.hpp"

#include "tally/engine/channel/count_request.hpp"
#include "tally/engine/guest/failing.hpp"
#include "tally/engine/guest/guest_signals.hpp"
#include "tally/engine/instrument/asked_values.hpp"
#include "tally/engine/instrument/model_probes.hpp"
#include "tally/engine/instrument/running_cycles.hpp"

namespace tally::engine::guest {

namespace {

template <class T>
s64 give(u64 to, u64 bytes, T (*of)(Thread*), Thread* t) {
  constexpr s64 bad_address = -EFAULT, invalid = -EINVAL;
  if (bytes != sizeof(T)) return invalid;
  T what = of(t);
  return put(to, &what, sizeof what) == 0 ? 0 : bad_address;
}

channel::AskedModels models_of(Thread* t) {
  channel::AskedModels models{settings().models, 0, settings().mix};
  if (models.models.on == 0) return models;
  models.without = model_counts(t)->without;
  if ((models.models.on & channel::model_core) != 0 && !running_cycles_asked(t)) models.without |= channel::model_core;
  return models;
}

channel::AskedValues values_of(Thread* t) {
  prepare_values(t);
  return counted_values(t, true);
}

}  // namespace

s64 answer(Thread* t, u64 asked, u64 to, u64 bytes) {
  switch (asked) {
    case channel::ask_version: return channel::asking_version;
    case channel::ask_totals: return give(to, bytes, asked_totals, t);
    case channel::ask_models: return give(to, bytes, models_of, t);
    case channel::ask_values: return give(to, bytes, values_of, t);
    case channel::ask_killed: return settings().fails_on_request != 0 ? kill_as_requested(t, to) : -EINVAL;
    case channel::ask_failed: return settings().fails_on_request != 0 ? fail_as_requested(t, to) : -EINVAL;
    default: return -EINVAL;
  }
}

}  // namespace tally::engine::guest
