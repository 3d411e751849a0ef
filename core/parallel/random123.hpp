#pragma once
// Random123 knows nvcc by itself; under HIP it has to be told that its functions are for the device too, and that they
// may not take the host's registers.
#if defined(__HIP__) && !defined(R123_CUDA_DEVICE)
#define R123_CUDA_DEVICE __attribute__((host)) __attribute__((device))
#define R123_USE_SSE 0
#endif
#include <Random123/philox.h>
