#include "tally/output/analysis/profile_names.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "tally/core/base/clone_name.hpp"
#include "tally/core/base/pattern.hpp"
#include "tally/core/base/text.hpp"

namespace tally::output {
namespace {

/// Replaces the outermost arguments in brackets with "<…>". A bracket at the beginning of a name of Rust,
/// "<T as Trait>::f", has no arguments: those in it are replaced.
std::string without_arguments(std::string_view name) {
  std::string text;
  int depth = 0;
  std::size_t begin = 0;  // of the outermost bracket
  for (std::size_t i = 0; i < name.size(); ++i) {
    // "operator<", "operator->" and the like are not brackets.
    const bool is_operator = depth == 0 && text.ends_with("operator");
    const bool is_arrow = i > 0 && name[i] == '>' && name[i - 1] == '-';
    if (name[i] == '<' && !is_operator && depth++ == 0) begin = i;
    if (depth == 0) text += name[i];
    if (name[i] != '>' || is_operator || is_arrow || depth == 0 || --depth > 0) continue;
    text += begin > 0 ? "<…>" : "<" + without_arguments(name.substr(1, i - 1)) + ">";
  }
  if (depth > 0) text += "<…>";
  return text;
}

/// C++ names may fill a page.
std::string without_templates(const std::string& name) {
  constexpr std::size_t long_name = 60;
  return name.size() <= long_name ? name : without_arguments(name);
}

std::string without_parameters(const std::string& name) {
  // Parameters follow the last bracket that opens at the outer level; "(anonymous namespace)::f(int)" has two.
  std::string_view text = name;
  for (const std::string_view end : {" const", " volatile"})
    if (text.ends_with(end)) text.remove_suffix(end.size());
  if (!text.ends_with(')')) return name;
  int depth = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    depth += text[i] == ')' ? 1 : text[i] == '(' ? -1 : 0;
    if (depth == 0) return i == 0 || text.substr(0, i).ends_with("operator") ? name : std::string(text.substr(0, i));
  }
  return name;
}

}  // namespace

std::string function_name(const std::string& name, bool whole) {
  return whole ? name : without_templates(without_parameters(name));
}

std::vector<std::string> function_names(const std::vector<std::string>& names, bool whole) {
  if (whole) return names;
  // Forms by length. Names that share the shortest form get the first form that makes all of them distinct.
  constexpr std::string (*forms[])(const std::string&) = {
      [](const std::string& name) { return function_name(name, false); }, without_parameters, without_templates,
      [](const std::string& name) { return name; }};
  std::map<std::string, std::set<std::string>> meanings;
  for (const std::string& name : names) meanings[forms[0](name)].insert(name);
  std::map<std::string, std::string> longer;
  for (const auto& [form, meant] : meanings) {
    if (meant.size() == 1) continue;
    for (const auto& longer_form : forms) {
      std::set<std::string> distinct;
      for (const std::string& name : meant) distinct.insert(longer_form(name));
      if (distinct.size() < meant.size()) continue;
      for (const std::string& name : meant) longer[name] = longer_form(name);
      break;
    }
  }
  std::vector<std::string> made;
  for (const std::string& name : names) {
    const auto found = longer.find(name);
    made.push_back(found == longer.end() ? forms[0](name) : found->second);
  }
  return made;
}

std::vector<std::string> function_names(const result::Profile& profile, bool whole) {
  std::vector<std::string> names;
  for (const result::ProfileFunction& function : profile.functions) names.push_back(function.name);
  return function_names(names, whole);
}

std::vector<FunctionId> function_ids(const result::Profile& profile) {
  std::vector<FunctionId> keys;
  for (const result::ProfileFunction& function : profile.functions)
    keys.emplace_back(profile.objects[function.object].name, function.name);
  return keys;
}

