#include "tally/linux/files/git.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>

#include "tally/core/base/text.hpp"
#include "tally/linux/files/input.hpp"

namespace tally::linux {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t most_bytes_of_ref = 4096;
constexpr std::uint64_t most_packed_bytes = 256 << 20;
constexpr int longest_chain = 5;  // of symbolic refs, as in git

// The text of a small file, without white space at its ends.
std::optional<std::string> small_text(const fs::path& path) {
  auto text = read_regular_file(path.string(), most_bytes_of_ref);
  if (!text) return std::nullopt;
  return trimmed(*text);
}

// SHA-1 has 40 digits, SHA-256 has 64.
bool is_hash(std::string_view text) {
  return (text.size() == 40 || text.size() == 64) &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// A ref is a path below the repository: it must not lead out of it.
bool is_ref(std::string_view name) {
  return name.starts_with("refs/") && name.find("..") == std::string_view::npos &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) { return c > ' ' && c != 0x7f; });
}

// The directories of a repository; they differ in linked worktrees.
struct Repository {
  fs::path own;     // HEAD
  fs::path common;  // branches
};

std::optional<Repository> repository_at(const fs::path& folder) {
  const fs::path git = folder / ".git";
  std::error_code error;
  fs::path own = git;
  if (fs::is_regular_file(git, error)) {
    const auto text = small_text(git);
    if (!text || !text->starts_with("gitdir: ")) return std::nullopt;
    own = folder / text->substr(8);  // an absolute path replaces the folder
  }
  if (!fs::exists(own / "HEAD", error)) return std::nullopt;
  const auto common = small_text(own / "commondir");
  return Repository{own, common && !common->empty() ? own / *common : own};
}

std::string packed_commit(const Repository& repository, std::string_view name) {
  const auto text = read_regular_file((repository.common / "packed-refs").string(), most_packed_bytes);
  if (!text) return {};
  for (std::string_view rest = *text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const std::size_t blank = line.find(' ');
    if (blank == std::string_view::npos || line.substr(blank + 1) != name) continue;
    return is_hash(line.substr(0, blank)) ? std::string(line.substr(0, blank)) : std::string();
  }
  return {};
}

std::string commit_of(const Repository& repository) {
  auto text = small_text(repository.own / "HEAD");
  for (int i = 0; text && i < longest_chain; ++i) {
    if (is_hash(*text)) return *text;
    if (!text->starts_with("ref: ")) return {};
    const std::string name = trimmed(std::string_view(*text).substr(5));
    if (!is_ref(name)) return {};
    text = small_text(repository.own / name);
    if (!text) text = small_text(repository.common / name);
    if (!text) return packed_commit(repository, name);
  }
  return {};
}

}  // namespace

std::string git_commit(const std::string& folder) {
  std::error_code error;
  for (fs::path at = fs::absolute(folder, error); !error && !at.empty(); at = at.parent_path()) {
    if (const auto repository = repository_at(at)) return commit_of(*repository);
    if (at == at.root_path()) break;
  }
  return {};
}

}  // namespace tally::linux
