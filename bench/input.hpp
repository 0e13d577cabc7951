#pragma once

#include <cstddef>
#include <string>

namespace bench {

/// Returns the same bytes on every machine: 60 % prose-like text, 30 % table-like records and 10 % noise that does
/// not compress. Has its own generator, because the distributions of <random> differ between libraries.
std::string mixed_input(std::size_t size_bytes);

/// An SQL script of inserts, an index, joins and sums, with the same rows on every machine.
std::string sql_script(int rows);

/// Objects, a dictionary and integers in Python.
inline constexpr auto python_loop = R"(
class Account:
    def __init__(self, start): self.sum = start
    def add(self, n): self.sum += n % 7
account = Account(3)
names = {}
for i in range(400000):
    account.add(i * i)
    if i % 3 == 0: names[str(i)] = account.sum
print(account.sum, len(names))
)";

/// Hashes, recursion and regular expressions in Perl.
inline constexpr auto perl_loop = R"(
my (%h, $sum);
for my $i (1 .. 500000) { $sum += $i * 3 % 7; $h{$i % 1000} .= 'x' if $i % 5 == 0 }
sub fib { my $n = shift; $n < 2 ? $n : fib($n - 1) + fib($n - 2) }
my $text = 'abc def ghi ' x 20000;
my $words = 0;
$words++ while $text =~ /(\w+)/g;
print $sum, ' ', fib(20), ' ', $words, "\n";
)";

}  // namespace bench
