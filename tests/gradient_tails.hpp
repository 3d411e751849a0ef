#pragma once
// What a gradient's tail says of its error in 4 bits, and that error without and with the Hadamard transforms of
// core/lowp.
//
// A group of 128 is rounded at random to steps of max/7, which leaves an error of max/7/sqrt(6) per number: relative to
// the group's root mean square r, max/r / (7 sqrt(6)). Numbers that many others were mixed into are nearly normal,
// whose largest of 128 is 2.8 r; the transform therefore halves the error where max/r is 5.66 or more before it. One
// number that stands out by that much among 128 alone makes the kurtosis sum x^4 n / (sum x^2)^2 = (max/r)^4 / 128 = 8;
// two such numbers make 4. Normal numbers have 3. A matrix is called heavy-tailed where the kurtosis within its groups,
// weighted by their squares (as errors are), is above 30; tables give 8 and more beside it.
#include <algorithm>
#include <cmath>
#include <iomanip>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "core/lowp/groups.hpp"
#include "core/lowp/hadamard.hpp"

namespace cambium::test {

constexpr double heavy_tail = 30.0;

inline double kurtosis(std::span<const float> x) {
  double two = 0, four = 0;
  for (float v : x) {
    two += std::pow(v, 2);
    four += std::pow(v, 4);
  }
  return two > 0 ? four * static_cast<double>(x.size()) / (two * two) : 0.0;
}

/// f(group, sum of its squares) for each group of 128.
template <class F>
void each_group(std::span<const float> x, F&& f) {
  for (std::size_t k = 0; k + 128 <= x.size(); k += 128) {
    double two = 0;
    for (float v : x.subspan(k, 128)) two += std::pow(v, 2);
    f(x.subspan(k, 128), two);
  }
}

/// Kurtosis within groups, weighted by their squares.
inline double weighted_kurtosis_of_groups(std::span<const float> x) {
  double sum = 0, weight = 0;
  each_group(x, [&](auto group, double two) { sum += two * kurtosis(group), weight += two; });
  return weight > 0 ? sum / weight : 0.0;
}

enum class Transform { none, of_32, randomised };

inline void forward(Transform transform, std::span<float> x) {
  if (transform == Transform::of_32) lowp::hadamard32(x);
  if (transform == Transform::randomised) lowp::randomised_hadamard(x);
}
inline void backward(Transform transform, std::span<float> x) {
  if (transform == Transform::of_32) lowp::inverse_hadamard32(x);
  if (transform == Transform::randomised) lowp::inverse_randomised_hadamard(x);
}

/// Relative error of 4 bits in groups of 128, root mean square over `draws` of the rounding.
inline double error_of_4_bits(const std::vector<float>& exact, Transform transform, int draws = 1) {
  double error = 0, size = 0;
  for (int draw = 0; draw < draws; ++draw) {
    auto x = exact;
    std::vector<std::byte> message(lowp::int4_groups.bytes(std::ssize(x)));
    forward(transform, x);
    lowp::encode_groups(lowp::int4_groups, x, {1, 2, 3 + static_cast<std::uint64_t>(draw), 0}, message);
    lowp::decode_groups(lowp::int4_groups, message, x);
    backward(transform, x);
    for (std::size_t k = 0; k < x.size(); ++k) {
      error += std::pow(double(x[k]) - exact[k], 2);
      size += std::pow(exact[k], 2);
    }
  }
  return size > 0 ? std::sqrt(error / size) : 0.0;
}

/// A line of the table that studies/low_precision_gradients.py reads.
inline void write_tail(std::ostream& out, const std::string& network, int seed, int steps, const std::string& tensor,
                       const std::vector<float>& g) {
  out << std::setprecision(4) << "gradient " << network << ' ' << seed << ' ' << steps << ' ' << tensor << ' '
      << g.size() << ' ' << kurtosis(g) << ' ' << weighted_kurtosis_of_groups(g);
  for (auto transform : {Transform::none, Transform::of_32, Transform::randomised})
    out << ' ' << error_of_4_bits(g, transform, 8);
  out << '\n';
}

}  // namespace cambium::test
