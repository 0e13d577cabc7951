#include "tally/counting/profile/mapped_names.hpp"

#include <optional>

#include "tally/linux/files/file_state.hpp"

namespace tally::profile {
namespace {

using NamesFound = Result<MappedNames>;

constexpr const char* file_missing =
    "the file does not exist here: it was removed, or the program had another root directory or mount namespace";

bool is_unchanged(const linux::FileState& now, const result::FileIdentity& then) {
  return now == linux::FileState{then.device, then.inode, then.bytes, then.modified_s, then.modified_ns};
}

/// Checks files for which only the device and inode from the list of mappings are known. A file system with several
/// devices shows other device numbers there, so only the inode is compared.
NamesFound names_by_inode(const result::CodeFile& file) {
  if (file.kept != nullptr) {
    auto names = CodeNames::open(file.path, *file.kept);
    if (!names) return fail(names.error());
    return MappedNames{*std::move(names), true};
  }
  const auto now = linux::file_state(file.path);
  if (!now) return fail(Code::bad_usage, file_missing);
  const std::int64_t changed_ns = now->modified_s * 1'000'000'000 + now->modified_ns;
  if (now->inode != file.inode || (file.mapped_ns != 0 && changed_ns > file.mapped_ns))
    return fail(Code::bad_usage, "the file was replaced after its code ran");
  if (const auto generation = linux::generation_of(file.path);
      file.generation != 0 && generation && *generation != file.generation)
    return fail(Code::bad_usage, "the file was replaced after its code ran");
  auto names = CodeNames::open(file.path);
  if (!names) return fail(names.error());
  return MappedNames{*std::move(names)};
}

/// Whether the names come from a file with this build ID, if both have one. Modification times can be set, and sizes
/// are often equal.
bool have_build_id(const CodeNames& names, const std::string& build_id) {
  const std::string own = build_id.empty() ? std::string() : names.build_id();
  return own.empty() || own == build_id;
}

}  // namespace

NamesFound names_of_mapped(const result::CodeFile& file) {
  if (!file.identity) return names_by_inode(file);
  const result::FileIdentity& then = *file.identity;
  if (then.inode == 0 && then.build_id.empty())
    return fail(Code::bad_usage, "the file could not be opened when its code first ran");
  const auto now = linux::file_state(file.path);
  const bool is_same_file = now && is_unchanged(*now, then);
  if (is_same_file) {
    auto names = CodeNames::open(file.path);
    if (!names) return fail(names.error());
    if (have_build_id(**names, then.build_id)) return MappedNames{*std::move(names)};
  }
  if (file.kept != nullptr) {
    auto names = CodeNames::open(file.path, *file.kept);
    if (!names) return fail(names.error());
    if (have_build_id(**names, then.build_id)) return MappedNames{*std::move(names), true};
  }
  if (now && !is_same_file && !then.build_id.empty())
    if (auto names = CodeNames::open(file.path); names && (*names)->build_id() == then.build_id)
      return MappedNames{*std::move(names)};
  if (!now) return fail(Code::bad_usage, file_missing);
  if (then.inode == 0 || now->device == then.device)
    return fail(Code::bad_usage, "the file was replaced after its code ran");
  return fail(
      Code::bad_usage,
      "the path names another file: it was replaced, or the program had another root directory or mount namespace");
}

}  // namespace tally::profile
