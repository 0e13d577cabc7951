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

  static std::string page(Words words, const char* event = "instructions") {
    const TemporaryFile file("profile.html");
    words.insert(words.begin(), {"profile", "-q", "-e", event, "--format", "html", "-o", file.path()});
    tally(words);
    return file.content().value_or("");
  }
};

/// Stacks have their boxes, the table its functions; a click on a box shows its function.
TEST_F(ProfilePage, draws_stacks_and_describes_functions) {
  const std::string dom = render(page({"--calls", "--", PROFILED}), R"(
    const boxes = [...document.querySelectorAll(".box")];
    const times = boxes.find((box) => box.textContent.startsWith("times "));
    times.click();
    const chosen = document.getElementById("chosen").textContent;
    const rows = document.querySelectorAll("#functions tbody tr").length;
    document.getElementById("seen").textContent = [times.title, chosen.includes("1,00011"), chosen.includes("eleven"),
      chosen.includes("main"), rows > 10, document.getElementById("zoom").textContent.startsWith("Zoomed to times: "),
      /^times \d+\.\d\d %$/.test(times.textContent)].join("|");
  )");
  const std::string shown = probe_output(dom);
  EXPECT_TRUE(holds(shown, "times: ")) << shown;
  EXPECT_TRUE(holds(shown, "called 1 times")) << shown;
  EXPECT_TRUE(holds(shown, "|true|true|true|true|true")) << shown;
}

