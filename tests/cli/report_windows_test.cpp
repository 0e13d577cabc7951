// Pages of windows, as a browser shows them: time lines, brush, phases, histogram.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/cli/pages.hpp"

namespace tally::test {
namespace {

constexpr const char* columns =
    "series,number,time_ns,length,program,process,thread,cpu,instructions:u,loads:u,trigger,address,lost,trust\r\n";

std::string row(int series, int number, int loads, const char* trigger = "instructions:u") {
  return fmt::format("{},{},{},1000,prog,7,{},0,1000,{},{},{:#x},0,exact\r\n", series, number, 1000 * number,
                     6 + series, loads, trigger, 0x401000 + number);
}

// A page of N windows of one thread.
std::string page_of_windows(int count, const std::function<int(int)>& loads) {
  std::string text = columns;
  for (int number = 1; number <= count; ++number) text += row(1, number, loads(number));
  const TemporaryFile file("windows.csv", text);
  return page_of({file.path()});
}

int two_phases(int number) { return number % 20 < 10 ? 100 : 300; }

class WindowsPage : public Browser {
 protected:
  void SetUp() override {
    Browser::SetUp();
    if (IsSkipped()) return;
    if (!holds(page_of_windows(3, two_phases), "github.com/danvk/dygraphs"))
      GTEST_SKIP() << "this tally was built without libjs-dygraphs";
  }
};

// Functions for probes: move the pointer to a share of the width of a panel, and read the label.
const std::string tools = R"js(
  const section = document.querySelector("section[data-windows]");
  const say = (lines) => { document.getElementById("seen").textContent = lines.join("\n"); };
  const buttons = [...section.querySelectorAll(".bar button")];
  const pause = () => new Promise((done) => setTimeout(done, 50));
  const point = async (share) => {
    const canvas = [...section.querySelectorAll(".plot canvas")].pop();
    const box = canvas.getBoundingClientRect();
    canvas.dispatchEvent(new MouseEvent("mousemove", { bubbles: true, clientX: box.left + 56 + share * (box.width - 64), clientY: box.top + 40 }));
    await pause();
    return section.querySelector(".status").textContent + " | " + [...section.querySelectorAll(".panel .value")].map((one) => one.textContent).join(" ");
  };
)js";

TEST_F(WindowsPage, shows_the_values_at_the_pointer) {
  const std::string dom = render(page_of_windows(41, two_phases),
                                 tools + "(async () => say([await point(0), await point(0.25), await point(1)]))();");
  EXPECT_EQ(probe_output(dom),
            "window 1 · ends at 1,000 instructions · 0.001 ms · length 1,000 · at 0x401001 · phase 1 | 0.1\n"
            "window 11 · ends at 11,000 instructions · 0.011 ms · length 1,000 · at 0x40100b · phase 2 | 0.3\n"
            "window 41 · ends at 41,000 instructions · 0.041 ms · length 1,000 · at 0x401029 · phase 1 | 0.1");
}

TEST_F(WindowsPage, zooms_by_its_buttons_and_by_a_phases_representative) {
  const std::string dom = render(page_of_windows(4001, two_phases), tools + R"js((async () => {
    const lines = [section.dataset.drawn];
    for (const i of [0, 0, 2]) { buttons[i].click(); lines.push(section.dataset.drawn); }
    section.querySelectorAll("[data-show]")[1].click();
    lines.push(section.dataset.drawn, section.querySelector(".status").textContent);
    say(lines);
  })();)js");
  EXPECT_EQ(probe_output(dom),
            "4001\n2001\n1001\n4001\n60\nwindow 10 · ends at 10,000 instructions · 0.01 ms · length 1,000 · at "
            "0x40100a · phase "
            "2");
}

TEST_F(WindowsPage, many_windows_are_few_points_and_none_is_lost) {
  const auto one_far = [](int number) { return number == 150'001 ? 90'000 : two_phases(number); };
  const std::string dom = render(page_of_windows(200'000, one_far), tools + R"js((async () => {
    const lines = [section.dataset.drawn, section.dataset.ranges < 1000, section.querySelector(".panel .value").textContent];
    const texts = [];
    for (let share = 0.745; share < 0.755; share += 0.0005) texts.push(await point(share));
    const there = texts.find((one) => one.endsWith("to 90"));
    lines.push(/windows 1\d\d,\d+ to 150,\d+/.test(there), there.replace(/.*\| mean [\d.]+, /, ""));
    say(lines);
  })();)js");
  EXPECT_EQ(probe_output(dom), "200000\ntrue\nmaximum outside the axis: 90\ntrue\n0.1 to 90");
}

