// The page of a profile, as a browser shows it.
#include <gtest/gtest.h>

#include "tests/cli/pages.hpp"

namespace tally::test {
namespace {

class ProfilePage : public Browser {
 protected:
  void SetUp() override {
    Browser::SetUp();
#if !TALLY_HAS_ENGINE
    GTEST_SKIP() << "the engine is for x86-64";
#endif
  }

  static std::string page(Words words) {
    const TemporaryFile file("profile.html");
    words.insert(words.begin(), {"profile", "-q", "-e", "instructions", "--format", "html", "-o", file.path()});
    tally(words);
    return file.content().value_or("");
  }
};

/// Stacks have their boxes, the table its functions; a click on a box tells of its function.
TEST_F(ProfilePage, draws_stacks_and_tells_of_functions) {
  const std::string dom = as_shown(page({"--calls", "--", PROFILED}), R"(
    const boxes = [...document.querySelectorAll(".box")];
    const times = boxes.find((box) => box.textContent === "times");
    times.click();
    const chosen = document.getElementById("chosen").textContent;
    const rows = document.querySelectorAll("#functions tbody tr").length;
    document.getElementById("seen").textContent = [times.title, chosen.includes("1,00011"), chosen.includes("eleven"),
      chosen.includes("main"), rows > 10, document.getElementById("zoom").textContent.startsWith("Below times")].join("|");
  )");
  const std::string told = seen(dom);
  EXPECT_TRUE(holds(told, "times: ")) << told;
  EXPECT_TRUE(holds(told, "called 1 times")) << told;
  EXPECT_TRUE(holds(told, "|true|true|true|true")) << told;
}

TEST_F(ProfilePage, without_calls_says_how_to_have_them) {
  const std::string text = page({"--", PROFILED});
  EXPECT_TRUE(holds(text, "tally profile --calls --format html"));
  const std::string told = seen(as_shown(text, R"(
    document.getElementById("find").value = "eleven";
    document.getElementById("find").dispatchEvent(new Event("input"));
    document.getElementById("seen").textContent = document.querySelectorAll("#functions tbody tr").length + " " +
      document.querySelector("#functions tbody tr").textContent;
  )"));
  EXPECT_TRUE(holds(told, "1 ")) << told;
  EXPECT_TRUE(holds(told, "11,000")) << told;
}

}  // namespace
}  // namespace tally::test