/// A caller's box has the cause of its callees' cycles; its row has that of its own.
TEST_F(ProfilePage, colours_boxes_by_the_cause_of_all_their_cycles) {
  const std::string shown =
      probe_output(render(page({"--calls", "--model", "zen5", "--", CAUSES, "divide"}, "cycles"), R"(
    const find = (name) => [...document.querySelectorAll(".box")].find((box) => box.title.startsWith(name + ": "));
    const main = find("main"), callee = find("divide");
    const cause = (box) => box.title.match(/ % of the cycles ([^,]*)/)[1];
    const row = [...document.querySelectorAll("#functions tbody tr")].find((one) => /%main\d/.test(one.textContent));
    document.getElementById("seen").textContent = [cause(main) === cause(callee),
      main.style.background === callee.style.background, row.textContent.includes(cause(main)),
      main.title, row.textContent].join("|");
  )"));
  EXPECT_TRUE(holds(shown, "true|true|false|")) << shown;
}

/// Inverted stacks begin with the functions that counted; their callers are below.
TEST_F(ProfilePage, inverts_stacks) {
  const std::string shown = probe_output(render(page({"--calls", "--", PROFILED}), R"(
    const inverted = document.getElementById("inverted");
    inverted.click();
    const roots = [...document.querySelectorAll(".box")].filter((box) => box.style.top === "0rem");
    const eleven = roots.find((box) => box.textContent.startsWith("eleven"));
    eleven.click();
    document.getElementById("seen").textContent = [...document.querySelectorAll(".box")].slice(0, 3)
      .map((box) => box.textContent.split(" ")[0]).join(" < ");
  )"));
  EXPECT_TRUE(holds(shown, "eleven &lt; times &lt; ")) << shown;
}

/// The source text is next to the counts, and instructions are shown after a click.
TEST_F(ProfilePage, shows_source_and_disassembly) {
  const std::string shown = probe_output(render(page({"--", PROFILED}), R"((async () => {
    const row = [...document.querySelectorAll("#functions tbody tr")].find((one) => one.textContent.includes("times"));
    row.querySelector(".link").click();
    const chosen = document.getElementById("chosen"), details = chosen.querySelector("details");
    const lines = [...chosen.querySelectorAll("table.code td.source")].filter((cell) => cell.textContent !== "").length;
    if (details) details.open = true;
    await new Promise((done) => setTimeout(done, 100));
    document.getElementById("seen").textContent = [lines > 0, !details || details.textContent.includes("ret")].join("|");
  })())"));
  EXPECT_EQ(shown, "true|true");
}

/// Another event changes the flame graph.
TEST_F(ProfilePage, switches_events) {
  const TemporaryFile file("profile.html");
  tally(
      {"profile", "-q", "-e", "instructions,loads", "--calls", "--format", "html", "-o", file.path(), "--", PROFILED});
  const std::string shown = probe_output(render(file.content().value_or(""), R"(
    const width = () => document.querySelector(".box").title;
    const event = document.getElementById("event"), first = width();
    event.value = 1;
    event.dispatchEvent(new Event("change"));
    document.getElementById("seen").textContent = [[...event.options].map((one) => one.textContent).join(),
      first !== width(), width().includes("loads:u")].join("|");
  )"));
  EXPECT_EQ(shown, "instructions:u,loads:u|true|true");
}

/// Cycles have a bar of their causes in each row.
TEST_F(ProfilePage, shows_the_causes_of_cycles) {
  const TemporaryFile file("profile.html");
  tally({"profile", "-q", "--model", "haswell", "-e", "cycles", "--format", "html", "-o", file.path(), "--", CAUSES,
         "chase"});
  const std::string shown = probe_output(render(file.content().value_or(""), R"(
    const row = [...document.querySelectorAll("#functions tbody tr")].find((one) => one.textContent.includes("chase"));
    const bar = row.querySelector(".causes"), widest = [...bar.children].reduce((a, b) => parseFloat(a.style.width) < parseFloat(b.style.width) ? b : a);
    const code = [...document.querySelectorAll("#chosen .code tr")].map((one) => one.textContent).find((text) => text.includes("// chase"));
    document.getElementById("seen").textContent = [bar.title.startsWith("DRAM 8"), parseFloat(widest.style.width) > 80,
      /DRAM 8\d %/.test(row.textContent), /DRAM 8\d %/.test(code),
      document.querySelector(".legend").textContent.includes("DRAM 7"),
      document.querySelector("#functions thead").textContent.includes("cycles-DRAM")].join("|");
  )"));
  EXPECT_EQ(shown, "true|true|true|true|true|false");
}

/// A thread has its own counts, which add up to those of all threads.
TEST_F(ProfilePage, shows_each_thread) {
  const std::string shown = probe_output(render(page({"--calls", "--", WORKERS, "1", "3", "1000"}), R"(
    const data = JSON.parse(document.getElementById("profile-data").textContent);
    const sum = (view) => view.rows.reduce((all, row) => all + row.counts[0], 0);
    const thread = document.getElementById("thread"), first = document.querySelector(".box").title;
    thread.value = 2;
    thread.dispatchEvent(new Event("change"));
    const [all, ...each] = data.views.map(sum);
    document.getElementById("seen").textContent = [each.length, all === each.reduce((a, b) => a + b),
      first !== document.querySelector(".box").title, document.querySelector("#functions thead").textContent.includes("entered")].join("|");
  )"));
  EXPECT_EQ(shown, "5|true|true|false");
}

TEST_F(ProfilePage, fits_a_phone) {
  const std::string shown = probe_output(render(page({"--calls", "--", PROFILED}), R"(
    document.getElementById("seen").textContent =
      document.documentElement.scrollWidth <= document.documentElement.clientWidth ? "fits" : "too wide";
  )",
                                                {"--window-size=400,800"}));
  EXPECT_EQ(shown, "fits");
}

TEST_F(ProfilePage, without_calls_says_how_to_have_them) {
  const std::string text = page({"--", PROFILED});
  EXPECT_TRUE(holds(text, "tally profile --calls --format html"));
  const std::string shown = probe_output(render(text, R"(
    document.getElementById("find").value = "eleven";
    document.getElementById("find").dispatchEvent(new Event("input"));
    document.getElementById("seen").textContent = document.querySelectorAll("#functions tbody tr").length + " " +
      document.querySelector("#functions tbody tr").textContent;
  )"));
  EXPECT_TRUE(holds(shown, "1 ")) << shown;
  EXPECT_TRUE(holds(shown, "11,000")) << shown;
}

}  // namespace
}  // namespace tally::test