TEST_F(WindowsPage, minimum_maximum_and_mean_are_of_all_windows_of_a_range) {
  const auto scattered = [](int number) { return static_cast<int>(number * 7919LL % 1009); };
  const std::string dom = render(page_of_windows(1500, scattered), tools + R"js(
    const head = windowsData.read(section), thread = head.thread(0), quantity = head.quantities.find((one) => one.name === "loads:u");
    const wrong = [];
    for (let from = 0; from < 1500; from += 37) for (let to = from + 1; to <= 1500; to += 53) {
      const all = [...thread.counts[1].slice(from, to)];
      const [least, most] = thread.extremes(quantity, from, to);
      const mean = all.reduce((a, b) => a + b) / all.length;
      if (least !== Math.min(...all) || most !== Math.max(...all) || Math.abs(thread.mean(quantity, from, to) - mean) > 1e-9) wrong.push([from, to]);
    }
    say([thread.counts[1][0], wrong.length]);
  )js");
  EXPECT_EQ(probe_output(dom), "856\n0") << "7919 modulo 1009, and no range is wrong";
}

TEST_F(WindowsPage, shows_each_thread_by_itself) {
  std::string text = columns;
  for (int number = 1; number <= 30; ++number) text += row(1, number, 100);
  for (int number = 1; number <= 7; ++number) text += row(2, number, 500, number == 7 ? "end" : "instructions:u");
  const TemporaryFile file("windows.csv", text);
  const std::string dom = render(page_of({file.path()}), tools + R"js((async () => {
    const choose = section.querySelector("select");
    const lines = [[...choose.options].map((one) => one.textContent).join(), section.dataset.drawn];
    choose.value = 1;
    choose.dispatchEvent(new Event("change"));
    lines.push(section.dataset.drawn, await point(1));
    say(lines);
  })();)js");
  EXPECT_EQ(
      probe_output(dom),
      "prog 7 · 30,prog 8 of 7 · 7\n30\n7\n"
      "window 7 · ends at 7,000 instructions · 0.007 ms · length 1,000 · at 0x401007 · shortened: the thread ended · "
      "phase 2 | 0.5");
}

TEST_F(WindowsPage, has_a_brush_a_histogram_and_lanes) {
  const std::string dom = render(page_of_windows(100, two_phases), tools + R"js((async () => {
    const chart = Chart.getChart(section.querySelector(".canvas canvas"));
    const handles = section.querySelectorAll(".brush .dygraph-rangesel-zoomhandle").length;
    const lanes = section.querySelector("canvas.rows");
    const sums = chart.data.datasets.map((set) => set.label + " " + set.data.reduce((a, b) => a + b));
    say([handles, lanes.clientHeight, sums.join(", "), chart.options.scales.x.title.text]);
  })();)js");
  EXPECT_EQ(probe_output(dom), "2\n30\nphase 1 50, phase 2 50, no phase 0\nloads-per-instruction");
}

TEST_F(WindowsPage, the_x_axis_is_instructions_unless_another_is_chosen) {
  const std::string dom = render(page_of_windows(100, two_phases), tools + R"js((async () => {
    const axis = [...section.querySelectorAll(".bar select")].find((one) => one.options[0].textContent === "instructions");
    const labels = () => [...section.querySelectorAll(".brush .dygraph-axis-label-x")].map((one) => one.textContent);
    const lines = [[...axis.options].map((one) => one.textContent).join(), section.querySelector(".axis-name").textContent, labels().join(" ")];
    axis.value = "number";
    axis.dispatchEvent(new Event("change"));
    lines.push(section.querySelector(".axis-name").textContent, labels().every((label) => Number(label) % 5 === 0));
    say(lines);
  })();)js");
  EXPECT_EQ(probe_output(dom),
            "instructions,time,window number\ninstructions executed by the thread\n20 k 40 k 60 k 80 k\n"
            "window number\ntrue");
}

