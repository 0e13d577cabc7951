#include "programs/register/pmu/spec.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "tally/core/base/text.hpp"

namespace tally::pmu {
namespace {

using Fields = std::vector<std::pair<std::string, std::optional<std::string>>>;

std::string upper(std::string_view text) {
  std::string big(text);
  for (char& c : big) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return big;
}

// "CPUID.0AH", "CPUID.23H.1"; nothing if the text does not name a whole leaf.
std::optional<std::uint64_t> leaf_named(std::string_view text) {
  const std::string name = upper(text);
  if (!name.starts_with("CPUID.") || name.find(':') != std::string::npos) return std::nullopt;
  const std::vector<std::string> parts = split(std::string_view(name).substr(6), '.');
  const auto leaf = parse_number(parts[0]);
  const auto subleaf = parts.size() > 1 ? parse_number(parts[1]) : 0;
  if (!leaf || !subleaf || *leaf > 0xFFFF'FFFF || *subleaf > 0xFFFF || parts.size() > 2) return std::nullopt;
  return cpuid_output(static_cast<std::uint32_t>(*leaf), static_cast<std::uint32_t>(*subleaf), 0);
}

// Finds the end of the register's name. Some names contain a colon: "CPUID.0AH:EAX", "RDPMC:ECX".
std::size_t end_of_name(std::string_view text) {
  const std::size_t end = std::min(text.find_first_of(":="), text.size());
  if (end == text.size() || text[end] == '=') return end;
  const std::string start = upper(text.substr(0, end));
  if (!start.starts_with("CPUID.") && start != "RDPMC") return end;
  const std::size_t next = std::min(text.find_first_of(":=", end + 1), text.size());
  const std::string part = upper(text.substr(end + 1, next - end - 1));
  const bool output = part == "EAX" || part == "EBX" || part == "ECX" || part == "EDX";
  return output ? next : end;
}

Result<std::uint64_t> value_of(std::string_view text, const RegisterInstance& place, std::optional<int> version = {}) {
  const std::string word = trimmed(text);
  const int width = word.starts_with('-') ? number_width(*place.reg, version) : 64;
  const auto value = parse_signed(word, width);
  if (!value && word.starts_with('-') && parse_signed(word, 64)) {
    return fail(Code::bad_usage,
                fmt::format("{} does not fit {}, which counts with {} bits", word, name(place), width));
  }
  if (!value) {
    const bool lacks_sign = parse_number(word + "H").has_value();
    return fail(Code::bad_usage, fmt::format("'{}' is not a number of up to 64 bits", printable(text)),
                lacks_sign ? fmt::format("in hexadecimal it is 0x{}", word)
                           : "values are written 0x4100c4, 4100C4H, 4260036 or -1000");
  }
  if (*value > low_ones(place.reg->width)) {
    return fail(Code::bad_usage,
                fmt::format("{:#x} does not fit {}, which has {} bits", *value, name(place), place.reg->width));
  }
  return *value;
}

Result<Fields> fields_of(std::string_view text) {
  Fields fields;
  for (const std::string& part : split(text, ',')) {
    const std::size_t equals = part.find('=');
    std::string word = trimmed(std::string_view(part).substr(0, equals));
    if (word.empty())
      return fail(Code::bad_usage, "a field's name is missing", "fields are separated by commas: USR,EN");
    std::optional<std::string> content;
    if (equals != std::string::npos) content = trimmed(std::string_view(part).substr(equals + 1));
    fields.emplace_back(std::move(word), std::move(content));
  }
  return fields;
}

Request leaf_request(std::uint64_t leaf) {
  Request request;
  request.leaf = leaf;
  for (const Model* model : models()) {
    for (const RegisterInstance& place : places(*model)) {
      if (place.reg->space == Space::cpuid && (place.reg->number & ~0xFFULL) == leaf) {
        request.values.push_back({place, 0, std::nullopt});
      }
    }
  }
  return request;
}

Result<Request> parse_leaf(std::uint64_t leaf, std::string_view name, std::string_view rest) {
  Request request = leaf_request(leaf);
  if (request.values.empty()) {
    return fail(Code::bad_usage, fmt::format("unknown leaf {}", printable(name)),
                "`tally register --list cpuid` lists the leaves that describe counters");
  }
  if (rest.empty()) return request;
  const std::vector<std::string> words = split(rest.substr(1), ',');
  if (rest.front() != '=' || words.size() != 4) {
    return fail(Code::bad_usage, fmt::format("a leaf has four values: {}=EAX,EBX,ECX,EDX", printable(name)),
                fmt::format("one output by itself is {}:EAX=VALUE", printable(name)));
  }
  std::uint32_t outputs[4];
  for (std::size_t i = 0; i < 4; ++i) {
    const auto value = value_of(words[i], request.values.front().place);
    if (!value) return fail(value.error());
    outputs[i] = static_cast<std::uint32_t>(*value);
  }
  return with_leaf(std::move(request), outputs);
}

}  // namespace

Result<Request> parse_request(std::string_view text, const Choice& choice) {
  const std::string whole = trimmed(text);
  const std::size_t end = end_of_name(whole);
  const std::string word = trimmed(std::string_view(whole).substr(0, end));
  std::string_view rest = std::string_view(whole).substr(end);
  if (word.empty()) {
    return fail(Code::bad_usage, "a register's name or number is missing", "for example: tally register 0x38D=0x22A");
  }
  if (const auto leaf = leaf_named(word)) return parse_leaf(*leaf, word, rest);

  const auto place = find_register(word, choice.model);
  if (!place) return fail(place.error());
  Request request;
  Value value{*place, 0, choice.version};
  if (rest.starts_with('=')) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    const auto bits = value_of(rest.substr(1, colon - 1), *place, choice.version);
    if (!bits) return fail(bits.error());
    value.bits = *bits;
    request.has_value = true;
    rest.remove_prefix(colon);
  }
  if (rest.starts_with(':')) {
    const auto fields = fields_of(rest.substr(1));
    if (!fields) return fail(fields.error());
    const auto encoded = encode(*place, choice.version, *fields, value.bits);
    if (!encoded) return fail(encoded.error());
    value = *encoded;
    request.has_value = request.encoded = true;
  }
  request.values.push_back(value);
  return request;
}

Result<RegisterInstance> register_named(std::string_view text, const Choice& choice) {
  const std::string whole = trimmed(text);
  const std::string word = trimmed(std::string_view(whole).substr(0, end_of_name(whole)));
  if (const auto leaf = leaf_named(word); leaf && !leaf_request(*leaf).values.empty()) {
    return leaf_request(*leaf).values.front().place;
  }
  return find_register(word, choice.model);
}

Request with_leaf(Request request, const std::uint32_t (&outputs)[4]) {
  for (Value& value : request.values) value.bits = outputs[value.place.reg->number & 3];
  request.has_value = true;
  return request;
}

}  // namespace tally::pmu
