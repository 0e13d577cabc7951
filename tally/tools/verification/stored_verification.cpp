#include "tally/tools/verification/stored_verification.hpp"

#include "tally/linux/files/cache_file.hpp"
#include "tally/linux/files/memory_file.hpp"
#include "tally/linux/files/state_folder.hpp"
#include "tally/output/result/stored.hpp"
#include "tally/tools/verification/verification_remarks.hpp"

namespace tally::verify {
namespace {

constexpr std::uint64_t most_bytes = 16 << 20;  // a verification has about 30 KB

std::string kept_name(const std::string& backend) { return "verify-" + backend + ".json"; }

}  // namespace

void store_verification(const std::string& backend, const std::string& json) {
  const std::string path = linux::cache_folder();
  if (path.empty()) return;
  if (const auto folder = linux::StateFolder::open(path, true)) (void)folder->write(kept_name(backend), json);
}

std::vector<std::string> verification_remarks(const result::Stat& stat) {
  const std::string path = linux::cache_folder(), name = kept_name(stat.backend);
  if (path.empty() || !linux::exists(path + "/" + name)) return {};
  const auto folder = linux::StateFolder::open(path, false);
  if (!folder) return {};
  const auto text = folder->read(name, most_bytes);
  if (!text) return {};
  const auto verify = result::read_verify(*text, name);
  if (!verify || !is_of(*verify, stat.backend, stat.environment)) return {};
  return remarks(*verify, stat);
}

}  // namespace tally::verify
