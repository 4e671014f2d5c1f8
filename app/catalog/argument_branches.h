#pragma once
#include <string>

namespace attnscope::catalog {

// The source with the branches on argc as a run without arguments takes them: of `if (argc > 1) n = atoi(argv[1]);`
// nothing stays, of `if (argc == 1) n = 4; else n = 5;` the first statement. What goes becomes blanks, so that all
// places stay. A branch that ends the program, or that launches a kernel, is left as it is.
std::string without_arguments(const std::string& source);

}  // namespace attnscope::catalog
