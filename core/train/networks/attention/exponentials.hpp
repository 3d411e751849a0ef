#pragma once
#include <cstdint>

namespace cambium::train {

/// Replaces x[k] by e^(x[k] - shift) for n values; the result does not depend on their alignment. T is double or float.
template <class T>
void exponentials(T* x, std::int64_t n, T shift);

extern template void exponentials(double*, std::int64_t, double);
extern template void exponentials(float*, std::int64_t, float);

}  // namespace cambium::train
