// Lines of source on the page of a profile.
#include <algorithm>

#include "tally/core/base/foreign_text.hpp"
#include "tally/core/base/text.hpp"
#include "tally/output/analysis/profile_sums.hpp"
#include "tally/output/html/profile_page.hpp"

namespace tally::output {
namespace {

constexpr std::size_t most_source_bytes = 2 << 20;  // on one page

/// A line as shown on a page, shortened, because generated sources may have lines of megabytes.
std::string shown_line(std::string_view line) {
  constexpr std::size_t most = 300;
  if (line.ends_with('\r')) line.remove_suffix(1);
  std::string text;
  for (const char c : line.substr(0, 4 * (most + 1))) text += c == '\t' ? std::string(4, ' ') : std::string(1, c);
  return shortened(ForeignText(text).in_line(), most, 0);
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

}  // namespace

bool is_source_name(const std::string& path) {
  constexpr std::string_view endings[] = {
      "C",   "F",   "F90",  "H",   "S",     "adb",   "ads", "asm", "c",   "c++",  "cc", "cpp", "cr",  "cs",  "cu",
      "cuh", "cxx", "d",    "def", "f",     "f90",   "for", "go",  "h",   "h++",  "hh", "hpp", "hs",  "hxx", "inc",
      "inl", "ipp", "java", "jl",  "js",    "kt",    "l",   "lua", "m",   "ml",   "mm", "nim", "pas", "pl",  "py",
      "pyx", "rb",  "rs",   "s",   "scala", "swift", "tcc", "ts",  "txx", "vala", "y",  "zig"};
  const std::string name = file_name(path);
  const std::size_t dot = name.rfind('.');
  return dot != std::string::npos && dot != 0 &&
         std::find(std::begin(endings), std::end(endings), std::string_view(name).substr(dot + 1)) != std::end(endings);
}

const std::vector<std::string>& SourceText::file(const std::string& path, const std::string& object) {
  const auto [found, is_new] = files_.try_emplace(path);
  if (!is_new || !is_source_name(path)) return found->second;
  const std::optional<SourceFile> file = read_(path, object);
  if (!file) return found->second;
  if (file->is_newer) newer_.emplace_back(file_name(path));
  return found->second = split_lines(file->text);
}

std::string SourceText::line(const std::string& path, const std::string& object, std::uint32_t line) {
  if (!read_ || path.empty() || bytes_ >= most_source_bytes) return {};
  const std::vector<std::string>& lines = file(path, object);
  if (line == 0 || line > lines.size()) return {};
  std::string text = shown_line(lines[line - 1]);
  bytes_ += text.size();
  return text;
}

}  // namespace tally::output
