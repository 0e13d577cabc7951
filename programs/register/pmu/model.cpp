#include "programs/register/pmu/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "tally/core/base/text.hpp"

namespace tally::pmu {
namespace {

// The name without optional parts: "IA32_PERFEVTSEL0" and "perfevtsel0" are equal.
std::string short_name(std::string_view name) {
  std::string small = lower(name);
  for (const std::string_view prefix : {"ia32_", "msr_"}) {
    if (small.starts_with(prefix)) small.erase(0, prefix.size());
  }
  for (const std::string_view suffix : {"_el0", "_el1"}) {
    if (small.ends_with(suffix)) small.resize(small.size() - suffix.size());
  }
  return small;
}

std::string with_index(std::string_view name, int index) {
  const std::size_t at = name.find('#');
  if (at == std::string_view::npos) return std::string(name);
  return fmt::format("{}{}{}", name.substr(0, at), index, name.substr(at + 1));
}

// The name in the table, then its aliases.
std::vector<std::string> all_names(const RegisterInstance& place) {
  std::vector<std::string> names{name(place)};
  for (const std::string& alias : split(place.reg->aliases, ' ')) {
    if (!alias.empty()) names.push_back(with_index(alias, place.reg->first + place.index));
  }
  return names;
}

std::uint64_t number_of(const RegisterInstance& place) {
  return place.reg->number + static_cast<std::uint64_t>(place.index) * place.reg->stride;
}

bool is_msr_at(const RegisterInstance& place, std::uint64_t number) {
  if (place.reg->space != Space::msr) return false;
  return number_of(place) == number || (place.reg->other_number != 0 && place.reg->other_number == number);
}

// A register with all its names, in lower case.
struct Entry {
  RegisterInstance place;
  std::vector<std::string> names;    // from all_names(), for display
  std::vector<std::string> full;     // the same, in lower case
  std::vector<std::string> shorter;  // also without optional parts
  std::string address;
};

std::vector<Entry> make_index() {
  std::vector<Entry> made;
  for (const Model* model : models()) {
    for (const RegisterInstance& place : places(*model)) {
      Entry entry{place, all_names(place), {}, {}, lower(address(place))};
      for (const std::string& name : entry.names) {
        entry.full.push_back(lower(name));
        entry.shorter.push_back(short_name(name));
      }
      made.push_back(std::move(entry));
    }
  }
  return made;
}

// All registers of all models, in the order of models(). Built once, because a lookup compares a thousand names.
const std::vector<Entry>& every_entry() {
  static const std::vector<Entry> all = make_index();
  return all;
}

// The entries of one model; of all if it is null.
std::span<const Entry> entries(const Model* model) {
  const std::vector<Entry>& all = every_entry();
  if (!model) return all;
  const auto of_model = [&](const Entry& entry) { return entry.place.model == model; };
  const auto first = std::find_if(all.begin(), all.end(), of_model);
  return {first, std::find_if_not(first, all.end(), of_model)};
}

bool has(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Hexadecimal in the manuals' notation of MSR numbers: "38DH", "0C1H", "C0010200H".
std::string manual_hex(std::uint64_t number) {
  const std::string digits = fmt::format("{:X}", number);
  return (digits.front() > '9' && digits.size() < 4 ? "0" : "") + digits + "H";
}

// All spellings of the names, and the spelling to display for each.
struct Spellings {
  std::vector<std::string> spellings;
  std::map<std::string, std::string> display_names;
};

Spellings make_spellings(const Model* model) {
  Spellings made;
  for (const Entry& entry : entries(model)) {
    for (std::size_t i = 0; i < entry.names.size(); ++i) {
      for (const std::string& spelling : {entry.shorter[i], entry.full[i]}) {
        if (made.display_names.emplace(spelling, entry.names[i]).second) made.spellings.push_back(spelling);
      }
    }
  }
  return made;
}

std::vector<std::string> near_names(const std::string& word, const Model* model) {
  static const Spellings of_all = make_spellings(nullptr);
  const Spellings of_one = model ? make_spellings(model) : Spellings{};
  const Spellings& known = model ? of_one : of_all;
  std::vector<std::string> near;
  for (const std::string& spelling : nearest(word, known.spellings, 5)) {
    const std::string& one = known.display_names.at(spelling);
    if (near.size() < 3 && !has(near, one)) near.push_back(one);
  }
  return near;
}

Error unknown_register(std::string_view text, const Model* model) {
  Error error{Code::bad_usage, fmt::format("no register is called '{}'", printable(text)), "", 0};
  if (parse_number(text)) error.message = fmt::format("no register has the number {}", text);
  std::vector<std::string> near = near_names(short_name(text), model);
  // "186" is decimal and "38D" is no number, but users may mean the manual's 186H and 38DH.
  if (const auto hexadecimal = parse_number(std::string(text) + "H")) {
    for (const Entry& entry : entries(model)) {
      if (is_msr_at(entry.place, *hexadecimal)) near = {fmt::format("{}H ({})", text, entry.names.front())};
    }
  }
  error.hint = near.empty() ? "`tally register --list` lists all" : fmt::format("did you mean {}?", join(near, ", "));
  return error;
}

// Matches a pattern with * for any text and ? for any character.
bool glob(std::string_view pattern, std::string_view text) {
  std::size_t at = 0, in = 0, star = std::string_view::npos, mark = 0;
  while (at < text.size()) {
    if (in < pattern.size() && (pattern[in] == '?' || pattern[in] == text[at])) {
      ++in;
      ++at;
    } else if (in < pattern.size() && pattern[in] == '*') {
      star = in++;
      mark = at;
    } else if (star != std::string_view::npos) {
      in = star + 1;
      at = ++mark;
    } else {
      return false;
    }
  }
  while (in < pattern.size() && pattern[in] == '*') ++in;
  return in == pattern.size();
}

bool matches(std::string_view pattern, std::string_view text) {
  const std::string small = lower(text);
  if (pattern.find_first_of("*?") == std::string_view::npos) return small.find(pattern) != std::string::npos;
  return glob(pattern, small);
}

// Whether a word occurs in a text: "m1" in "Apple M1".
bool has_word(std::string_view text, std::string_view word) {
  const auto words = split(lower(text), ' ');
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

std::span<const Model* const> models() {
#define TALLY_POINTER(name) &name##_model,
  static constexpr const Model* all[] = {TALLY_MODELS(TALLY_POINTER)};
#undef TALLY_POINTER
  return all;
}

const Model* model_of(std::string_view name) {
  for (const Model* model : models()) {
    if (model->name == lower(name)) return model;
  }
  return nullptr;
}

Result<int> version_of(const Model& model, std::string_view text) {
  std::vector<std::string> names;
  for (const Version& version : model.versions) {
    if (lower(version.name) == lower(text) || fmt::format("{}", version.number) == text) return version.number;
    names.emplace_back(version.name);
  }
  return fail(Code::bad_usage, fmt::format("{} has no version '{}'", model.title, printable(text)),
              "its versions are: " + join(names, ", "));
}

std::string name(const RegisterInstance& place) { return with_index(place.reg->name, place.reg->first + place.index); }

std::string address(const RegisterInstance& place) {
  const std::uint64_t number = number_of(place);
  switch (place.reg->space) {
    case Space::msr: return "MSR " + manual_hex(number);
    case Space::system_register:
      return fmt::format("S{}_{}_C{}_C{}_{}", number >> 14 & 3, number >> 11 & 7, number >> 7 & 15, number >> 3 & 15,
                         number & 7);
    case Space::control: return fmt::format("control register {}", number);
    case Space::cpuid: {
      const std::uint64_t subleaf = number >> 8 & 0xFFFFFF;
      return fmt::format("CPUID, leaf {}{}", manual_hex(number >> 32),
                         subleaf == 0 ? "" : fmt::format(", sub-leaf {}", subleaf));
    }
    case Space::operand: break;
  }
  return fmt::format("operand of {}", place.reg->name.substr(0, place.reg->name.find(':')));
}

std::vector<RegisterInstance> places(const Model& model) {
  std::vector<RegisterInstance> all;
  for (const Register& reg : model.registers) {
    for (int index = 0; index < reg.count; ++index) all.push_back({&model, &reg, index});
  }
  return all;
}

Result<RegisterInstance> find_register(std::string_view text, const Model* model) {
  const std::string full = lower(text);
  const std::string word = short_name(text);
  const auto number = parse_number(text);
  std::optional<RegisterInstance> shortened;
  for (const Entry& entry : entries(model)) {
    // A full name precedes a shortened one: PMC0 is Apple's, but is also short for Intel's IA32_PMC0.
    if (has(entry.full, full)) return entry.place;
    if (number && is_msr_at(entry.place, *number)) return entry.place;
    if (entry.place.reg->space == Space::system_register && entry.address == full) return entry.place;
    if (!shortened && has(entry.shorter, word)) shortened = entry.place;
  }
  if (shortened) return *shortened;
  return tl::unexpected(unknown_register(text, model));
}

std::vector<RegisterInstance> matching(std::string_view pattern, const Model* model) {
  const std::string small = lower(pattern);
  const auto number = parse_number(pattern);
  std::vector<RegisterInstance> found;
  for (const Entry& entry : entries(model)) {
    bool hit = small.empty() || entry.place.model->name == small || has_word(entry.place.model->title, small) ||
               matches(small, entry.address) || matches(small, entry.place.reg->text);
    for (const std::string& one : entry.full) hit = hit || matches(small, one);
    if (hit || (number && is_msr_at(entry.place, *number))) found.push_back(entry.place);
  }
  return found;
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::string digits;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool separator = text[at] == '_' || text[at] == '\'';
    // Only between digits: "_1" and "1_" are not numbers.
    if (separator && at > 0 && at + 1 < text.size()) continue;
    digits += text[at];
  }
  int base = 10;
  if (digits.starts_with("0x") || digits.starts_with("0X")) {
    base = 16;
    digits.erase(0, 2);
  } else if (digits.ends_with('h') || digits.ends_with('H')) {
    // Checked before 0b: 0B1H is hexadecimal. The manuals' leading zero before a letter is optional.
    base = 16;
    digits.pop_back();
  } else if (digits.starts_with("0b") || digits.starts_with("0B")) {
    base = 2;
    digits.erase(0, 2);
  }
  std::uint64_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number, base);
  if (digits.empty() || error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

}  // namespace tally::pmu
