"""What language.py and glossary.py find, and what they leave alone."""

import sys
import unittest

import glossary
import language

SOURCE = '''// The bytes behind it, a carried thing.
struct Held;  // only declared
struct Held {
  int number_behind = 1'000;
  const char* text = "it stands here";  // stands for
};
#include "tally/behind/behind.hpp"
'''

DOCUMENT = """It runs already, see [anew](anew.md) and `behind`.

```
what stands here is a program's output, anew
```
"""


def found(path, text):
    return [(use.kind, use.line, use.word) for use in language.uses_in(path, text, language.read_rules())]


class Language(unittest.TestCase):
    def test_comments_texts_and_names_of_a_source(self):
        self.assertEqual(
            found("a.cpp", SOURCE),
            [
                ("comments", 1, "behind"),
                ("comments", 1, "carried"),
                ("names", 3, "Held"),
                ("names", 4, "number_behind"),
                ("texts", 5, "stands"),
            ],
        )

    def test_vague_names_that_the_product_declares(self):
        source = """struct A { int part; };
bool is_known(const A& one, int* made) {
  for (const auto& place : places) if (place == one.part) return found;
  auto [known, b] = pair(one);  // not found
  return made * one && known;
}
"""
        declared = [("variables", line, word) for line, word in [(1, "part"), (2, "one"), (2, "made"), (3, "place")]]
        self.assertEqual(found("tally/a.cpp", source), declared)
        self.assertEqual(found("programs/a.hpp", source), declared)
        self.assertEqual(found("tally/a_test.cpp", source), [])
        self.assertEqual(found("tests/a.cpp", source), [])

    def test_prose_of_a_document(self):
        self.assertEqual(found("a.md", DOCUMENT), [("documents", 1, "runs already"), ("documents", 1, "anew")])

    def test_all_words_of_a_script(self):
        script = "#!/bin/sh\n# The bytes behind it.\necho 'it stands here' # look_at is a name\n"
        expected = [("scripts", 2, "behind"), ("scripts", 3, "stands")]
        for path in ("dev", "dev.d/guest/init", "ci/gate", "a/CMakeLists.txt", "cmake/a.cmake", "a/a.py", "a.sh"):
            self.assertEqual(found(path, script), expected)

    def test_an_area_is_a_document_or_a_directory(self):
        document = language.Use("documents", "docs/a.md", 1, "anew", "again")
        source = language.Use("names", "tally/core/base/text.hpp", 1, "anew", "again")
        self.assertEqual(language.area_of(document), "documents docs/a.md")
        script = language.Use("scripts", "dev", 1, "anew", "again")
        self.assertEqual(language.area_of(source), "names tally/core/base")
        self.assertEqual(language.area_of(script), "scripts .")

    def test_more_than_recorded_fails_and_fewer_does_not(self):
        self.assertEqual(language.check({"names tally/a": 2}, {"names tally/a": 1}, []), 1)
        self.assertEqual(language.check({"names tally/a": 2}, {}, []), 1)
        self.assertEqual(language.check({"names tally/a": 2}, {"names tally/a": 3}, []), 0)


class Glossary(unittest.TestCase):
    TABLE = "| term | meaning | where | others |\n|---|---|---|---|\n| count | a value | `here` | |\n| event | | `there` | |\n| count | a number | `here` | |\n"

    def test_terms_are_defined_once_and_found(self):
        entries = list(glossary.rows(self.TABLE))
        self.assertEqual(
            list(glossary.mistakes(entries, ["trust"], "to count", lambda path: path == "here")),
            [
                "'event' has no meaning",
                "'event': there is no there",
                "'event' is used nowhere else",
                "'count' is defined twice",
                "'trust' is used in results and is not defined",
            ],
        )


if __name__ == "__main__":
    sys.argv = sys.argv[:1]
    unittest.main()
