// The program of these tests. A command under test may start a worker, which is the program that it runs in: here the
// tests, and those must not run again in each worker.
#include <gmock/gmock.h>

#include <cstdio>
#include <string_view>

int main(int count, char** words) {
  testing::InitGoogleMock(&count, words);
  if (count > 1 && std::string_view(words[1]) == "worker") {
    std::fputs("The tests of the command line are no worker.\n", stderr);
    return 3;
  }
  return RUN_ALL_TESTS();
}