namespace {

/// The offsets at which UTF-8 characters begin.
std::vector<std::size_t> characters_of(const std::string& text) {
  std::vector<std::size_t> begins;
  for (std::size_t i = 0; i < text.size(); ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) begins.push_back(i);
  return begins;
}

constexpr std::size_t most_characters = 100;

/// Keeps the beginning, the surroundings of these characters, and the end.
std::string cut_around(const std::string& name, const std::vector<std::size_t>& characters) {
  const std::vector<std::size_t> offsets = characters_of(name);
  const std::size_t width = (most_characters - characters.size() - 1) / (characters.size() + 2);
  const std::size_t last = offsets.size() - width;
  std::string cut = name.substr(0, offsets[width]);
  std::size_t end = width;  // of what is kept
  for (const std::size_t at : characters) {
    const std::size_t from = std::max(end, at - std::min(at, width / 4)), to = std::min(from + width, last);
    if (from >= to) continue;
    cut += (from > end ? "…" : "") + name.substr(offsets[from], offsets[to] - offsets[from]);
    end = to;
  }
  return cut + (end < last ? "…" : "") + name.substr(offsets[last]);
}

/// Cuts each of the names, which have one shortened form, where they differ: in sorted order, the common prefix of the
/// first and the last is the common prefix of all. Those that are still the same differ further on, too.
void cut_where_they_differ(const std::set<std::string>& all, std::vector<std::size_t> characters,
                           std::map<std::string, std::string>& cuts) {
  constexpr std::size_t most_differences = 4;
  const auto differs =
      std::mismatch(all.begin()->begin(), all.begin()->end(), all.rbegin()->begin(), all.rbegin()->end());
  characters.push_back(characters_of(std::string(all.begin()->begin(), differs.first)).size());
  std::map<std::string, std::set<std::string>> names_by_cut;
  for (const std::string& name : all) names_by_cut[cut_around(name, characters)].insert(name);
  for (const auto& [cut, same] : names_by_cut) {
    if (same.size() > 1 && characters.size() < most_differences)
      cut_where_they_differ(same, characters, cuts);
    else
      for (const std::string& name : same) cuts[name] = cut;
  }
}

}  // namespace

std::string shortened(const std::string& text, std::size_t most, std::size_t end) {
  if (text.size() <= most) return text;
  const std::vector<std::size_t> offsets = characters_of(text);
  if (offsets.size() <= most) return text;
  const std::string last = end == 0 ? "" : text.substr(offsets[offsets.size() - end]);
  return text.substr(0, offsets[most - 1 - end]) + "…" + last;
}

std::vector<std::string> cut_names(std::vector<std::string> names) {
  std::map<std::string, std::set<std::string>> names_by_form;  // by their shortened form
  for (const std::string& name : names)
    if (std::string cut = shortened(name, most_characters, most_characters / 3); cut != name)
      names_by_form[std::move(cut)].insert(name);
  std::map<std::string, std::string> cuts;
  for (const auto& [form, all] : names_by_form) {
    if (all.size() > 1)
      cut_where_they_differ(all, {}, cuts);
    else
      cuts[*all.begin()] = form;
  }
  for (std::string& name : names)
    if (const auto cut = cuts.find(name); cut != cuts.end()) name = cut->second;
  return names;
}

std::vector<std::string> similar_functions(const std::vector<std::string>& names, std::string_view name) {
  const bool is_scoped = name.find("::") != std::string_view::npos;
  std::vector<std::string> keys;
  std::map<std::string, std::string> whole;
  for (const std::string& one : names) {
    std::string known = without_parameters(one);
    const std::size_t scope = is_scoped || known.find('<') != std::string::npos ? std::string::npos : known.rfind("::");
    std::string key = scope == std::string::npos ? known : known.substr(scope + 2);
    if (whole.try_emplace(key, std::move(known)).second) keys.push_back(std::move(key));
  }
  std::vector<std::string> similar;
  for (const std::string& key : nearest(name, keys)) similar.push_back(whole.at(key));
  return similar;
}

bool matches_any(const std::vector<std::string>& patterns, const result::ProfileFunction& function) {
  const std::string_view whole = clone_name(function.name).function;
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    return matches_pattern(pattern, function.name) || matches_pattern(pattern, whole) ||
           (!function.linker_name.empty() && matches_pattern(pattern, function.linker_name));
  });
}

namespace {

/// Whether a text has the form of a shortened name, in which each "…" replaces some text.
bool matches_shortened(std::string_view text, std::string_view name) {
  constexpr std::string_view gap = "…";
  const std::size_t first = name.find(gap);
  if (first == std::string_view::npos || !text.starts_with(name.substr(0, first))) return false;
  text.remove_prefix(first);
  name.remove_prefix(first + gap.size());
  for (std::size_t at = name.find(gap); at != std::string_view::npos; at = name.find(gap)) {
    const std::size_t found = text.find(name.substr(0, at));
    if (found == std::string_view::npos) return false;
    text.remove_prefix(found + at);
    name.remove_prefix(at + gap.size());
  }
  return text.ends_with(name);
}

}  // namespace

bool is_called(const std::string& function, std::string_view name) {
  if (const auto plain = without_abi_tags(function); plain != function && is_called(plain, name)) return true;
  // A copy or part has its own name and that of its function.
  const std::string whole(clone_name(function).function), wanted(clone_name(name).function);
  const std::string bare = without_parameters(whole);
  for (const std::string& form : {function, whole, bare, without_templates(whole), without_templates(bare)})
    if (form == name || form == wanted || matches_shortened(form, name)) return true;
  const std::string end = " " + std::string(name);
  return bare.ends_with(end) || without_arguments(bare).ends_with(end) ||
         std::string_view(bare).substr(0, std::max<std::size_t>(bare.find('<'), 1)).ends_with(end);
}

}  // namespace tally::output
