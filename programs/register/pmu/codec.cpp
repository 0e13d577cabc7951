#include "programs/register/pmu/codec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cassert>

#include "tally/core/base/text.hpp"

namespace tally::pmu {
namespace {

bool in_version(int since, int until, std::optional<int> version) {
  return !version || (since <= *version && *version <= until);
}

// Normalizes a name: ignores case, and - versus _.
std::string plain(std::string_view text) {
  std::string word(text);
  for (char& c : word) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '-') c = '_';
  }
  return word;
}

/// What a request names: a field, or some adjacent repetitions of a one-bit field.
struct Part {
  std::string name;
  int width = 1;
  std::uint64_t mask = 0;
  const Slot slot;  // the field, or the lowest of the repetitions
  bool is_run = false;

  std::uint64_t insert_into(std::uint64_t bits, std::uint64_t content) const {
    if (is_run) return (bits & ~mask) | content << slot.lsb();
    return insert(*slot.field, bits, content, slot.index);
  }
};

Part part_of(const Slot& slot) { return {slot.name(), total_width(*slot.field), slot.mask(), slot, false}; }

// Finds a run, "EN7..0" as in layouts, or a part of it, "EN3..2". Nothing if there is none.
std::optional<Part> find_run(const RegisterInstance& place, std::optional<int> version, const std::string& word) {
  const std::size_t dots = word.find("..");
  if (dots == std::string::npos) return std::nullopt;
  for (const Slot& lowest : slots(*place.reg, version)) {
    const Field& field = *lowest.field;
    if (!is_run(field)) continue;
    for (int index = lowest.index + 1; index < field.count; ++index) {
      const std::string name = run_name(field, lowest.index, index);
      if (plain(name) != plain(word)) continue;
      const int width = index - lowest.index + 1;
      return Part{name, width, low_ones(width) << lowest.lsb(), lowest, true};
    }
  }
  return std::nullopt;
}

Result<Slot> find_slot(const RegisterInstance& place, std::optional<int> version, const std::string& word) {
  std::vector<std::string> names;
  for (const Slot& slot : slots(*place.reg, version)) {
    if (plain(slot.name()) == plain(word)) return slot;
    names.push_back(slot.name());
  }
  std::vector<std::string> near;
  for (const std::string& one : names) near.push_back(plain(one));
  near = nearest(plain(word), near);
  for (const Slot& slot : slots(*place.reg)) {
    if (plain(slot.name()) == plain(word)) {
      return fail(Code::bad_usage, fmt::format("{} has no field '{}' in the version chosen", name(place), slot.name()),
                  "without --version the fields of all versions may be used");
    }
  }
  return fail(Code::bad_usage, fmt::format("{} has no field '{}'", name(place), printable(word)),
              near.empty() ? fmt::format("`tally register {}` shows its fields", name(place))
                           : fmt::format("did you mean {}?", join(near, ", ")));
}

Result<Part> find_part(const RegisterInstance& place, std::optional<int> version, const std::string& word) {
  if (auto run = find_run(place, version, word)) return *std::move(run);
  const auto slot = find_slot(place, version, word);
  if (!slot) return tl::unexpected(slot.error());
  return part_of(*slot);
}

Result<std::uint64_t> content_of(const Part& part, const std::optional<std::string>& text) {
  if (!text) {
    if (part.width == 1) return 1;
    return fail(Code::bad_usage, fmt::format("the field {} has {} bits and needs a value", part.name, part.width),
                fmt::format("for example {}=1", part.name));
  }
  for (const Meaning& meaning : part.slot.field->values) {
    if (!part.is_run && plain(meaning.text) == plain(*text)) return meaning.value;
  }
  const auto number = parse_signed(*text, part.width);
  if (!number && !parse_signed(*text, 64)) {
    return fail(Code::bad_usage, fmt::format("'{}' is not a number for {}", printable(*text), part.name),
                "numbers are written 0xc4, 0C4H or 196");
  }
  if (!number) {
    return fail(
        Code::bad_usage,
        fmt::format("{} has {}: {} does not fit", part.name, plural(part.width, "bit", "bits"), printable(*text)),
        fmt::format("its largest value is {:#x}", low_ones(part.width)));
  }
  return *number;
}

