#include "tally/counting/profile/kernel_names.hpp"

#include <algorithm>
#include <charconv>

#include "tally/core/base/text.hpp"
#include "tally/linux/files/input.hpp"

namespace tally::profile {
namespace {

/// Names by the kernel's own addresses.
class KernelNames final : public CodeNames {
 public:
  explicit KernelNames(std::vector<NamedCode> functions) : functions_(std::move(functions)) {}
  std::optional<std::uint64_t> address_of(std::uint64_t offset) const override { return offset; }
  const std::vector<NamedCode>& functions() const override { return functions_; }
  NamedCode section_of(std::uint64_t address) const override { return {"[no name]", address, 1, true}; }
  std::optional<SourceLine> line_of(std::uint64_t /*address*/) const override { return std::nullopt; }

 private:
  std::vector<NamedCode> functions_;
};

// Parses "ffffffff81000000 T name", or with a module "ffffffffc0000000 t name\t[module]". Text has the letters t and w.
std::optional<NamedCode> function_in(std::string_view line) {
  NamedCode code;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), code.address, 16);
  const auto letter = static_cast<std::size_t>(end - line.data()) + 1;
  if (error != std::errc{} || letter + 2 >= line.size() || code.address == 0) return std::nullopt;
  if (std::string_view("tTwW").find(line[letter]) == std::string_view::npos) return std::nullopt;
  std::string_view name = line.substr(letter + 2);
  if (const std::size_t tab = name.find('\t'); tab != std::string_view::npos) {
    const std::string module(name.substr(tab + 1));
    code.name = printable(std::string(name.substr(0, tab)) + " " + module);
  } else {
    code.name = printable(std::string(name));
  }
  return code;
}

}  // namespace

std::unique_ptr<CodeNames> names_of_kernel(std::string_view symbols) {
  std::vector<NamedCode> functions;
  while (!symbols.empty()) {
    const std::size_t end = symbols.find('\n');
    if (auto one = function_in(symbols.substr(0, end))) functions.push_back(*std::move(one));
    symbols.remove_prefix(end == std::string_view::npos ? symbols.size() : end + 1);
  }
  if (functions.empty()) return nullptr;
  std::stable_sort(functions.begin(), functions.end(),
                   [](const NamedCode& a, const NamedCode& b) { return a.address < b.address; });
  const auto same = [](const NamedCode& a, const NamedCode& b) { return a.address == b.address; };
  functions.erase(std::unique(functions.begin(), functions.end(), same), functions.end());
  // The sizes are unknown: each function extends to the next one, and the last one for a page.
  constexpr std::uint64_t page = 4096;
  for (std::size_t i = 0; i < functions.size(); ++i)
    functions[i].bytes = i + 1 < functions.size() ? functions[i + 1].address - functions[i].address : page;
  return std::make_unique<KernelNames>(std::move(functions));
}

std::unique_ptr<CodeNames> names_of_kernel() {
  const auto text = linux::read_regular_file("/proc/kallsyms");
  return text ? names_of_kernel(*text) : nullptr;
}

}  // namespace tally::profile
