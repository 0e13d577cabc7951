#include "tally/engine/models/access_log.hpp"

namespace tally::models {
namespace {

void access(const Models& models, std::uint64_t address, std::uint64_t bytes, Access what) {
  if (what == Access::fetch ? models.fetches : models.accesses) models.caches->access(address, bytes, what);
  if (models.tlbs != nullptr) models.tlbs->access(address, bytes, what);
}

void repeat(const Models& models, const Repeat& r, const std::uint64_t* words) {
  const Repetition done(r, words);
  std::uint64_t from = done.from, to = done.to;
  if (models.caches != nullptr) models.caches->count_string_steps(r.steps(done.elements));
  const std::uint64_t step = done.down ? 0 - std::uint64_t{r.bytes} : r.bytes;
  for (std::uint64_t left = done.elements; left > 0; --left) {
    if (r.from) access(models, from, r.bytes, Access::load);
    if (r.to) access(models, to, r.bytes, r.to_stores ? Access::store : Access::load);
    from += step;
    to += step;
  }
}

void access_elements(const Models& models, const std::uint64_t* words) {
  for (std::uint64_t i = 0; i < words[0]; ++i) {
    const ElementAccess element = ElementAccess::of(words + 1 + 2 * i);
    access(models, element.address, element.bytes, element.what);
  }
}

}  // namespace

Repetition::Repetition(const Repeat& repeat, const std::uint64_t* words) {
  const std::uint64_t mask = repeat.low ? 0xffffffff : ~std::uint64_t{0};
  elements = (words[0] - words[3]) & mask;
  from = words[1] & mask;
  to = words[2] & mask;
  const unsigned moves = repeat.from ? 1 : 2;
  down = (words[moves + 3] & mask) < (words[moves] & mask);
}

void play(const Models& models, const LogPath* paths, const Op* ops, const std::uint64_t* access_log,
          const std::uint64_t* end, Observer* observer, MissedBranches* missed) {
  for (; access_log < end; access_log += paths[*access_log].words) {
    const LogPath& path = paths[*access_log];
    unsigned left = path.branches;
    const std::uint64_t last = access_log[path.words - 1];
    for (const Op *op = ops + path.first, *const end_op = op + path.count; op != end_op; ++op) {
      switch (op->what) {
        case Step::load:
        case Step::store:
        case Step::modify:
        case Step::chase:
        case Step::chase_store:
        case Step::chase_modify:
        case Step::busy_load:
        case Step::updated_load:
        case Step::deciding_load: access(models, access_log[op->word], op->bytes, static_cast<Access>(op->what)); break;
        case Step::fetch: access(models, op->at, op->bytes, Access::fetch); break;
        case Step::repeat: repeat(models, Repeat::of(op->at), access_log + op->word); break;
        case Step::element_accesses: access_elements(models, access_log + op->word); break;
        case Step::conditional: {
          const bool taken = (path.outcomes >> --left & 1) != 0;
          const std::uint64_t before = models.branches->counts().conditional_misses;
          models.branches->conditional(op->at, taken);
          const Outcome outcome = outcome_of(op->at, taken);
          if (missed != nullptr) missed->add_all(&outcome, models.branches->counts().conditional_misses - before);
          break;
        }
        case Step::call: models.branches->call(op->at + op->bytes); break;
        case Step::indirect_jump:
        case Step::indirect_call: {
          const std::uint64_t target = op->target != 0 ? op->target : last;
          const std::uint64_t before = models.branches->counts().indirect_misses;
          if (op->what == Step::indirect_jump)
            models.branches->indirect_jump(op->at, target);
          else
            models.branches->indirect_call(op->at, target, op->at + op->bytes);
          const Outcome words[] = {indirect_outcome_of(op->at), static_cast<Outcome>(target)};
          if (missed != nullptr) missed->add_all(words, 2 * (models.branches->counts().indirect_misses - before));
          break;
        }
        case Step::ret: models.branches->ret(last); break;
      }
      if (observer != nullptr) observer->stepped(op->site());
    }
  }
}

}  // namespace tally::models