// Counters overflow at 2^width: sampling tools load a value below it by the period.
std::string counter_reading(std::uint64_t count, int width) {
  if (count == 0 || width >= 64) return fmt::format("{}", count);
  const std::uint64_t left = low_ones(width) - count + 1;
  if (left > count) return thousands(static_cast<std::int64_t>(count));
  return fmt::format("2^{} - {}: overflows after {} more", width, left,
                     plural(static_cast<std::int64_t>(left), "event", "events"));
}

void check_unknown_bits(const Value& value, std::vector<Remark>& remarks) {
  const Register& reg = *value.place.reg;
  const std::uint64_t unknown = unknown_bits(value);
  const bool of_these_models = reg.others == OtherBits::model_specific;
  if (unknown == 0 || !(of_these_models || reg.others == OtherBits::reserved)) return;
  const bool plural_bits = std::popcount(unknown) > 1;
  const std::uint64_t elsewhere = value.version ? unknown & known_bits(reg) : 0;
  std::string text =
      fmt::format("{} {} {} reserved", plural_bits ? "bits" : "bit", ranges(unknown), plural_bits ? "are" : "is");
  if (elsewhere != 0) text += " in this version";
  if (of_these_models) {
    text += " on the processors that have these fields: WRMSR of this value raises #GP(0) there";
    remarks.push_back({Severity::caution, std::move(text), reg.source});
    return;
  }
  const bool faults = reg.space == Space::msr && reg.access != Access::read_only && value.place.model->name == "intel";
  remarks.push_back({faults ? Severity::wrong : Severity::caution,
                     text + (faults ? ": WRMSR of this value raises #GP(0)" : ""), reg.source});
}

void check_versions(const Value& value, std::vector<Remark>& remarks) {
  const RegisterInstance& place = value.place;
  if (value.version && !in_version(place.reg->since, place.reg->until, value.version)) {
    remarks.push_back(
        {Severity::wrong,
         fmt::format("{} exists {} only", name(place), version_text(*place.model, place.reg->since, place.reg->until)),
         place.reg->source});
  }
  if (value.version) return;
  for (const Slot& slot : slots(*place.reg)) {
    if (slot.field->until == newest || slot.of(value.bits) == 0) continue;
    remarks.push_back(
        {Severity::note,
         fmt::format("{}: {}", slot.name(), version_text(*place.model, slot.field->since, slot.field->until)),
         place.reg->source});
  }
}

}  // namespace

std::string Slot::name() const {
  const std::size_t at = field->name.find('#');
  if (at == std::string_view::npos) return std::string(field->name);
  return fmt::format("{}{}{}", field->name.substr(0, at), field->first + index, field->name.substr(at + 1));
}

std::vector<Slot> slots(const Register& reg, std::optional<int> version) {
  std::vector<Slot> all;
  for (const Field& field : reg.fields) {
    if (!in_version(field.since, field.until, version)) continue;
    for (int index = 0; index < field.count; ++index) all.push_back({&field, index});
  }
  std::sort(all.begin(), all.end(), [](const Slot& a, const Slot& b) { return a.lsb() < b.lsb(); });
  return all;
}

bool is_run(const Field& field) { return field.width == 1 && field.stride == 1 && field.count > 1; }

std::string run_name(const Field& field) { return run_name(field, 0, field.count - 1); }

std::string run_name(const Field& field, int low, int high) {
  const std::size_t mark = field.name.find('#');
  return fmt::format("{}{}..{}{}", field.name.substr(0, mark), field.first + high, field.first + low,
                     field.name.substr(mark + 1));
}

std::optional<std::uint64_t> parse_signed(std::string_view text, int width) {
  const bool negative = text.starts_with('-');
  const auto number = parse_number(negative ? text.substr(1) : text);
  if (!number || *number > low_ones(width)) return std::nullopt;
  // A flag cannot be negative.
  if (negative && width == 1) return std::nullopt;
  return negative ? (~*number + 1) & low_ones(width) : *number;
}

