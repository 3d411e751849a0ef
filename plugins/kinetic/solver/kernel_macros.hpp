#pragma once
#include "core/base/pack.hpp"

// Small kernels are worth inlining everywhere; large ones are compiled once and called.
#define KINETIC_SMALL CAMBIUM_FN
#if defined(CAMBIUM_DEVICE_COMPILER)
#define KINETIC_LARGE __attribute__((host)) __attribute__((device))
#else
#define KINETIC_LARGE __attribute__((noinline))
#endif
