#include "plugins/deepmd/model/table_part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/parallel/random.hpp"
#include "plugins/deepmd/model/model.hpp"
#include "plugins/deepmd/model/network_jet.hpp"

namespace cambium::deepmd {

namespace {

constexpr int coefficients = TablePart::coefficients;
constexpr int most_intervals = 1 << 16;  ///< per part; a larger table would cost more than it saves

/// The quintic in t with the given values, slopes and curvatures (by t) at t = 0 and 1.
void hermite(const Jet<double>& p, const Jet<double>& q, double* a) {
  const double rise = q.value - p.value;
  a[0] = p.value;
  a[1] = p.first;
  a[2] = 0.5 * p.second;
  a[3] = 10.0 * rise - 6.0 * p.first - 4.0 * q.first - 1.5 * p.second + 0.5 * q.second;
  a[4] = -15.0 * rise + 8.0 * p.first + 7.0 * q.first + 1.5 * p.second - q.second;
  a[5] = 6.0 * rise - 3.0 * (p.first + q.first) - 0.5 * (p.second - q.second);
}

TablePart interpolate(const Network& net, double from, double to, int count) {
  TablePart part{from, (to - from) / count, count, net.out(), {}, 0.0, 0.0};
  part.a.resize(static_cast<std::size_t>(count) * static_cast<std::size_t>(part.channels) * coefficients);
  auto node = [&](int k) {
    std::vector<Jet<double>> jets = evaluate_jet(net, from + k * part.width);
    for (auto& jet : jets) {
      jet.first *= part.width;
      jet.second *= part.width * part.width;
    }
    return jets;
  };
  std::vector<Jet<double>> left = node(0);
  double* a = part.a.data();
  for (int k = 0; k < count; ++k) {
    std::vector<Jet<double>> right = node(k + 1);
    for (std::size_t c = 0; c < left.size(); ++c, a += coefficients) hermite(left[c], right[c], a);
    left = std::move(right);
  }
  return part;
}

/// Value and t-derivative in the arithmetic of the kernels.
template <class T>
std::pair<double, double> polynomial(const double* a, double at) {
  const T t = static_cast<T>(at);
  T value = static_cast<T>(a[5]), slope = value;
  for (int k = 4; k >= 0; --k) {
    value = value * t + static_cast<T>(a[k]);
    if (k > 0) slope = slope * t + value;
  }
  return {value, slope};
}

}  // namespace

template <class T>
void measure(const Network& net, TablePart& part) {
  part.value_error = part.slope_error = 0.0;
  for (int k = 0; k < part.count; ++k) {
    const Random4 random(1, Stream::model_weights, static_cast<std::uint64_t>(k), 0);
    const double at[] = {0.2763932, 0.5, 0.7236068, random.uniform(0), random.uniform(1), random.uniform(2)};
    for (double t : at) {
      const double* a = part.at(k);
      for (const Jet<double>& jet : evaluate_jet(net, part.from + (k + t) * part.width)) {
        const auto [value, slope] = polynomial<T>(a, t);
        part.value_error = std::max(part.value_error, std::abs(value - jet.value));
        part.slope_error = std::max(part.slope_error, std::abs(slope / part.width - jet.first));
        a += coefficients;
      }
    }
  }
}

template void measure<double>(const Network&, TablePart&);
template void measure<float>(const Network&, TablePart&);

TablePart tabulate(const Network& net, double from, double to, double tolerance, const std::string& source) {
  for (int count = 8;; count *= 2) {
    TablePart part = interpolate(net, from, to, count);
    measure<double>(net, part);
    if (std::max(part.value_error, part.slope_error) <= tolerance) return part;
    if (count >= most_intervals)
      throw InputError(
          fmt::format("{}: with {} intervals the compressed embedding is still {:.1e} off, more than the tolerance "
                      "{:.1e}; give a larger tolerance, or leave the key compress out",
                      source, count, std::max(part.value_error, part.slope_error), tolerance));
  }
}

TablePart straight_end(const TablePart& part) {
  TablePart end{part.to(),
                part.width,
                1,
                part.channels,
                std::vector<double>(static_cast<std::size_t>(part.channels) * coefficients),
                0.0,
                0.0};
  const double* last = part.at(part.count - 1);
  for (int c = 0; c < part.channels; ++c, last += coefficients) {
    const auto [value, slope] = polynomial<double>(last, 1.0);
    end.at(0)[c * coefficients] = value;
    end.at(0)[c * coefficients + 1] = slope;
  }
  return end;
}

}  // namespace cambium::deepmd
