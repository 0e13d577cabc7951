#include "tally/output/registry/readers.hpp"

#include <fmt/format.h>

#include <span>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/output/result/stored.hpp"
#include "tally/output/result/stored_hpctool.hpp"
#include "tally/output/result/stored_profile.hpp"
#include "tally/output/result/stored_windows.hpp"

namespace tally::output {
namespace {

template <class T>
AnyResults any_of(Result<T> one) {
  if (!one) return fail(one.error());
  std::vector<result::AnyResult> all;
  all.emplace_back(*std::move(one));
  return all;
}

template <class T>
AnyResults any_of(Result<std::vector<T>> several) {
  if (!several) return fail(several.error());
  std::vector<result::AnyResult> all;
  for (T& one : *several) all.emplace_back(std::move(one));
  return all;
}

}  // namespace

bool is_stat_json(const StoredFile& file) { return result::is_stat(file.text); }
AnyResults read_stat_json(const StoredFile& file) { return any_of(result::read_stats(file.text, file.name)); }

bool is_stat_csv(const StoredFile& file) { return file.text.starts_with("run,interval_ns,"); }

namespace {

// Whether tally wrote the rows of a file of HPCTool as windows.
bool are_described_as_windows(const StoredFile& file) {
  return file.description.starts_with(R"({"schema":"tally-windows/)");
}

}  // namespace

bool is_stat_hpctool(const StoredFile& file) {
  return result::is_hpctool(file.text) && !are_described_as_windows(file);
}
AnyResults read_stat_hpctool(const StoredFile& file) {
  return any_of(result::read_hpctool(file.text, file.name, file.description));
}

bool is_memory_json(const StoredFile& file) { return result::is_memory(file.text); }
AnyResults read_memory_json(const StoredFile& file) { return any_of(result::read_memories(file.text, file.name)); }

bool is_profile_json(const StoredFile& file) { return result::is_profile(file.text); }
AnyResults read_profile_json(const StoredFile& file) { return any_of(result::read_profile(file.text, file.name)); }

bool are_windows_csv(const StoredFile& file) { return result::windows_form(file.text) == result::WindowsForm::csv; }
bool are_windows_lines(const StoredFile& file) {
  return result::windows_form(file.text) == result::WindowsForm::json_lines;
}
bool are_windows_hpctool(const StoredFile& file) {
  if (result::windows_form(file.text) != result::WindowsForm::hpctool) return false;
  if (are_described_as_windows(file)) return true;
  return !result::is_stat(file.description) && result::are_hpctool_windows(file.text);
}
AnyResults read_windows(const StoredFile& file) {
  return any_of(result::read_windows_text(file.text, file.name, file.description));
}

bool is_verify_json(const StoredFile& file) { return result::is_verify(file.text); }
AnyResults read_verify_json(const StoredFile& file) { return any_of(result::read_verify(file.text, file.name)); }

bool is_lab_json(const StoredFile& file) { return result::is_lab(file.text); }
AnyResults read_lab_json(const StoredFile& file) { return any_of(result::read_lab(file.text, file.name)); }

}  // namespace tally::output
