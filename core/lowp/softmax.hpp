#pragma once
#include <cstdint>

namespace cambium::lowp {

/// y[k] = exp(x[k]) / sum over j of exp(x[j]), within 2 units in the last place, in two passes over memory (Dukhan and
/// Ablavatski, 2020): exponentials are kept as m 2^n with n a number of its own, so that no maximum is needed first.
/// `y` may be `x`. -infinity gives 0; not-a-number or +infinity anywhere makes every value not-a-number.
void softmax(const float* x, std::int64_t n, float* y);

/// The usual form, which reads x three times: largest value, sum of exp(x - largest), result. For comparison, and for
/// numbers beyond 7e6 in magnitude, where softmax() calls it.
void softmax_three_passes(const float* x, std::int64_t n, float* y);

}  // namespace cambium::lowp
