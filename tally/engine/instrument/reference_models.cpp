// The plain models in the engine: they process the access log.
#include <new>

#include "tally/engine/instrument/cold_models.hpp"
#include "tally/engine/instrument/located_probes.hpp"

namespace tally::engine::instrument {
namespace {

models::Hierarchy& plain_caches(ColdModels& r) { return *reinterpret_cast<models::Hierarchy*>(r.plain_caches); }
models::Tlbs& plain_tlbs(ColdModels& r) { return *reinterpret_cast<models::Tlbs*>(r.plain_tlbs); }
models::Branches& plain_branches(ColdModels& r) { return *reinterpret_cast<models::Branches*>(r.plain_branches); }

void add_counts(channel::ModelValues& values, ColdModels& r) {
  Values& v = values_of(values);
  v.caches.add(plain_caches(r).counts());
  v.tlbs.add(plain_tlbs(r).counts());
  v.branches.add(plain_branches(r).counts());
}

/// Publishes their counts: as `plain` if models are compared; as `values` if not, or if generated code probes nothing.
void publish_counts(Thread* t, ColdModels& r) {
  channel::ModelCounts& c = *model_counts(t);
  const bool alone = !model_plan.branches && !model_plan.code() && !model_plan.data();
  if (settings().models.compared != 0) add_counts(c.plain, r);
  if (settings().models.compared == 0 || alone) add_counts(c.values, r);
  plain_caches(r).clear_counts();
  plain_tlbs(r).clear_counts();
  plain_branches(r).clear_counts();
}

void play(Thread* t, ColdModels& r, const models::LogPath* all, const u64* from, const u64* to) {
  const models::Models models{&plain_caches(r), on(channel::model_tlbs) ? &plain_tlbs(r) : nullptr, &plain_branches(r),
                              on(channel::model_l1i), on(channel::model_l1d)};
  const bool shares = settings().models.own_llc == 0 && on(channel::model_lower);
  models::MissedBranches* const missed =
      settings().models.compared == 0 ? &missed_of(model_counts(t)->missed) : nullptr;
  if (shares) llc_lock.take();
  if (places_misses()) {
    ValueRecorder placer(t, plain_caches(r).counts(), plain_tlbs(r).counts(), plain_branches(r).counts());
    models::play(models, all, log_ops.data, from, to, &placer, missed);
  } else {
    models::play(models, all, log_ops.data, from, to, nullptr, missed);
  }
  if (shares) llc_lock.release();
  publish_counts(t, r);
}

}  // namespace

void make_plain(ColdModels& r, const models::Hierarchy& caches, const models::Tlbs& tlbs) {
  new (r.plain_caches) models::Hierarchy(caches);
  new (r.plain_tlbs) models::Tlbs(tlbs);
  new (r.plain_branches) models::Branches();
}

TALLY_NO_SAVES __attribute__((noinline)) void play_access_log(Thread* t, ColdModels& r) {
  const CompilersFlags flags;
  ModelThread& m = *model_thread(t);
  play(t, r, log_paths.data, r.access_log, m.record);
  m.record = r.access_log;
}

void models_play_partial(Thread* t, const models::LogPath& path) {
  ColdModels& r = *cold_models_of(t);
  u64* const record = model_thread(t)->record;
  play_access_log(t, r);
  record[0] = 0;
  play(t, r, &path, record, record + path.words);
}

}  // namespace tally::engine::instrument
