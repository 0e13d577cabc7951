#!/usr/bin/env python3
"""Tests that the comparison finds real differences, and ignores those between any two machines."""

import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import blocks
import compare
import options


def differs(shown, printed, **said):
    marks = blocks.marks_of("", "here") | {key.replace("_", " "): value for key, value in said.items()}
    shown, printed = shown.split("\n"), printed.split("\n")
    return bool(compare.difference(shown, printed, marks))


class Comparison(unittest.TestCase):
    def test_numbers_units_and_columns_may_differ(self):
        self.assertFalse(differs(" user_time   323.3 ms   partial [2]", " user_time  1.02 s  partial [1]"))
        self.assertFalse(differs("1,,,,,,loads:u,25912,exact,,,,", "1,,,,,,loads:u,31007,exact,,,,\r"))
        self.assertFalse(differs("a\n\nb", "\na\nb\n"))

    def test_words_and_names_may_not(self):
        self.assertTrue(differs("cycles:u  5  counted", "cycles:u  5  exact"))
        self.assertTrue(differs("L1-misses 5", "L2-misses 5"))
        self.assertTrue(differs("at 0x1000", "at 0x2000"))
        self.assertTrue(differs("2 of 3", "two of 3"))
        self.assertTrue(differs("took 5 ms", "took 5 KiB"))
        self.assertTrue(differs("version 6.1.2", "version 6.1.3"))

    def test_lines_may_not_be_more_or_fewer(self):
        self.assertTrue(differs("a\nb", "a"))
        self.assertTrue(differs("a", "a\nb"))
        self.assertTrue(differs("", "a"))

    def test_what_is_left_out_may_be_anything(self):
        self.assertFalse(differs("…\nend", "a\nb\nend"))
        self.assertFalse(differs("a\n…\nz", "a\nz"))
        self.assertFalse(differs("at … now", "at 0x2000 now"))
        self.assertTrue(differs("…\nend", "a\nb"))

    def test_exactly_means_every_digit(self):
        self.assertFalse(differs("102 exact", "102 exact", numbers="exactly"))
        self.assertTrue(differs("102 exact", "103 exact", numbers="exactly"))

    def test_exact_counts_are_of_the_size_that_is_shown(self):
        self.assertFalse(differs("loads:u  2,025,318  exact", "loads:u  1,425,318  exact"))
        self.assertTrue(differs("loads:u  2,025,318  exact", "loads:u  925,318  exact"))
        self.assertTrue(differs("loads:u  5,000  exact\n…\nloads:u  90,000  exact", "loads:u  5,000  exact\nloads:u  5,000  exact"))

    def test_marks_widen_it(self):
        self.assertFalse(differs("name AMD EPYC", "name Intel Xeon", may_differ=["AMD EPYC"]))
        self.assertFalse(differs("a\nnote: of AMD\nb", "a\nb", may_lack=["of AMD"]))
        self.assertTrue(differs("a\nnote: of AMD\nb", "a", may_lack=["of AMD"]))


class Documents(unittest.TestCase):
    def read(self, text):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "a.md"), "w", encoding="utf-8") as file:
                file.write(text)
            return blocks.read(folder, "a.md"), options.commands(folder, "a.md")

    def test_a_block_has_its_marks_and_its_steps(self):
        read, _ = self.read("<!-- example\nexit: 2\nmay lack: x\n-->\n```\n$ a \\\n  b\n1\n$ c\n```\n\n```\nno example\n```\n")
        self.assertEqual([block.is_example() for block in read], [True, False])
        self.assertEqual(read[0].line, 5)
        self.assertEqual(read[0].steps(), [["a \\\n  b", ["1"]], ["c", []]])
        self.assertEqual((read[0].marks["exit"], read[0].marks["may lack"]), ("2", ["x"]))
        self.assertNotIn("exit", read[1].marks)

    def test_an_unknown_mark_is_refused(self):
        with self.assertRaises(ValueError):
            self.read("<!-- example exits: 2 -->\n```\n$ a\n```\n")

    def test_a_mark_without_a_block_is_refused(self):
        with self.assertRaises(ValueError):
            self.read("<!-- example exit: 2 -->\nwords\n")

    def test_commands_are_found_with_their_options(self):
        _, found = self.read("`tally stat -e a,b -- ./prog` and `TALLY_X=1 ./dev test --quick`, tally is\n"
                             "```\ntally doctor --json     says why\n```\n")
        self.assertEqual(sorted(found), ["dev test --quick", "tally doctor --json", "tally stat -e a,b"])


class HelpTexts:
    def of(self, program, *command):
        return "  memory  sizes\n  stat  counts\n\nTopics of help:\n  running  how\n" if not command else "tasks: tlb\n  -r, --repeat N  runs\n      --pin CPU  one\n"


class Commands(unittest.TestCase):
    def wrong(self, command):
        return options.misnamed(command, options.words_of(command), HelpTexts())

    def test_what_does_not_exist_is_told(self):
        self.assertIsNone(self.wrong("tally stat -r 3 --pin 1"))
        self.assertIn("no command 'start'", self.wrong("tally start"))
        self.assertIn("no command 'running'", self.wrong("tally running"))
        self.assertIsNone(self.wrong("tally help running"))
        self.assertIsNone(self.wrong("tally help stat"))
        self.assertIsNone(self.wrong("tally help TOPIC"))
        self.assertIn("no topic 'start'", self.wrong("tally help start"))
        self.assertIn("no option '--repeated'", self.wrong("tally stat --repeated 3"))
        self.assertIn("no option '-x'", self.wrong("tally stat -x ,"))
        self.assertIsNone(self.wrong("tally memory tlb"))
        self.assertIn("no task 'tlbs'", self.wrong("tally memory tlbs"))

    def test_only_what_is_whole_and_quick_is_run(self):
        can = lambda command: options.can_be_run(command, options.words_of(command), HelpTexts())
        self.assertTrue(can("tally stat -r 3") and can("tally event 0x4101C2"))
        self.assertFalse(can("tally stat -r") or can("tally stat --pin") or can("tally event NAME") or can("tally memory tlb"))


if __name__ == "__main__":
    unittest.main()
