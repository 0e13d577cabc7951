#include "tests/cli/pages.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace tally::test {

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string browser() {
  for (const char* path : {"/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"}) {
    if (std::filesystem::exists(path)) return path;
  }
  return {};
}

std::string render(const std::string& page, const std::string& probe, const Words& more) {
  const TemporaryFile file("page.html");
  // A headless browser makes no frames, so callbacks for the next frame would never run.
  const std::string head = "<script>window.requestAnimationFrame = (run) => setTimeout(run, 0);</script>";
  const std::size_t style = page.find("<style>");
  const std::size_t end = page.rfind("</body>");
  std::ofstream(file.path()) << page.substr(0, style) << head << page.substr(style, end - style)
                             << "<pre id=\"seen\"></pre><script>" << probe << "</script></body></html>\n";
  const std::string profile = std::filesystem::path(file.path()).parent_path() / "profile";
  // A sandbox needs rights that a test in a container does not have.
  Words words{browser(),
              "--headless=new",
              "--no-sandbox",
              "--disable-gpu",
              "--dump-dom",
              "--virtual-time-budget=5000",
              "--no-first-run",
              "--user-data-dir=" + profile,
              "--window-size=1000,800"};
  words.insert(words.end(), more.begin(), more.end());
  words.push_back("file://" + file.path());
  std::string dom = Running(words).finish().out;
  std::error_code ignored;
  std::filesystem::remove_all(profile, ignored);
  return dom;
}

std::string probe_output(const std::string& dom) {
  const std::string begin = "<pre id=\"seen\">";
  const std::size_t at = dom.find(begin);
  if (at == std::string::npos) return "the browser showed nothing: " + dom.substr(0, 500);
  return dom.substr(at + begin.size(), dom.find("</pre>", at) - at - begin.size());
}

std::string page_of(const Words& files) {
  const TemporaryFile page("made.html");
  Words words{"report", "-o", page.path()};
  words.insert(words.end(), files.begin(), files.end());
  const Finished finished = tally(words);
  EXPECT_EQ(finished.code(), 0) << finished.err;
  return content_of(page.path());
}

}  // namespace tally::test
