#pragma once

namespace cambium::train {

/// Regularised incomplete beta function I_x(a, b), a and b positive, x from 0 to 1; its continued fraction (DLMF
/// 8.17.22).
double incomplete_beta(double a, double b, double x);

/// Probability that Student's t with `freedom` degrees is at most `t`.
double student_cdf(double t, double freedom);

}  // namespace cambium::train
