#include "bench/everyday_inputs.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "bench/input.hpp"

namespace bench {
namespace {

constexpr auto hello_c = "#include <stdio.h>\nint main(void) { puts(\"hello\"); return 0; }\n";

constexpr auto hello_java =
    "public class Hello { public static void main(String[] words) { System.out.println(\"hello\"); } }\n";

constexpr auto work_java = R"(
import java.util.*;
public class Work {
  static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
  public static void main(String[] words) {
    Map<String, Integer> counts = new HashMap<>();
    for (int i = 0; i < 200000; i++) counts.merge("key" + i % 500, i, Integer::sum);
    System.out.println(fib(27) + counts.size());
  }
}
)";

constexpr auto hello_rs = R"(
use std::collections::HashMap;
#[derive(Debug, Clone, PartialEq)]
struct Point { x: i64, y: i64 }
fn main() {
    let mut counts: HashMap<String, Vec<Point>> = HashMap::new();
    for i in 0..10 { counts.entry(format!("key{}", i % 3)).or_default().push(Point { x: i, y: i * i }); }
    println!("{:?}", counts.values().map(|all| all.len()).sum::<usize>());
}
)";

/// Thousands of functions, so that indirect calls have thousands of targets.
constexpr auto functions_js = R"(
const all = [];
for (let i = 0; i < 3000; i++) all.push(new Function('x', `let s = x; for (let j = 0; j < 5; j++) s += j * ${i}; return s;`));
let sum = 0;
for (let round = 0; round < 200; round++) for (const one of all) sum += one(round);
console.log(sum);
)";

constexpr auto loops_lua = R"(
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local t, s = {}, 0
for i = 1, 200 do t[i] = function(x) return (x * i) % 1009 end end
for round = 1, 200000 do for i = 1, 200 do s = s + t[i](round) end end
local words = {}
for i = 1, 300000 do words[i % 5000] = (words[i % 5000] or '') .. 'x' end
print(fib(32), s, #words)
)";

constexpr auto loops_php = R"(<?php
$all = [];
for ($i = 0; $i < 20000; $i++) $all["k" . $i % 500] = ($all["k" . $i % 500] ?? 0) + $i;
echo count($all), "\n";
)";

constexpr auto work_cs = R"(
using System; using System.Collections.Generic;
class Work {
  static int Fib(int n) { return n < 2 ? n : Fib(n - 1) + Fib(n - 2); }
  static void Main() {
    var counts = new Dictionary<string, int>();
    for (int i = 0; i < 200000; i++) { var k = "key" + i % 500; counts.TryGetValue(k, out int n); counts[k] = n + i; }
    Console.WriteLine(Fib(27) + counts.Count);
  }
}
)";

/// What configure scripts do: small compilations, and many short processes between them.
constexpr auto configure_sh = R"sh(
cd "$(dirname "$0")" && mkdir -p conf && cd conf
for name in stdio stdlib string unistd fcntl errno signal time math ctype limits stdint; do
  printf '#include <%s.h>\nint main(void) { return 0; }\n' $name >conftest.c
  if cc -c conftest.c 2>/dev/null; then found=yes; else found=no; fi
  upper=$(echo "$name" | tr a-z A-Z)
  expr "$found" : yes >/dev/null && echo "#define HAVE_${upper}_H 1" | sed 's/  */ /g' >>config.h
  rm -f conftest.c conftest.o
done
grep -c HAVE config.h
rm -f config.h
)sh";

constexpr auto processes_sh = R"sh(
i=0
while [ $i -lt 60 ]; do
  line=$(echo "$i: $(expr $i \* 3)" | sed 's/:/ =/' | cut -c1-20)
  /bin/true
  i=$((i + 1))
done
echo "$line"
)sh";

void write(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  if (file.flush()) return;
  fmt::print(stderr, "bench: cannot write {}\n", path);
  std::exit(1);
}

std::string indented(std::string text) {
  for (std::size_t line = text.find('\n'); line != std::string::npos; line = text.find('\n', line + 1))
    text.insert(line + 1, "    ");
  return text;
}

void write_project(const std::string& folder) {
  std::filesystem::create_directories(folder);
  std::string names, objects, rules;
  for (int i = 0; i < 16; ++i) {
    write(fmt::format("{}/part{}.c", folder, i),
          fmt::format("#include <stdio.h>\nint part{}(int n) {{ return printf(\"%d\", n) + {}; }}\n", i, i));
    names += fmt::format(" part{}.c", i);
    objects += fmt::format(" part{}.o", i);
  }
  write(folder + "/Makefile", "all: libparts.a\nlibparts.a:" + objects +
                                  "\n\tar rc $@ $^\n%.o: %.c\n\tcc -O1 -c -o $@ $<\nclean:\n\trm -f *.o *.a\n");
  write(folder + "/CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.16)\nproject(parts C)\nadd_library(parts STATIC" + names + ")\n");
}

}  // namespace

void write_everyday_inputs(const std::string& folder) {
  write_project(folder + "/project");
  write(folder + "/mixed", mixed_input(3'000'000));
  write(folder + "/script.sql", sql_script(40'000));
  // These run for 0.3 to 1 s.
  write(folder + "/large", mixed_input(6'000'000));
  write(folder + "/large.sql", sql_script(100'000));
  write(folder + "/loop.py", "for round in range(5):" + indented(python_loop));
  write(folder + "/hello.c", hello_c);
  write(folder + "/Hello.java", hello_java);
  write(folder + "/Work.java", work_java);
  write(folder + "/hello.rs", hello_rs);
  write(folder + "/functions.js", functions_js);
  write(folder + "/loops.lua", loops_lua);
  write(folder + "/loops.php", loops_php);
  write(folder + "/work.cs", work_cs);
  write(folder + "/configure.sh", configure_sh);
  write(folder + "/processes.sh", processes_sh);
}

}  // namespace bench
