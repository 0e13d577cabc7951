#include "tally/output/kinds/format.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tally/core/base/text.hpp"

namespace tally::output {
namespace {

constexpr std::size_t help_width = 80;  // of help texts

}  // namespace

std::string_view source_name(Kind kind) {
  switch (kind) {
    case Kind::profile: return "tally profile";
    case Kind::comparison: return "tally compare";
    case Kind::windows: return "tally sample";
    case Kind::discovery: return "tally discover";
    case Kind::memory: return "tally memory";
    case Kind::lab: return "tally lab";
    case Kind::verify: return "tally verify";
    case Kind::regions: return "TALLY_OUTPUT";
    case Kind::stat: return "tally stat";
    case Kind::assembly: return "tally stat --asm";
    case Kind::watch: return "tally watch";
  }
  return "";
}

std::size_t matched_name_length(const Format& format, std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  std::size_t longest = 0;
  for (const std::string& ending : split(format.endings, ' ')) {
    const std::string_view beginning = std::string_view(ending).substr(0, ending.size() - ending.ends_with('*'));
    const bool asks = ending.ends_with('*') ? name.starts_with(beginning) : name.ends_with(ending);
    if (asks) longest = std::max(longest, beginning.size());
  }
  return longest;
}

std::vector<std::string> endings_of(const std::vector<const Format*>& formats) {
  std::vector<std::string> endings;
  for (const Format* format : formats)
    if (!format->endings.empty())
      for (const std::string& ending : split(format->endings, ' ')) endings.push_back(ending);
  return endings;
}

std::vector<std::string> names_of(const std::vector<const Format*>& formats) {
  std::vector<std::string> names;
  for (const Format* format : formats) names.emplace_back(format->name);
  return names;
}

std::string format_names(const std::vector<const Format*>& formats) { return join(names_of(formats), ", "); }

std::string format_help(const std::vector<const Format*>& formats, std::string_view usual,
                        std::string_view usual_in_file) {
  std::vector<std::string> names;
  for (const Format* format : formats) {
    const bool in_file = format->name == usual_in_file;
    names.push_back(std::string(format->name) + (in_file                 ? " (default with -o)"
                                                 : format->name != usual ? ""
                                                 : usual_in_file.empty() ? " (default)"
                                                                         : " (default without -o)"));
  }
  const std::vector<std::string> endings = endings_of(formats);
  std::string text = join(names, ", ");
  if (!endings.empty()) text += "; the suffix of the -o file selects one: " + join(endings, ", ");
  return text;
}

std::string format_lines(const std::vector<const Format*>& formats) {
  std::size_t widest = 0, widest_endings = 0;
  for (const Format* format : formats) {
    widest = std::max(widest, format->name.size());
    widest_endings = std::max(widest_endings, format->endings.size());
  }
  std::string text = "Formats:\n";
  for (const Format* format : formats) {
    std::string line = fmt::format("  {:<{}}  {:<{}}  ", format->name, widest, format->endings, widest_endings);
    const std::string indent(line.size(), ' ');
    // A wide column of endings must leave enough room for the text.
    const std::size_t room = help_width - std::min<std::size_t>(line.size(), help_width / 2);
    for (const std::string& part : wrapped(format->summary, room)) {
      text += line + part + "\n";
      line = indent;
    }
  }
  return text;
}

std::string reader_lines(const std::vector<const Format*>& formats, std::span<const Kind> kinds) {
  std::size_t widest = 0;
  for (const Kind kind : kinds) widest = std::max(widest, source_name(kind).size());
  std::string text = "Files that it reads:\n";
  for (const Kind kind : kinds) {
    std::vector<const Format*> read;
    for (const Format* format : formats)
      if (format->kind == kind && format->read != nullptr) read.push_back(format);
    if (!read.empty())
      text += hanging(fmt::format("  {:<{}}  ", source_name(kind), widest), format_names(read), help_width);
  }
  return text;
}

Result<std::vector<result::AnyResult>> read_results(const Format& format, const StoredFile& file) {
  if (format.read != nullptr) return format.read(file);
  return fail(Code::bad_usage, fmt::format("'{}' has only the rows of a result", printable(file.name)),
              fmt::format("use the JSON file written with it: {}.meta.json", printable(file.name)));
}

const Format* recognised_format(const std::vector<const Format*>& formats, std::span<const Kind> kinds,
                                const StoredFile& file) {
  for (const Kind kind : kinds)
    for (const Format* format : formats)
      if (format->kind == kind && format->recognise != nullptr && format->recognise(file)) return format;
  return nullptr;
}

}  // namespace tally::output
