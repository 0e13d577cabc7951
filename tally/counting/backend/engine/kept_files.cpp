#include "tally/counting/backend/engine/kept_files.hpp"

#include <utility>

namespace tally::backend::engine {
namespace {

// Copying this many bytes takes a millisecond.
constexpr std::uint64_t small_bytes = 4ull << 20;
constexpr std::uint64_t most_bytes = 64ull << 20, most_bytes_of_all = 512ull << 20;

}  // namespace

KeptFiles::KeptFiles() : limit_(linux::descriptor_limit() / 2) {
  for (const char* const path : {"/", "."})
    if (const auto mount = linux::mount_of(path)) mounts_in_use_.insert(*mount);
}

void KeptFiles::keep(linux::Descriptor file) {
  const auto state = linux::file_state(file.get());
  if (!state || files_.size() >= limit_ || files_.contains(key(*state))) return;
  if (linux::may_wait_for_others(file.get())) return;
  const auto mount = linux::mount_of(file.get());
  const bool may_hold = mount && mounts_in_use_.contains(*mount);
  const bool may_copy =
      state->bytes <= (may_hold ? small_bytes : most_bytes) && state->bytes <= most_bytes_of_all - copied_;
  if (may_copy) {
    linux::Descriptor copy = linux::copy_to_memory(file.get(), state->bytes);
    if (!copy || linux::file_state(file.get()) != state) return;
    copied_ += state->bytes;
    file = std::move(copy);
  } else if (!may_hold) {
    return;
  }
  const int number = file.get();
  files_[key(*state)] = std::make_shared<const Kept>(Kept{std::move(file), number, may_copy});
}

std::shared_ptr<const int> KeptFiles::find(const result::FileIdentity& identity) const {
  const linux::FileState then{identity.device, identity.inode, identity.bytes, identity.modified_s,
                              identity.modified_ns};
  const auto found = files_.find(key(then));
  if (found == files_.end()) return nullptr;
  const std::shared_ptr<const Kept>& kept = found->second;
  if (!kept->is_copy && linux::file_state(kept->number) != then) return nullptr;
  return {kept, &kept->number};
}

}  // namespace tally::backend::engine
