// The manual's table of arguments equals what the device layer can pass.
#include <gtest/gtest.h>

#include "catalog/arguments.h"
#include "device/parameters.h"

namespace attnscope::worker {
namespace {

TEST(Arguments, EveryOneOfTheManualCanBePassed) {
  for (const catalog::Argument& argument : catalog::arguments()) {
    compile::CubinKernel kernel;
    kernel.parameters = {{.ordinal = 0, .offset = 0, .size = argument.bytes}};
    kernel.parameter_bytes = argument.bytes;
    const auto arguments = device::attention_arguments(std::vector{std::string(argument.name)}, {});
    ASSERT_TRUE(arguments) << argument.name;
    EXPECT_TRUE(device::pack_parameters(kernel, *arguments, std::vector<uint64_t>(4))) << argument.name;
  }
}

}  // namespace
}  // namespace attnscope::worker
