#include "tally/output/analysis/function_digests.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "tally/core/base/fnv_hash.hpp"
#include "tally/output/analysis/profile_sums.hpp"

namespace tally::output {
namespace {

class Digest {
 public:
  void add(std::string_view text) { hash_ = fnv_hash64("\n", fnv_hash64(text, hash_)); }
  void add(std::uint64_t number) {
    for (int i = 0; i < 8; ++i) {
      const auto byte = static_cast<char>(number >> (8 * i));
      hash_ = fnv_hash64({&byte, 1}, hash_);
    }
  }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = fnv_basis64;
};

class SourceLines {
 public:
  explicit SourceLines(const SourceReader& read) : read_(read) {}

  /// The text of a line, from 1; nothing if it is unknown.
  std::optional<std::string_view> line(const std::string& path, const std::string& object, std::uint32_t number) {
    const auto [entry, is_new] = files_.try_emplace(path);
    File& file = entry->second;
    if (is_new) file.read(path, object, read_);
    if (number == 0 || number >= file.begins.size()) return std::nullopt;
    const std::size_t begin = file.begins[number - 1];
    return std::string_view(file.text).substr(begin, file.begins[number] - begin);
  }

 private:
  struct File {
    std::string text;
    std::vector<std::size_t> begins;  // of each line, and the end
    void read(const std::string& path, const std::string& object, const SourceReader& read) {
      auto source = read(path, object);
      if (!source || source->is_newer) return;
      text = std::move(source->text);
      begins.push_back(0);
      for (std::size_t at = text.find('\n'); at != text.npos; at = text.find('\n', at + 1)) begins.push_back(at + 1);
      if (begins.back() != text.size()) begins.push_back(text.size());
    }
  };
  const SourceReader& read_;
  std::map<std::string, File> files_;
};

/// A line, in an order that does not depend on the profile.
using Line = std::tuple<std::string, std::uint32_t, std::uint32_t>;  // file name, line, source

/// The lines of a function: those that it executed, and those between its beginning and the last of them.
std::set<Line> lines_of(const result::Profile& profile, const result::ProfileFunction& function,
                        const LineCounts& executed) {
  std::set<Line> lines;
  std::uint32_t last = 0;
  for (const auto& [at, counts] : executed) {
    if (at.second == 0) continue;
    lines.emplace(file_name(profile.sources[at.first]), at.second, at.first);
    if (at.first == function.source) last = std::max(last, at.second);
  }
  constexpr std::uint32_t longest = 10'000;
  if (function.line != 0 && last < function.line + longest)
    for (std::uint32_t line = function.line; line <= last; ++line)
      lines.emplace(file_name(profile.sources[function.source]), line, function.source);
  return lines;
}

std::uint64_t source_digest(const result::Profile& profile, const result::ProfileFunction& function,
                            const LineCounts& executed, SourceLines& source) {
  const std::set<Line> lines = lines_of(profile, function, executed);
  if (lines.empty()) return 0;
  Digest digest;
  for (const auto& [name, number, path] : lines) {
    const auto text = source.line(profile.sources[path], profile.objects[function.object].name, number);
    if (!text) return 0;
    digest.add(*text);
  }
  return digest.value();
}

}  // namespace

std::vector<FunctionDigests> digests_of(const result::Profile& profile, const SourceReader& read) {
  std::vector<FunctionDigests> all(profile.functions.size());
  for (std::size_t f = 0; f < all.size(); ++f)
    all[f] = {profile.functions[f].source_digest, profile.functions[f].code_digest};
  if (!read || profile.is_sampled()) return all;
  std::vector<std::set<std::uint64_t>> offsets(all.size());
  for (const result::ProfileRow& row : profile.rows)
    offsets[row.function].insert(row.address - profile.functions[row.function].address);
  const std::vector<LineCounts> lines = lines_of_functions(profile);
  SourceLines source(read);
  for (std::size_t f = 0; f < all.size(); ++f) {
    if (all[f].source != 0 || all[f].code != 0 || offsets[f].empty()) continue;
    all[f].source = source_digest(profile, profile.functions[f], lines[f], source);
    Digest code;
    for (const std::uint64_t offset : offsets[f]) code.add(offset);
    if (all[f].source != 0) all[f].code = code.value();
  }
  return all;
}

}  // namespace tally::output
