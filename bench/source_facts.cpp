// Prints what the catalog's reader finds in each file whose name is a line of the standard input: the names of the
// kernels that it defines, a |, and how many launches it finds (bench/parsed_sources.py).
#include <fmt/format.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "catalog/cuda_source.h"

int main() {
  for (std::string name; std::getline(std::cin, name);) {
    std::ifstream file(name, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const attnscope::catalog::CudaSource source = attnscope::catalog::read_cuda_source(text);
    for (const auto& [kernel, place] : source.defined) fmt::print("{} ", kernel);
    fmt::print("|{}\n", source.launches.size());
  }
}
