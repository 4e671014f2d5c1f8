// A test makes a call of a fake library fail: it names the call in $ATTNSCOPE_FAKE_FAILS.
#pragma once
#include <stdlib.h>
#include <string.h>

static int fails(const char* call) {
  const char* named = getenv("ATTNSCOPE_FAKE_FAILS");
  return named != NULL && strcmp(named, call) == 0;
}
