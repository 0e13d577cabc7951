// Man pages of all commands in this program: sections in the usual order, every option, no accidental groff requests.
#include "tally/tools/manual/manual.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tally/cli/commands.hpp"
#include "tally/core/base/text.hpp"

namespace tally::cli {
namespace {

const std::vector<CommandDescription>& described_commands() {
  static const std::vector<CommandDescription> all = describe_commands();
  return all;
}

std::vector<std::string> sections_of(const std::string& page) {
  std::vector<std::string> found;
  for (const std::string& line : split(page, '\n'))
    if (line.starts_with(".SH ")) found.push_back(line.substr(4));
  return found;
}

class ManPage : public testing::TestWithParam<std::string> {};

TEST_P(ManPage, begins_and_ends_as_man_pages_do) {
  const std::string page = manual::man_page(described_commands(), GetParam());
  EXPECT_TRUE(page.starts_with(GetParam().empty() ? ".TH TALLY 1 " : ".TH TALLY-")) << page.substr(0, 40);
  const std::vector<std::string> sections = sections_of(page);
  ASSERT_GE(sections.size(), 4u);
  EXPECT_EQ(sections[0], "NAME");
  EXPECT_EQ(sections[1], "SYNOPSIS");
  EXPECT_EQ(sections[2], "DESCRIPTION");
  EXPECT_EQ(sections.back(), "SEE ALSO");
  EXPECT_TRUE(page.ends_with("\n"));
}

TEST_P(ManPage, indents_no_usage) {
  const std::string page = manual::man_page(described_commands(), GetParam());
  const std::size_t begin = page.find(".SH SYNOPSIS");
  EXPECT_EQ(page.substr(begin, page.find(".SH DESCRIPTION") - begin).find("\n "), std::string::npos);
}

TEST_P(ManPage, has_no_other_requests) {
  constexpr std::string_view requests[] = {"TH", "SH", "TP", "PP", "nf", "fi", "RS", "RE"};
  for (const std::string& line : split(manual::man_page(described_commands(), GetParam()), '\n')) {
    EXPECT_FALSE(line.starts_with("'")) << line;
    if (!line.starts_with(".")) continue;
    EXPECT_NE(std::ranges::find(requests, line.substr(1, 2)), std::end(requests)) << line;
  }
}

TEST_P(ManPage, begins_no_paragraph_before_a_heading) {
  const std::string page = manual::man_page(described_commands(), GetParam());
  EXPECT_EQ(page.find(".PP\n.SH"), std::string::npos);
  EXPECT_EQ(page.find(".PP\n.PP"), std::string::npos);
}

// groff prints a plain hyphen as a dash, which cannot be pasted into a shell.
TEST_P(ManPage, escapes_hyphens) {
  const std::string page = manual::man_page(described_commands(), GetParam());
  for (std::size_t at = page.find('\n'); (at = page.find('-', at)) != std::string::npos; ++at)
    EXPECT_EQ(page[at - 1], '\\') << page.substr(at - 10, 20);
}

TEST_P(ManPage, lists_every_option) {
  for (const CommandDescription& command : described_commands()) {
    if (command.name != GetParam()) continue;
    for (const OptionDescription& option : command.options) {
      for (std::string name : option.names) {
        for (std::size_t at = 0; (at = name.find('-', at)) != std::string::npos; at += 2) name.insert(at, "\\");
        EXPECT_NE(manual::man_page(described_commands(), GetParam()).find("\\fB" + name + "\\fR"), std::string::npos)
            << name;
      }
    }
  }
}

TEST_P(ManPage, refers_to_all_others) {
  const std::string page = manual::man_page(described_commands(), GetParam());
  const std::string others = page.substr(page.rfind(".SH SEE ALSO"));
  for (const CommandDescription& command : described_commands()) {
    const bool is_there = others.find("\\fBtally\\-" + std::string(command.name) + "\\fR(1)") != std::string::npos;
    EXPECT_EQ(is_there, command.name != GetParam()) << command.name;
  }
}

std::vector<std::string> all_names() {
  std::vector<std::string> names = {""};
  for (const CommandDescription& command : described_commands()) names.emplace_back(command.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Of, ManPage, testing::ValuesIn(all_names()),
                         [](const auto& one) { return one.param.empty() ? "tally" : one.param; });

TEST(Manual, is_empty_for_what_is_no_command) { EXPECT_EQ(manual::man_page(described_commands(), "stats"), ""); }

TEST(Manual, keeps_the_lines_of_examples) {
  const std::string page = manual::man_page(described_commands(), "stat");
  EXPECT_NE(page.find(".SH EXAMPLES\n.PP\n.nf\n.RS\ntally stat"), std::string::npos);
}

}  // namespace
}  // namespace tally::cli
