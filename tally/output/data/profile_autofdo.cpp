// Profiles for compilers: LLVM's sample profile in its text format (clang's manual, "Sample Profile Text Format"),
// which AutoFDO makes from sampled branches, tally from exact counts.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "tally/core/base/text.hpp"
#include "tally/output/kinds/profile_forms.hpp"

namespace tally::output {
namespace {

using result::Profile;
using result::ProfileInline;

// LLVM packs three numbers into a discriminator, each in 1, 7 or 14 bits (llvm/IR/DebugInfoMetadata.h,
// "discriminators"): the number of the line's block, how often the block was duplicated, and the number of the copy.
std::uint32_t component(std::uint32_t packed) {
  if (packed & 1) return 0;
  packed >>= 1;
  return packed & 0x20 ? ((packed >> 1) & 0xfe0) | (packed & 0x1f) : packed & 0x1f;
}
std::uint32_t next_component(std::uint32_t packed) {
  return packed & 1 ? packed >> 1 : packed >> (packed & 0x40 ? 14 : 7);
}
std::int64_t copies(std::uint32_t packed) { return std::max<std::int64_t>(1, component(next_component(packed))); }

/// A line relative to the beginning of its function, and the block.
struct LineBlock {
  std::uint32_t offset = 0, block = 0;
  auto operator<=>(const LineBlock&) const = default;
  std::string text() const { return block == 0 ? std::to_string(offset) : fmt::format("{}.{}", offset, block); }
};

struct Body {
  std::int64_t head = 0;
  std::map<LineBlock, std::int64_t> executed;
  std::map<LineBlock, std::map<std::string, std::int64_t>> calls;
  std::map<std::pair<LineBlock, std::string>, Body> inlined;

  std::int64_t total() const {
    std::int64_t sum = 0;
    for (const auto& [line_block, count] : executed) sum += count;
    for (const auto& [line_block, body] : inlined) sum += body.total();
    return sum;
  }

  void write(const std::string& indent, std::string& text) const {
    for (const auto& [line_block, count] : executed) {
      text += fmt::format("{}{}: {}", indent, line_block.text(), count);
      if (const auto targets = calls.find(line_block); targets != calls.end())
        for (const auto& [name, of_calls] : targets->second) text += fmt::format(" {}:{}", name, of_calls);
      text += "\n";
    }
    for (const auto& [line_block, body] : inlined) {
      text += fmt::format("{}{}: {}:{}\n", indent, line_block.first.text(), line_block.second, body.total());
      body.write(indent + " ", text);
    }
  }
};

class Samples {
 public:
  explicit Samples(const Profile& profile) : profile_(profile) {}

  std::string text() {
    // by instruction, for all threads together
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::pair<std::size_t, std::int64_t>> instructions;
    for (std::size_t i = 0; i < profile_.rows.size(); ++i) {
      const result::ProfileRow& row = profile_.rows[i];
      auto& [first, executions] = instructions.try_emplace({row.function, row.address}, i, 0).first->second;
      executions += row.executions;
    }
    for (const auto& [at, instruction] : instructions) add(profile_.rows[instruction.first], instruction.second);
    for (const result::ProfileCall& call : profile_.calls) add(call);
    std::vector<std::pair<std::int64_t, std::string>> order;
    for (const auto& [name, body] : functions_)
      if (const std::int64_t total = body.total(); total > 0) order.emplace_back(-total, name);
    std::sort(order.begin(), order.end());
    std::string text;
    for (const auto& [total, name] : order) {
      text += fmt::format("{}:{}:{}\n", name, -total, functions_[name].head);
      functions_[name].write(" ", text);
    }
    return text;
  }

 private:
  /// The linker's name, without the suffixes that compilers append.
  std::string name_of(std::uint32_t f) const {
    const result::ProfileFunction& function = profile_.functions[f];
    std::string name = function.linker_name.empty() ? function.name : function.linker_name;
    for (const char* suffix : {".llvm.", ".cold", ".part."}) name = name.substr(0, name.find(suffix));
    return printable(name);
  }

  LineBlock line_block(std::uint32_t function, std::uint32_t line, std::uint32_t discriminator) const {
    constexpr std::uint32_t kept = 0xffff;
    return {(line - profile_.functions[function].line) & kept, component(discriminator)};
  }

  /// The body that an instruction's line belongs to: its function, or what was inlined there. Null if no line is known.
  Body* body_of(std::uint32_t function, std::uint32_t inlined) {
    if (profile_.functions[function].line == 0) return nullptr;
    if (inlined == ProfileInline::none) return &functions_[name_of(function)];
    const ProfileInline& code = profile_.inlines[inlined];
    Body* const outer = body_of(function, code.parent);
    if (outer == nullptr || code.line == 0 || profile_.functions[code.function].line == 0) return nullptr;
    const std::uint32_t holder = code.parent == ProfileInline::none ? function : profile_.inlines[code.parent].function;
    return &outer->inlined[{line_block(holder, code.line, code.discriminator), name_of(code.function)}];
  }

  std::uint32_t innermost(std::uint32_t function, std::uint32_t inlined) const {
    return inlined == ProfileInline::none ? function : profile_.inlines[inlined].function;
  }

  void add(const result::ProfileRow& row, std::int64_t executions) {
    Body* const body = row.line == 0 ? nullptr : body_of(row.function, row.inlined);
    if (body == nullptr) return;
    // A block was executed as often as its instructions; a line's count is the maximum of its instructions.
    std::int64_t& executed =
        body->executed[line_block(innermost(row.function, row.inlined), row.line, row.discriminator)];
    executed = std::max(executed, executions * copies(row.discriminator));
    if (row.inlined == ProfileInline::none && row.address == profile_.functions[row.function].address)
      body->head += executions;
  }

  void add(const result::ProfileCall& call) {
    Body* const body = call.line == 0 ? nullptr : body_of(call.caller, call.inlined);
    if (body == nullptr) return;
    const LineBlock at = line_block(innermost(call.caller, call.inlined), call.line, call.discriminator);
    // Only executed lines are listed.
    if (body->executed.count(at) != 0) body->calls[at][name_of(call.callee)] += call.calls;
  }

  const Profile& profile_;
  std::map<std::string, Body> functions_;
};

}  // namespace

std::string profile_autofdo(const Profile& profile, const ProfileStyle&) { return Samples(profile).text(); }

}  // namespace tally::output
