#include "tally/tools/report/source_reader.hpp"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/linux/files/file_state.hpp"
#include "tally/linux/files/input.hpp"
#include "tally/linux/files/memory_file.hpp"
#include "tally/linux/process/tool.hpp"

namespace tally::report {
namespace {

// Parses the lines of objdump that are instructions: "  401136:\tmov    %esi,-0x4(%rsp)".
std::map<std::uint64_t, std::string> instructions_in(const std::string& text) {
  std::map<std::uint64_t, std::string> instructions;
  for (const std::string& line : split(text, '\n')) {
    const std::size_t colon = line.find(":\t");
    if (colon == std::string::npos) continue;
    const std::size_t begin = line.find_first_not_of(' ');
    std::uint64_t address = 0;
    const auto [end, error] = std::from_chars(line.data() + begin, line.data() + colon, address, 16);
    if (error == std::errc{} && end == line.data() + colon) instructions[address] = printable(line.substr(colon + 2));
  }
  return instructions;
}

}  // namespace

output::SourceReader source_reader() {
  const auto texts = std::make_shared<std::map<std::string, std::optional<std::string>>>();
  return [texts](const std::string& path, const std::string& object) -> std::optional<output::SourceFile> {
    // The paths come from debug information, which can name any file: read at most this much.
    constexpr std::uint64_t most_bytes = 64 << 20;
    const auto [text, is_new] = texts->try_emplace(path);
    if (is_new)
      if (auto read = linux::read_regular_file(path, most_bytes)) text->second = *std::move(read);
    if (!text->second) return std::nullopt;
    return output::SourceFile{*text->second, linux::is_newer(path, object)};
  };
}

output::InstructionReader instruction_reader() {
  return [](const result::ProfileObject& object, std::uint64_t begin,
            std::uint64_t end) -> Result<std::map<std::uint64_t, std::string>> {
    const auto ended = linux::run_tool({"objdump", "-d", "-C", "--no-show-raw-insn",
                                        fmt::format("--start-address={}", begin), fmt::format("--stop-address={}", end),
                                        "--", object.kept ? linux::path_of_descriptor(*object.kept) : object.name});
    if (!ended)
      return fail(Code::cannot_measure, "--asm needs objdump, which is not installed", "install the package binutils");
    if (ended->exit_code != 0)
      return fail(Code::cannot_measure, "objdump cannot disassemble it: " + printable(trimmed(ended->output)));
    return instructions_in(ended->output);
  };
}

}  // namespace tally::report
