#include "tally/cli/kept.hpp"

#include "tally/linux/files/cache_file.hpp"
#include "tally/linux/files/input.hpp"
#include "tally/linux/files/memory_file.hpp"
#include "tally/linux/files/output.hpp"
#include "tally/linux/process/scratch_folder.hpp"
#include "tally/report/verify.hpp"
#include "tally/result/stored.hpp"
#include "tally/verify/remarks.hpp"

namespace tally::cli {
namespace {

std::string path_of(const std::string& backend) {
  const std::string folder = linux::cache_folder();
  return folder.empty() ? "" : folder + "/verify-" + backend + ".json";
}

}  // namespace

void keep(const result::Verify& verify) {
  const std::string path = path_of(verify.backend);
  if (path.empty() || !linux::make_folder(linux::cache_folder())) return;
  if (auto file = linux::Output::open_file(path)) (void)file->write(report::verify_json(verify));
}

std::vector<std::string> kept_remarks(const result::Stat& stat) {
  const std::string path = path_of(stat.backend);
  if (path.empty() || !linux::exists(path)) return {};
  const auto text = linux::read_file(path);
  if (!text) return {};
  const auto verify = result::read_verify(*text, path);
  if (!verify || !verify::is_of(*verify, stat.backend, stat.environment)) return {};
  return verify::remarks(*verify, stat);
}

}  // namespace tally::cli
