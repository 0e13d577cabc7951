#include "programs/register/pmu/any_request_testing.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>

#include "programs/register/pmu/draw.hpp"
#include "programs/register/pmu/spec.hpp"

namespace tally::pmu {
namespace {

void must(bool holds, const char* what, std::string_view text) {
  if (holds) return;
  std::fprintf(stderr, "%s: '%.*s'\n", what, static_cast<int>(text.size()), text.data());
  std::abort();
}

void check_value(const Value& value, std::string_view text) {
  must((value.bits & ~low_ones(value.place.reg->width)) == 0, "a value fits its register", text);
  for (const Remark& remark : check(value)) must(!remark.text.empty(), "a remark has words", text);
  must(!draw(value).empty() || value.place.reg->fields.empty(), "a value can be drawn", text);
  std::string request = name(value.place) + "=" + std::to_string(unknown_bits(value));
  for (const Slot& slot : slots(*value.place.reg)) {
    request += (request.find(':', name(value.place).size()) == std::string::npos ? ":" : ",") + slot.name() + "=" +
               std::to_string(slot.of(value.bits));
    (void)reading(value, slot);
  }
  const auto again = parse_request(request);
  must(again && again->values.front().bits == value.bits, "the fields make the value again", text);
}

}  // namespace

bool check_any_text(std::string_view text) {
  (void)parse_number(text);
  const auto request = parse_request(text);
  if (!request) {
    must(request.error().code == Code::bad_usage, "an error of the text is bad usage", text);
    must(!request.error().message.empty(), "an error has words", text);
    return false;
  }
  must(!request->values.empty(), "a request names a register", text);
  for (const Value& value : request->values) check_value(value, text);
  return true;
}

}  // namespace tally::pmu
