// Names of functions in a build without libdw.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tally/counting/profile/code_names.hpp"
#include "tally/linux/files/input.hpp"
#include "tally/linux/symbol/clones.hpp"
#include "tally/linux/symbol/elf_functions.hpp"
#include "tally/linux/symbol/names.hpp"

namespace tally::profile {
namespace {

class Names final : public CodeNames {
 public:
  Result<void> open(const std::string& path) {
    auto bytes = linux::read_regular_file(path);
    if (!bytes) return fail(bytes.error());
    bytes_ = *std::move(bytes);
    auto elf = symbol::read_elf(bytes_);
    if (!elf) return fail(elf.error());
    elf_ = *std::move(elf);
    std::vector<symbol::CloneSymbol> symbols;
    for (const symbol::Function& function : elf_.functions) {
      if (!functions_.empty() && functions_.back().address == function.address) continue;
      functions_.push_back({symbol::demangled(function.name), function.address, 0, false});
      symbols.push_back({function.name, function.address, function.unit});
    }
    const std::vector<std::uint64_t> clones = symbol::functions_of_clones(symbols);
    for (std::size_t i = 0; i < clones.size(); ++i) functions_[i].clone_of = clones[i];
    for (std::size_t i = 0; i < functions_.size(); ++i) {
      const NamedCode part = section_of(functions_[i].address);
      const std::uint64_t end = i + 1 < functions_.size() ? functions_[i + 1].address : part.address + part.bytes;
      functions_[i].bytes = end - functions_[i].address;
    }
    return {};
  }

  std::optional<std::uint64_t> address_of(std::uint64_t offset) const override {
    for (const symbol::Segment& part : elf_.executable)
      if (offset - part.offset < part.bytes) return offset - part.offset + part.address;
    return std::nullopt;
  }
  const std::vector<NamedCode>& functions() const override { return functions_; }
  NamedCode section_of(std::uint64_t address) const override {
    for (const symbol::Segment& part : elf_.executable)
      if (address - part.address < part.bytes) return {"[code]", part.address, part.bytes, true};
    return {"[no section]", address, 1, true};
  }
  std::optional<SourceLine> line_of(std::uint64_t) const override { return std::nullopt; }
  std::string build_id() const override { return elf_.build_id; }
  std::string_view bytes() const override { return bytes_; }

 private:
  std::string bytes_;
  symbol::Elf elf_;
  std::vector<NamedCode> functions_;
};

}  // namespace

Result<std::unique_ptr<CodeNames>> CodeNames::open(const std::string& path, int fd) {
  auto names = std::make_unique<Names>();
  if (auto opened = names->open(fd < 0 ? path : fmt::format("/proc/self/fd/{}", fd)); !opened)
    return fail(opened.error());
  return names;
}

}  // namespace tally::profile
