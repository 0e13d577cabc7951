// Parses event codes: perf's rNNN, and values of IA32_PERFEVTSELx as in manuals and HPCTool.
#include <fmt/format.h>

#include "tally/core/base/parse_text.hpp"
#include "tally/core/base/text.hpp"
#include "tally/hardware/event/codes.hpp"
#include "tally/hardware/event/parsers.hpp"
#include "tally/hardware/pmu/intel/event_select.hpp"

namespace tally::event {
namespace {

using pmu::intel::EventSelect;

constexpr const char* shapes = "write codes as r01c2, like perf, or as 0x4101C2 or 4101C2H, like the manuals";

bool is_hexadecimal(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

// The digits of a code; nothing if the text is not a code.
std::optional<std::string_view> digits_of(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) return text.substr(2);
  if (text.size() >= 2 && text.front() == 'r' && is_hexadecimal(text.substr(1))) return text.substr(1);
  const bool has_digit = !text.empty() && text.front() >= '0' && text.front() <= '9';
  if (has_digit && (text.back() == 'H' || text.back() == 'h') && is_hexadecimal(text.substr(0, text.size() - 1))) {
    return text.substr(0, text.size() - 1);
  }
  return std::nullopt;
}

// Rejects bits that tally must control itself; the hint has the code without them.
std::optional<Error> refused_bits(std::string_view text, const EventSelect& select) {
  const auto without = [&](EventSelect cleared, auto change) {
    change(cleared);
    return fmt::format("without it: 0x{:X}", encode(cleared));
  };
  if (select.pin_control) {
    return Error{Code::bad_usage,
                 fmt::format("'{}' sets PC (bit 19): pin control has no use in counting", printable(text)),
                 without(select, [](EventSelect& s) { s.pin_control = false; }), 0};
  }
  if (select.any_thread) {
    return Error{Code::bad_usage,
                 fmt::format("'{}' sets ANY (bit 21): it also counts the core's other threads", printable(text)),
                 without(select, [](EventSelect& s) { s.any_thread = false; }), 0};
  }
  if (const std::uint64_t high = encode(select) >> 36) {
    return Error{
        Code::bad_usage,
        fmt::format("'{}' sets bits above bit 35 (0x{:X}): no counter has them all", printable(text), high << 36),
        "the event is in bits 7:0, the unit mask in 15:8, CMASK in 31:24", 0};
  }
  return std::nullopt;
}

std::vector<std::string> notes_of(std::string_view text, const EventSelect& select, bool is_register) {
  std::vector<std::string> notes;
  if (select.enable || select.interrupt) {
    notes.push_back(fmt::format("{}: {}: the kernel sets it", text,
                                select.enable && select.interrupt ? "EN and INT (bits 22 and 20) are ignored"
                                : select.enable                   ? "EN (bit 22) is ignored"
                                                                  : "INT (bit 20) is ignored"));
  }
  if (is_register && !select.usr && !select.os) {
    notes.push_back(
        fmt::format("{}: neither USR nor OS is set, which counts nothing on a processor; user mode is counted", text));
  }
  if (select.invert && select.cmask == 0) notes.push_back(fmt::format("{}: INV has no effect without CMASK", text));
  return notes;
}

// A note on what the code means on this machine's own processor, if that is AMD's.
std::optional<std::string> note_of_own_processor(std::string_view text, const Encoding& encoding,
                                                 const Sources& sources) {
  Encoding there = encoding;
  there.family = own_family(sources);
  if (!is_amd(there.family)) return std::nullopt;
  const auto line = is_conditional(there) ? std::nullopt : known_code(there);
  const pfm::Pmu* own = own_pmu(sources);
  return fmt::format("{}: read as Intel's code; on this machine's own processor ({}) it is {}", text,
                     own ? own->name : "AMD's", line ? line->name : "another event");
}

Result<Event> parse_value(std::string_view text, std::string_view base, std::uint64_t value,
                          std::optional<std::string_view> letters, const Sources& sources) {
  const EventSelect select = pmu::intel::decode_event_select(value);
  if (auto error = refused_bits(base, select)) return fail(*std::move(error));
  std::optional<Mode> mode;
  if (select.usr || select.os) mode = select.usr && select.os ? Mode::both : select.os ? Mode::kernel : Mode::user;
  if (letters) {
    const auto asked = parse_modifiers(*letters, text);
    if (!asked) return fail(asked.error());
    if (mode && *mode != *asked) {
      return fail(Code::bad_usage,
                  fmt::format("'{}' selects '{}' by USR and OS (bits 16 and 17), but ends in ':{}'", printable(text),
                              suffix(*mode), printable(*letters)),
                  "omit the suffix, or the bits");
    }
    mode = *asked;
  }
  EventSelect plain = select;
  plain.usr = plain.os = plain.enable = plain.interrupt = false;
  const Encoding encoding{Family::intel_core, "", perf_type_raw, encode(plain), 0, 0};
  Event event = coded(text, std::string(base), encoding, mode.value_or(Mode::user));
  event.notes = notes_of(base, select, base.front() != 'r' && !letters);
  if (auto note = note_of_own_processor(base, encoding, sources)) event.notes.push_back(*std::move(note));
  return event;
}

}  // namespace

Parsed parse_code(std::string_view text, const Sources& sources) {
  const auto [base, letters] = take_apart(text);
  const auto digits = digits_of(base);
  if (!digits) return std::nullopt;
  const auto value = parse_digits<std::uint64_t>(*digits, 16);
  if (!value) {
    return fail(Code::bad_usage,
                fmt::format("'{}' is not a code: a code has at most 16 hexadecimal digits", printable(base)), shapes);
  }
  return parse_value(text, base, *value, letters, sources);
}

}  // namespace tally::event