int number_width(const Register& reg, std::optional<int> version) {
  for (const Slot& slot : slots(reg, version)) {
    if (slot.field->show == Show::counter && slot.lsb() == 0) return total_width(*slot.field);
  }
  return reg.width;
}

std::uint64_t known_bits(const Register& reg, std::optional<int> version) {
  std::uint64_t bits = 0;
  for (const Slot& slot : slots(reg, version)) bits |= slot.mask();
  return bits;
}

std::uint64_t unknown_bits(const Value& value) { return value.bits & ~known_bits(*value.place.reg, value.version); }

std::uint64_t get(const Value& value, std::string_view field, int index) {
  for (const Field& one : value.place.reg->fields) {
    if (one.name == field) return extract(one, value.bits, index);
  }
  assert(false && "a rule names a field that its register does not have");
  return 0;
}

std::string reading(const Value& value, const Slot& slot) {
  const Register& reg = *value.place.reg;
  if (reg.explain) {
    if (std::string text = reg.explain(value, slot); !text.empty()) return text;
  }
  const std::uint64_t content = slot.of(value.bits);
  for (const Meaning& meaning : slot.field->values) {
    if (meaning.value == content) return std::string(meaning.text);
  }
  if (slot.field->show == Show::counter) return counter_reading(content, total_width(*slot.field));
  if (slot.field->show == Show::mask && content != 0) return ranges(content);
  return {};
}

Result<Value> encode(const RegisterInstance& place, std::optional<int> version,
                     const std::vector<std::pair<std::string, std::optional<std::string>>>& fields,
                     std::uint64_t base) {
  Value value{place, base, version};
  std::uint64_t named = 0;
  for (const auto& [word, text] : fields) {
    const auto part = find_part(place, version, word);
    if (!part) return tl::unexpected(part.error());
    if ((named & part->mask) != 0) {
      return fail(Code::bad_usage, fmt::format("the field {} is named twice", part->name), "");
    }
    named |= part->mask;
    const auto content = content_of(*part, text);
    if (!content) return tl::unexpected(content.error());
    value.bits = part->insert_into(value.bits, *content);
  }
  return value;
}

std::vector<Remark> check(const Value& value) {
  std::vector<Remark> remarks;
  check_unknown_bits(value, remarks);
  check_versions(value, remarks);
  for (const Rule& rule : value.place.model->rules) {
    if (rule.register_name == value.place.reg->name) rule.check(value, remarks);
  }
  std::stable_sort(remarks.begin(), remarks.end(),
                   [](const Remark& a, const Remark& b) { return a.severity < b.severity; });
  return remarks;
}

std::string version_text(const Model& model, int since, int until) {
  if (model.versions.empty()) return {};
  const auto name_of = [&](int number) {
    for (const Version& version : model.versions) {
      if (version.number == number) return std::string(version.name);
    }
    return fmt::format("{}", number);
  };
  const bool from_start = since <= model.versions.front().number;
  const bool to_end = until >= model.versions.back().number;
  if (from_start && to_end) return {};
  // "since PMUv3p5", but "since version 4".
  const bool bare = model.versions.front().name.front() <= '9';
  const std::string_view one = bare ? "version " : "";
  if (to_end) return fmt::format("since {}{}", one, name_of(since));
  if (from_start) return fmt::format("up to {}{}", one, name_of(until));
  return fmt::format("{}{} to {}", bare ? "versions " : "", name_of(since), name_of(until));
}

std::string ranges(std::uint64_t set_bits) {
  std::vector<std::string> parts;
  for (int bit = 0; bit < 64; ++bit) {
    if ((set_bits >> bit & 1) == 0) continue;
    int last = bit;
    while (last < 63 && (set_bits >> (last + 1) & 1) != 0) ++last;
    parts.push_back(last == bit ? fmt::format("{}", bit)
                                : fmt::format("{}{}{}", bit, last == bit + 1 ? ", " : "–", last));
    bit = last;
  }
  return join(parts, ", ");
}

}  // namespace tally::pmu
