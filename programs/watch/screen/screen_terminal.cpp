#include "programs/watch/screen/screen_terminal.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "tally/core/base/text.hpp"

#ifdef TALLY_HAS_NCURSES
#include <curses.h>
#include <term.h>

#include <clocale>
// Macros of term.h.
#undef lines
#undef columns
#endif

namespace tally::screen {
#ifdef TALLY_HAS_NCURSES
namespace {

bool wants_colours() {
  const char* word = secure_getenv("NO_COLOR");  // no-color.org: present and not empty
  return (!word || !*word) && has_colors();
}

attr_t attributes_of(LineStyle style) {
  switch (style) {
    case LineStyle::title: return A_REVERSE;
    case LineStyle::heading: return wants_colours() ? A_BOLD | COLOR_PAIR(1) : A_BOLD;
    case LineStyle::strong: return A_BOLD;
    case LineStyle::faint: return A_DIM;
    case LineStyle::plain: break;
  }
  return A_NORMAL;
}

Key named(Key::Name name) { return {name, 0}; }

std::optional<Key> key_of(int code) {
  switch (code) {
    case ERR: return std::nullopt;
    case KEY_UP: return named(Key::Name::up);
    case KEY_DOWN: return named(Key::Name::down);
    case KEY_LEFT: return named(Key::Name::left);
    case KEY_RIGHT: return named(Key::Name::right);
    case KEY_PPAGE: return named(Key::Name::page_up);
    case KEY_NPAGE: return named(Key::Name::page_down);
    case KEY_HOME: return named(Key::Name::home);
    case KEY_ENTER:
    case '\n':
    case '\r': return named(Key::Name::enter);
    case KEY_BACKSPACE:
    case 127:
    case 8: return named(Key::Name::erase);
    case 27: return named(Key::Name::escape);
    case KEY_RESIZE: return named(Key::Name::resize);
    default: break;
  }
  if (code < ' ' || code > '~') return named(Key::Name::resize);  // other keys redraw only
  return Key{Key::Name::text, static_cast<char>(code)};
}

}  // namespace

bool has_terminal() { return true; }

Result<Terminal> Terminal::open() {
  if (!isatty(0) || !isatty(1)) {
    return fail(Code::cannot_measure, "standard input and output are not a terminal", "use --batch to print tables");
  }
  setlocale(LC_CTYPE, "");
  const char* name = secure_getenv("TERM");
  // initscr() would end the program for an unknown TERM.
  if (!newterm(nullptr, stdout, stdin)) {
    return fail(Code::cannot_measure, "unknown type of terminal (TERM is '" + printable(name ? name : "") + "')",
                "set TERM, for example to xterm; or use --batch to print tables");
  }
  Terminal terminal;
  if (!tigetstr("cup") || tigetstr("cup") == reinterpret_cast<char*>(-1)) {
    return fail(Code::cannot_measure,
                "this type of terminal cannot position its cursor (TERM is '" + printable(name ? name : "") + "')",
                "use --batch to print tables");
  }
  cbreak();
  noecho();
  nonl();
  keypad(stdscr, TRUE);
  nodelay(stdscr, TRUE);
  set_escdelay(25);
  curs_set(0);
  if (wants_colours()) {
    start_color();
    use_default_colors();
    init_pair(1, COLOR_CYAN, -1);
  }
  return terminal;
}

Terminal::~Terminal() {
  if (open_) endwin();
}

std::pair<std::size_t, std::size_t> Terminal::size() const {
  return {static_cast<std::size_t>(COLS > 0 ? COLS : 80), static_cast<std::size_t>(LINES > 0 ? LINES : 24)};
}

void Terminal::draw(const std::vector<Line>& lines, bool again) {
  const std::size_t width = size().first;
  erase();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string text = lines[i].text;
    if (lines[i].style == LineStyle::title) text.append(width - std::min(width, display_width(text)), ' ');
    attrset(attributes_of(lines[i].style));
    mvaddstr(static_cast<int>(i), 0, text.c_str());
  }
  attrset(A_NORMAL);
  if (again) clearok(stdscr, TRUE);
  refresh();
}

std::optional<Key> Terminal::key() { return key_of(getch()); }

#else

bool has_terminal() { return false; }

Result<Terminal> Terminal::open() {
  return fail(Code::cannot_measure, "this tally was built without ncurses", "use --batch to print tables");
}
Terminal::~Terminal() = default;
std::pair<std::size_t, std::size_t> Terminal::size() const { return {80, 24}; }
void Terminal::draw(const std::vector<Line>&, bool) {}
std::optional<Key> Terminal::key() { return std::nullopt; }

#endif
}  // namespace tally::screen
