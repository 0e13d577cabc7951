"""What definitions.py finds in sources, and what walk.py says of a walk."""

import unittest

import definitions
import walk

SOURCE = '''#include "a.hpp"
namespace tally::linux {
namespace {
struct Group {  // a comment with a brace {
  int members() const { return 1; }
  int number = 1;
};
const char* brace = "{";
}  // namespace

Reader::Reader(int fd) : fd_(fd), text_{"}"} {
  if (fd < 0) throw 1;
}

template <typename T>
std::vector<T> Reader::read(const std::string& name, int (*compare)(int) = {}) { return {}; }

bool operator==(const Group& a, const Group& b) { return true; }
const auto compare = [](int a) { return a; };
}  // namespace tally::linux
'''


class Definitions(unittest.TestCase):
    def test_functions_types_and_variables_of_a_source(self):
        self.assertEqual(
            [(name, d.is_type) for name, d in definitions.definitions_in("a.cpp", SOURCE)],
            [
                ("tally::linux::Group", True),
                ("tally::linux::Group::members", False),
                ("tally::linux::Reader::Reader", False),
                ("tally::linux::Reader::read", False),
                ("tally::linux::operator==", False),
                ("tally::linux::compare", False),
            ],
        )

    def test_names_of_functions(self):
        for name, parsed in {
            "tally::linux::(anonymous namespace)::Group::members() const": ("tally::linux::Group::members", ""),
            "std::vector<int> tally::Reader::read<int>(int) [clone .isra.0]": ("tally::Reader::read", "int"),
            "tally::name[abi:cxx11](tally::Trust)": ("tally::name", "tally::Trust"),
            "tally::f(int)::{lambda(int)#1}::operator()(int) const": ("tally::f", "int"),
            "tally::operator==(tally::A const&, tally::A const&)": ("tally::operator==", "tally::A const&, tally::A const&"),
            "tally::A::operator()(int) const": ("tally::A::operator()", "int"),
        }.items():
            self.assertEqual(definitions.parse(name), parsed)

    def test_overloads_and_what_the_compiler_writes(self):
        known = definitions.Sources()
        known.by_name["tally::text"] = [
            definitions.Definition("a.cpp", "Count count", False),
            definitions.Definition("b.cpp", "Trust trust", False),
        ]
        known.by_name["tally::Count"] = [definitions.Definition("count.hpp", "", True)]
        self.assertEqual(known.file_of("tally::text(tally::Trust)"), "b.cpp")
        self.assertEqual(known.file_of("tally::Count::~Count()"), "count.hpp")
        self.assertIsNone(known.file_of("tally::missing()"))


class Walk(unittest.TestCase):
    def test_a_list_is_read_as_it_was_written(self):
        files = [f"tally/a/file_{number}.cpp" for number in range(20)] + ["tally/b/a.hpp"]
        self.assertEqual(list(walk.files_in(walk.list_of(files))), files)

    def test_more_files_and_files_that_the_page_lacks_are_mistakes(self):
        self.assertEqual(list(walk.mistakes(["a", "b"], [], 2, ["a", "b", "c"])), [])
        self.assertEqual(len(list(walk.mistakes(["a", "b"], [], 1, ["a", "b"]))), 1)
        self.assertEqual(len(list(walk.mistakes(["a", "b"], [], 2, ["a"]))), 1)
        self.assertEqual(len(list(walk.mistakes(["a"], ["tally::f()"], 1, ["a"]))), 1)


if __name__ == "__main__":
    unittest.main()
