#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "tally/core/base/foreign_text.hpp"
#include "tally/core/base/text.hpp"
#include "tally/output/analysis/profile_sums.hpp"
#include "tally/output/analysis/whole_functions.hpp"
#include "tally/output/kit/grid.hpp"
#include "tally/output/text/code_listing.hpp"
#include "tally/output/text/count_cells.hpp"

namespace tally::output {
namespace {

constexpr std::uint32_t context = 3;  // lines shown before and after executed lines

/// The counts of the lines of one source file.
using LineRows = std::map<std::uint32_t, std::vector<std::int64_t>>;

bool is_source(std::string_view path, std::string_view name) {
  return path == name ||
         (path.size() > name.size() && path.ends_with(name) && path[path.size() - name.size() - 1] == '/');
}

// Expands tabs to four columns.
std::string source_line(std::string_view line) {
  constexpr std::size_t most = 400;  // a line of a generated or minified source can have megabytes
  std::string text;
  for (const char c : line.substr(0, 4 * (most + 1))) text += c == '\t' ? std::string(4, ' ') : std::string(1, c);
  return shortened(ForeignText(text).in_line(), most, 0);
}

std::vector<std::string> shown_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = text.find('\n', at);
    if (end == std::string::npos) end = text.size();
    std::string_view line(text.data() + at, end - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(source_line(line));
    at = end + 1;
  }
  return lines;
}

class Annotation {
 public:
  Annotation(const result::Profile& profile, std::string_view name) : profile_(profile), name_(name) {
    const auto called = functions_called(profile, name);
    const WholeFunctions whole(profile);
    for (std::size_t i = 0; i < profile.rows.size(); ++i) {
      const result::ProfileRow& row = profile.rows[i];
      const auto function = called.find(row.function);
      if (function != called.end() && profile.event_count() > 0)
        sums_.try_emplace(function->second, whole.get().functions[function->second].name, 0).first->second.second +=
            profile.count(i, 0);
      if (function == called.end() && !(row.source != 0 && is_source(profile.sources[row.source], name))) continue;
      found_ = true;
      if (row.line == 0) continue;
      objects_[row.source] = profile.functions[row.function].object;
      std::vector<std::int64_t>& counts = files_[row.source][row.line];
      counts.resize(profile.event_count());
      for (std::size_t e = 0; e < counts.size(); ++e) counts[e] += profile.count(i, e);
    }
  }

  Result<std::string> text(const SourceReader& read, std::size_t terminal) const {
    if (!found_)
      return fail(Code::bad_usage, fmt::format("no executed function or source file is called {}", printable(name_)),
                  "use a function name from the table, or a source file such as main.c; --top 0 shows all functions");
    if (files_.empty())
      return fail(Code::bad_usage, fmt::format("no line information for {}", printable(name_)),
                  "compile it with -g, or install its debug symbols");
    std::string text = several_text(terminal);
    for (const auto& [source, lines] : files_)
      text += file_text(profile_.sources[source], profile_.objects[objects_.at(source)].name, lines, read, terminal);
    return text;
  }

 private:
  // "sums of 2 functions: sum<int>(int) 1,234, …": which ones the lines have the counts of; empty for a single one.
  std::string several_text(std::size_t terminal) const {
    constexpr std::size_t most = 8;
    if (sums_.size() < 2) return "";
    std::vector<std::pair<std::int64_t, std::string>> sums;
    std::set<std::string> names;
    for (const auto& [whole, sum] : sums_) {
      sums.emplace_back(sum.second, sum.first);
      names.insert(sum.first);
    }
    std::sort(sums.rbegin(), sums.rend());
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < std::min(sums.size(), most); ++i)
      texts.push_back(printable(sums[i].second) + " " + thousands(sums[i].first));
    if (sums.size() > most) texts.push_back(fmt::format("{} more", sums.size() - most));
    return wrapped_lines(
        fmt::format("sums of {} functions, {}: {}{}\n\n", sums.size(), profile_.stat.events.front().total.name.text(),
                    join(texts, ", "),
                    names.size() == sums.size() ? "; --annotate with one of these names shows it alone" : ""),
        terminal);
  }

  std::string file_text(const std::string& path, const std::string& object, const LineRows& lines,
                        const SourceReader& read, std::size_t terminal) const {
    const std::optional<SourceFile> whole = read(path, object);
    const std::vector<std::string> source = whole ? shown_lines(whole->text) : std::vector<std::string>{};
    const CountCells numbers(profile_);
    std::vector<Column> columns = numbers.columns();
    const std::size_t counts_width = columns.size();
    columns.push_back(key_column("line", Align::right));
    columns.push_back({"source"});
    CodeListing listing(std::move(columns), counts_width + 1);
    std::set<std::uint32_t> shown;
    for (const auto& [line, counts] : lines)
      for (std::uint32_t near = line > context ? line - context : 1; near <= line + context; ++near)
        if (near == line || near <= source.size()) shown.insert(near);
    std::uint32_t last = 0;
    for (const std::uint32_t line : shown) {
      if (last != 0 && line != last + 1) {
        std::vector<std::string> gap(counts_width + 1);
        gap.emplace_back("…");
        listing.add(std::move(gap));
      }
      last = line;
      const auto counts = lines.find(line);
      std::vector<std::string> cells = numbers.cells(counts == lines.end() ? nullptr : &counts->second);
      cells.push_back(std::to_string(line));
      cells.push_back(line <= source.size() ? source[line - 1] : "");
      listing.add(std::move(cells));
    }
    const std::string remark = !whole ? " (the file is missing: only line numbers are shown)"
                               : whole->is_newer
                                   ? " (changed since the program was built: counts may be shown at wrong lines)"
                                   : "";
    return fmt::format("{}\n{}", wrapped_lines(printable(path) + remark + "\n", terminal), listing.text(terminal));
  }

  const result::Profile& profile_;
  std::string name_;
  bool found_ = false;
  std::map<std::uint32_t, std::pair<std::string, std::int64_t>> sums_;  // of whole functions: name, first event
  std::map<std::uint32_t, LineRows> files_;                             // by the index of the source file
  std::map<std::uint32_t, std::uint32_t> objects_;                      // an object that each source file is part of
};

}  // namespace

Result<std::string> annotated(const result::Profile& profile, std::string_view name, const SourceReader& read,
                              std::size_t terminal) {
  return Annotation(profile, name).text(read, terminal);
}

}  // namespace tally::output