TEST_F(WindowsPage, the_histogram_has_round_edges) {
  const auto scattered = [](int number) { return 100 + static_cast<int>(number * 7919LL % 811); };
  const std::string dom = render(page_of_windows(400, scattered), tools + R"js(
    const chart = Chart.getChart(section.querySelector(".canvas canvas"));
    say([chart.data.labels.slice(0, 3).join(" "), chart.data.datasets.reduce((sum, set) => sum + set.data.reduce((a, b) => a + b), 0)]);
  )js");
  EXPECT_EQ(probe_output(dom), "0.1 0.12 0.14\n400");
}

TEST_F(WindowsPage, rows_of_hpctool_are_drawn_by_their_number) {
  std::string text = "ins,l_cycle,ref_cycle,event1,event2,event3,event4\r\n";
  for (int i = 0; i < 40; ++i)
    text += fmt::format("{},0,{},{},2,3,4\r\n", 50'005 + i, 150 * (i + 9), i < 20 ? 10 : 900);
  const TemporaryFile file("sampl.csv", text + "5690,0,150,1,0,0,0\r\n");
  const std::string page = page_of({file.path()});
  EXPECT_TRUE(holds(page, "41 windows, each ended by instructions"));
  const std::string dom = render(page, tools + R"js((async () =>
    say([section.querySelectorAll(".bar select").length, (await point(0.5)).split(" · ").slice(0, 2).join(" ")]))();)js");
  EXPECT_EQ(probe_output(dom), "3\nwindow 21 ends at 1,050,315 instructions")
      << "without times: two x axes to choose from";
}

TEST_F(WindowsPage, fits_a_phone_and_follows_the_colours_of_the_system) {
  const std::string page = page_of_windows(500, two_phases);
  const std::string probe = tools + R"js(
    const chart = Chart.getChart(section.querySelector(".canvas canvas"));
    say([document.documentElement.scrollWidth <= document.documentElement.clientWidth ? "fits" : "too wide",
      getComputedStyle(document.querySelector(".dygraph-axis-label")).color, chart.data.datasets[0].backgroundColor]);
  )js";
  EXPECT_EQ(probe_output(render(page, probe, {"--window-size=400,800"})), "fits\nrgb(89, 99, 110)\n#1f5fae");
  EXPECT_EQ(probe_output(render(page, probe, {"--blink-settings=preferredColorScheme=0"})),
            "fits\nrgb(154, 165, 177)\n#6cacf5");
}

// A browser prints what dygraphs draws only from copies of its canvases.
TEST_F(WindowsPage, is_drawn_for_paper_and_then_for_the_screen_again) {
  const std::string dom = render(page_of_windows(500, two_phases), tools + R"js((async () => {
    const inked = () => {
      const canvas = section.querySelector(".plot canvas"), all = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
      return all.filter((one, i) => i % 4 === 3 && one > 0).length > 1000;
    };
    const width = () => section.querySelector(".plot canvas").width / section.querySelector(".plot").clientWidth;
    const lines = [inked(), width()];
    dispatchEvent(new Event("beforeprint"));
    lines.push(inked(), width());
    dispatchEvent(new Event("afterprint"));
    lines.push(inked(), width(), (await point(0.5)).includes("window"));
    say(lines);
  })();)js");
  EXPECT_EQ(probe_output(dom), "true\n1\ntrue\n3\ntrue\n1\ntrue");
}

TEST_F(WindowsPage, asks_no_network_and_reports_no_error) {
  std::string page = page_of_windows(500, two_phases);
  page.insert(page.find("<style>"),
              "<script>window.wrong = []; addEventListener('error', (e) => wrong.push(e.message));</script>");
  const std::string dom = render(page, tools + R"js((async () => {
    await point(0.5);
    for (let i = 0; i < section.querySelectorAll("select").length; ++i) {
      const one = section.querySelectorAll("select")[i];
      one.selectedIndex = 1;
      one.dispatchEvent(new Event("change"));
    }
    section.querySelectorAll("input").forEach((one) => one.click());
    await pause();
    say([JSON.stringify([wrong, performance.getEntriesByType("resource").map((one) => one.name)])]);
  })();)js");
  EXPECT_EQ(probe_output(dom), "[[],[]]");
}

}  // namespace
}  // namespace tally::test
