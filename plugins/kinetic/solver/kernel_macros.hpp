#pragma once
#include "core/base/pack.hpp"

// Small kernels are worth inlining everywhere; large ones are compiled once and called.
#define KINETIC_SMALL CAMBIUM_FN
#if defined(__CUDACC__) || defined(__HIPCC__)
#define KINETIC_LARGE __host__ __device__
#else
#define KINETIC_LARGE __attribute__((noinline))
#endif
