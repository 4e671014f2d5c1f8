#include "compile/include_closure.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <set>
#include <thread>

#include "support/temp_dir.h"

namespace attnscope::compile {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_in(std::string_view source) {
  std::vector<std::string> names;
  for (const IncludedName& one : scan_includes(source).names) names.push_back(one.name);
  return names;
}
using Names = std::vector<std::string>;

TEST(IncludeScan, FindsEveryFormOfAnInclude) {
  EXPECT_EQ(names_in("#include <a.h>\n#include \"b.h\"\n"), (Names{"a.h", "b.h"}));
  EXPECT_EQ(names_in("  #  include\t<a.h> // why"), Names{"a.h"});
  EXPECT_EQ(names_in("#include_next <a.h>"), Names{"a.h"});
  EXPECT_EQ(names_in("%:include <a.h>"), Names{"a.h"});
  EXPECT_EQ(names_in("#inc\\\nlude <a.h>"), Names{"a.h"});
  EXPECT_EQ(names_in("#include \\\r\n <a.h>"), Names{"a.h"});
  EXPECT_EQ(names_in("/* x */ # /* y\n */ include /* z */ <a.h>"), Names{"a.h"});
  EXPECT_EQ(names_in("/* x\n */ #include <a.h>"), Names{"a.h"});
  EXPECT_EQ(names_in("// a comment that goes on? \\ \n#include <a.h>"), Names{"a.h"});
  EXPECT_EQ(names_in("const char* s = \"/*\";\n#include <a.h>"), Names{"a.h"});
}

TEST(IncludeScan, ReadsBothSidesOfEveryCondition) {
  EXPECT_EQ(names_in("#if 0\n#include <a.h>\n#else\n#include <b.h>\n#endif"), (Names{"a.h", "b.h"}));
  EXPECT_EQ(names_in("#if __has_include(<a.h>)\n#elif HAS(\"b.h\")\n#endif"), (Names{"a.h", "b.h"}));
}

TEST(IncludeScan, WhatIsNoDirectiveNamesNothing) {
  EXPECT_TRUE(names_in("// #include <a.h>\n * #include <a.h>\nx #include <a.h>\n#included <a.h>\n").empty());
  EXPECT_TRUE(names_in("#include <a.h\n>").empty());
}

TEST(IncludeScan, SeesWhatAMacroNames) {
  const ScannedIncludes found = scan_includes(
      "\n#include HEADER\n#include STD(vector)\n#define HEADER \"a.h\"\n#define STD(x) <std/x>\n#if "
      "__has_include(HEADER)");
  ASSERT_EQ(found.computed.size(), 3u);
  EXPECT_EQ(found.computed[0].macro, "HEADER");
  EXPECT_EQ(found.computed[0].line, 2u);
  EXPECT_EQ(found.computed[1].argument, "vector");
  ASSERT_EQ(found.macros.size(), 2u);
  EXPECT_EQ(found.macros[1].parameter, "x");
  EXPECT_EQ(found.macros[1].body.name, "std/x");
}

TEST(IncludeScan, LinesAreTheSourcesOwn) {
  const auto names = scan_includes("a \\\n b\n\n#include \\\n<a.h>\n#include <b.h>").names;
  ASSERT_EQ(names.size(), 2u);
  EXPECT_EQ(names[0].line, 5u);
  EXPECT_EQ(names[1].line, 6u);
}

TEST(IncludeScan, AByteOrderMarkStandsBeforeNoDirective) {
  EXPECT_EQ(names_in("\xEF\xBB\xBF#include <a.h>\n"), Names{"a.h"});
}

// Text that opens and never closes costs time in proportion to its length: a quadratic cost would exceed the test's
// time.
TEST(IncludeScan, OpeningsWithoutAnEndCostTheirLength) {
  for (const std::string text : {"#include \"a\"\n", "#", "# ", "#include <a\n", "#include \"\n", "#/*\n", "#if\n",
                                 "#if (", "#if (<a\n", "#if (<a>) __has_include(B)\n", "#define A(x) <\n", "\\ "}) {
    std::string source;
    while (source.size() < 2000000) source += text;
    EXPECT_LE(scan_includes(source + "*/").names.size(), source.size()) << text;
  }
}

class Closure : public testing::Test {
 protected:
  Names files(const std::string& source) {
    Names found;
    for (const fs::path& file : reader.closure(source, folders)->files)
      found.push_back(fs::relative(file, folder.path()).string());
    std::ranges::sort(found);
    return found;
  }
  std::string digest(const std::string& source) { return reader.closure(source, folders)->digest; }

