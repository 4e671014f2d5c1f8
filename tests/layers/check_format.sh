#!/usr/bin/env bash
# check_format.sh ROOT CACHE: fails if ./dev format would change a file. Skipped where clang-format is not in the cache.
set -euo pipefail
if [[ ! -x "$2/tools/clang-format/clang-format" ]]; then
  echo "$2/tools/clang-format has no clang-format. ./dev test and ./dev format fetch it."
  exit 77
fi
XDG_CACHE_HOME="$(dirname "$2")" exec "$1/dev" format --check
