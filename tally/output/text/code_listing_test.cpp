#include "tally/output/text/code_listing.hpp"

#include <gtest/gtest.h>

#include "tally/output/kit/terminal_widths_testing.hpp"

namespace tally::output {
namespace {

CodeListing listing() {
  CodeListing listing({{"instructions:u", Align::right},
                       {"loads:u", Align::right},
                       {"stores:u", Align::right},
                       key_column("line", Align::right),
                       {"source"}},
                      4);
  listing.add({"1,234,567,890", "123,456,789", "12,345,678", "17",
               "for (const auto& [name, value] : a_table_of_names_and_values) sum_of_all_values += value;"});
  listing.add({"", "", "", "18", "}"});
  return listing;
}

TEST(CodeListing, fits_terminals) {
  expect_fit([](std::size_t terminal) { return listing().text(terminal); }, 139);
}

TEST(CodeListing, keeps_lines_and_the_beginning_of_the_code) {
  EXPECT_EQ(listing().text(60),
            " instructions:u      loads:u  line  source\n"
            "  1,234,567,890  123,456,789    17  for (const auto& [name,…\n"
            "                                18  }\n"
            " left out: stores:u; a terminal of 139 columns or a file\n"
            " shows them\n");
}

}  // namespace
}  // namespace tally::output