  testing_support::TempDir folder;
  const std::vector<fs::path> folders = {folder / "one", folder / "two"};
  IncludeReader reader;
};

TEST_F(Closure, FollowsNamesThroughFilesAndMacros) {
  folder.write("one/a.h", "#if 0\n#include \"sub/b.h\"\n#endif\n");
  folder.write("one/sub/b.h", "#include \"c.h\"\n#include HEADER(d)\n");
  folder.write("one/sub/c.h", "#define HEADER(x) <deep/x.h>\n#include <a.h>\n");
  folder.write("two/deep/d.h", "");
  folder.write("two/unused.h", "");
  EXPECT_EQ(files("#include <a.h>\n"), (Names{"one/a.h", "one/sub/b.h", "one/sub/c.h", "two/deep/d.h"}));
}

TEST_F(Closure, TakesAWholeFolderWhereANameCannotBeFollowed) {
  folder.write("one/a.h", "#include DEEP\n");
  folder.write("two/unused.h", "");
  EXPECT_EQ(files("#include <a.h>\n"), (Names{"one", "one/a.h", "two", "two/unused.h"}));
}

TEST_F(Closure, NothingOutsideOfTheFoldersBelongsToIt) {
  folder.write("secret.h", "");
  folder.write("one/a.h", "#include \"../secret.h\"\n#include \"../one/b.h\"\n");
  folder.write("one/b.h", "");
  const std::string absolute = (folder / "secret.h").string();
  EXPECT_EQ(files("#include <a.h>\n#include \"" + absolute + "\"\n#include <../secret.h>\n"),
            (Names{"one/a.h", "one/b.h"}));
}

TEST_F(Closure, EveryChangeOfAFileShowsInTheDigest) {
  const std::vector<std::string> parts = {"one/a.h", "one/b.h", "two/c.h"};
  folder.write("one/a.h", "#include \"b.h\"\n#if 0\n#include <c.h>\n#endif\n");
  folder.write("one/b.h", "");
  folder.write("two/c.h", "");
  const std::string source = "#include <a.h>\n";
  std::set<std::string> seen = {digest(source)};
  EXPECT_EQ(digest(source), *seen.begin());
  for (const std::string& part : parts) {
    // The new content has the same size and is written right after the read: neither size nor clock shows the change.
    const std::string text = testing_support::read_text(folder / part);
    for (const char* more : {"//a", "//b"}) {
      folder.write(part, text + more);
      EXPECT_TRUE(seen.insert(digest(source)).second) << part << " " << more;
    }
  }
  // A file of that name where the compiler looks first.
  folder.write("one/c.h", "");
  EXPECT_TRUE(seen.insert(digest(source)).second);
}

// When nothing has changed for a while, only stamps are read. Each of these changes what the compiler would read.
TEST_F(Closure, WhatComesToAPlaceThatWasEmptyIsSeen) {
  const std::vector<std::pair<const char*, std::function<void(const fs::path&)>>> changes = {
      {"a file where the compiler looks first", [](const fs::path& at) { std::ofstream(at / "one/c.h") << "new"; }},
      {"a file in a folder that comes with it",
       [](const fs::path& at) {
         fs::create_directories(at / "one/deep/er");
         std::ofstream(at / "one/deep/er/d.h") << "new";
       }},
      {"what a link leads to", [](const fs::path& at) { std::ofstream(at / "elsewhere.h") << "new"; }},
      {"the folder that a link leads to",
       [](const fs::path& at) {
         fs::create_directories(at / "afar");
         std::ofstream(at / "afar/g.h") << "new";
       }},
      {"a file in a folder's place",
       [](const fs::path& at) {
         fs::remove(at / "one/f.h");
         std::ofstream(at / "one/f.h") << "new";
       }},
      {"a folder of the search in another's place",
       [](const fs::path& at) {
         fs::rename(at / "one", at / "before");
         fs::rename(at / "other", at / "one");
       }},
      {"a file in a place below a file",
       [](const fs::path& at) {
         fs::remove(at / "one/h");
         fs::create_directories(at / "one/h");
         std::ofstream(at / "one/h/h.h") << "new";
       }},
      {"a changed file", [](const fs::path& at) { std::ofstream(at / "two/c.h") << "new"; }},
      {"a file that goes", [](const fs::path& at) { fs::remove(at / "two/c.h"); }},
  };
  const std::string source =
      "#include <c.h>\n#include <deep/er/d.h>\n#include <e.h>\n#include <f.h>\n#include <g/g.h>\n#include <h/h.h>\n";
  struct Case {
    fs::path at;
    IncludeReader reader;
    std::shared_ptr<const IncludeClosure> before;
    std::vector<fs::path> folders() const { return {at / "one", at / "two"}; }
  };
  std::vector<std::unique_ptr<Case>> cases;
  for (size_t i = 0; i < changes.size(); ++i) {
    const std::string name = std::to_string(i);
    for (const char* file : {"/one/h", "/two/c.h", "/two/d.h", "/other/c.h"}) folder.write(name + file, file);
    fs::create_directories(folder / (name + "/one/f.h"));
    fs::create_symlink("../elsewhere.h", folder / (name + "/one/e.h"));
    fs::create_symlink("../afar", folder / (name + "/one/g"));
    cases.push_back(std::make_unique<Case>());
    cases.back()->at = folder / name;
  }
  while (platform::is_recent(*platform::folder_stamp_of(cases.back()->at / "one")))
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  for (size_t i = 0; i < changes.size(); ++i) {
    Case& one = *cases[i];
    one.before = one.reader.closure(source, one.folders());
    ASSERT_EQ(one.reader.closure(source, one.folders()), one.before) << "it is known by its stamps";
    changes[i].second(one.at);
    EXPECT_NE(one.reader.closure(source, one.folders())->digest, one.before->digest) << changes[i].first;
  }
}

// The kernel's clock ticks every few milliseconds: two contents of one size may have the same stamp.
TEST_F(Closure, AChangeWithinOneTickOfTheClockIsSeen) {
  const std::string source = "#include <a.h>\n";
  for (int time = 0; time < 200; ++time) {
    IncludeReader fresh;
    folder.write("one/a.h", "1");
    const auto stamp = platform::stamp_of(folder / "one/a.h");
    const std::string first = fresh.closure(source, folders)->digest;
    folder.write("one/a.h", "2");
    if (platform::stamp_of(folder / "one/a.h") != stamp) continue;
    while (platform::is_recent(*stamp)) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_NE(fresh.closure(source, folders)->digest, first);
    return;
  }
  GTEST_SKIP() << "here each change has its own stamp";
}

TEST_F(Closure, TheSameFilesElsewhereHaveTheSameDigest) {
  folder.write("one/a.h", "x");
  folder.write("three/a.h", "x");
  EXPECT_EQ(reader.closure("#include <a.h>", {folder / "one"})->digest,
            reader.closure("#include <a.h>", {(folder / "three").string() + "/"})->digest);
}

}  // namespace
}  // namespace attnscope::compile
