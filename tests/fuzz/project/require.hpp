// A promise that an input broke: the fuzzer keeps the input and stops.
#pragma once

#include <cstdio>
#include <cstdlib>

#define REQUIRE(promise)                                                                 \
  do {                                                                                   \
    if (!(promise)) {                                                                    \
      std::fprintf(stderr, "%s:%d: broken promise: %s\n", __FILE__, __LINE__, #promise); \
      std::abort();                                                                      \
    }                                                                                    \
  } while (false)
