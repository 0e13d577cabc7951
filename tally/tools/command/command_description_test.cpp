// Descriptions of programs: what a program prints is what `tally` reads.
#include "tally/tools/command/command_description.hpp"

#include <gtest/gtest.h>

#include "tally/tools/command/command_page.hpp"

namespace tally::command {
namespace {

TEST(CommandDescription, survives_as_text) {
  std::string file, format;
  bool quiet = false;
  Page page;
  page.head("Counts \"exactly\".", "tally sample [options] FILE");
  page.add_option("FILE", file, "what is read");
  page.add_option("-f,--format", format, "of the output").value_name("FORMAT").one_of({"text", "json"});
  page.add_flag("--quiet", quiet, "not shown").hidden();
  page.footer("Notes:\n  tally sample µ\n");
  page.prefix_command();
  const CommandDescription written = page.description();
  const auto read = read_description(description_json(written));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->sentence, "Counts \"exactly\".");
  EXPECT_EQ(read->usage, written.usage);
  EXPECT_EQ(read->footer, written.footer);
  EXPECT_TRUE(read->runs_program);
  ASSERT_EQ(read->options.size(), written.options.size());
  const OptionDescription& option = read->options.back();
  EXPECT_EQ(option.names, (std::vector<std::string>{"-f", "--format"}));
  EXPECT_EQ(option.value_name, "FORMAT");
  EXPECT_EQ(option.text, "of the output");
  EXPECT_EQ(option.words, (std::vector<std::string>{"text", "json"}));
  EXPECT_TRUE(option.has_short_name);
  EXPECT_EQ(description_json(*read), description_json(written));
}

TEST(CommandDescription, is_not_read_from_other_texts) {
  for (const char* text : {"", "tally: unknown option '--describe'\n", "{}", "[1]", R"({"sentence": 1})"})
    EXPECT_FALSE(read_description(text)) << text;
}

}  // namespace
}  // namespace tally::command
