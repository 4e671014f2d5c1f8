/* Undefined behaviour ends a sanitized program with an illegal instruction (attnscope_strict() says why); the address sanitizer is
   to report it with its source line and stack. What ASAN_OPTIONS says comes on top. Weak: a program may get this twice. */
__attribute__((weak)) const char* __asan_default_options(void);
const char* __asan_default_options(void) { return "handle_sigill=1"; }
