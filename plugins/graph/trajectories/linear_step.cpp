#include "plugins/graph/trajectories/linear_step.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/numerics/symmetric_eigen.hpp"
#include "plugins/graph/molecules/least_squares.hpp"

namespace cambium::graph {

namespace {

double dot(const double* a, const double* b, std::size_t n) {
  double sum = 0.0;
  for (std::size_t k = 0; k < n; ++k) sum += a[k] * b[k];
  return sum;
}

/// Leading modes of rows (states, n): eigenvectors of their Gram matrix (method of snapshots, Sirovich 1987), largest
/// first.
std::vector<double> modes_of(const std::vector<std::vector<double>>& rows) {
  const std::size_t states = rows.size(), n = rows[0].size();
  std::vector<double> products(states * states), values(states), out;
  for (std::size_t a = 0; a < states; ++a)
    for (std::size_t b = 0; b <= a; ++b)
      products[a * states + b] = products[b * states + a] = dot(rows[a].data(), rows[b].data(), n);
  symmetric_eigenvectors(static_cast<int>(states), products.data(), values.data());
  for (std::size_t j = states; j-- > 0;) {
    if (values[j] <= 1e-12 * values.back()) break;
    out.resize(out.size() + n, 0.0);
    double* mode = &out[out.size() - n];
    for (std::size_t a = 0; a < states; ++a)
      for (std::size_t k = 0; k < n; ++k) mode[k] += products[j * states + a] * rows[a][k] / std::sqrt(values[j]);
  }
  return out;
}

/// The first `kept` amplitudes of a state, followed by 1.
std::vector<double> with_one(const std::vector<double>& amplitude, std::size_t kept) {
  std::vector<double> out(amplitude.begin(), amplitude.begin() + static_cast<std::ptrdiff_t>(kept));
  out.push_back(1.0);
  return out;
}

/// Rows (kept, kept + 1) of a map from the amplitudes of a state, and 1, to those of the next, in the first modes.
std::vector<double> fitted_map(const std::vector<std::vector<std::vector<double>>>& amplitude, std::size_t kept) {
  const std::size_t width = kept + 1;
  std::vector<double> squares(width * width, 0.0), out(kept * width), size;
  std::vector<std::vector<double>> right(kept, std::vector<double>(width, 0.0));
  for (const auto& run : amplitude)
    for (std::size_t m = 0; m + 1 < run.size(); ++m) {
      const auto x = with_one(run[m], kept);
      for (std::size_t b = 0; b < width; ++b) {
        for (std::size_t a = 0; a < width; ++a) squares[a * width + b] += x[a] * x[b];
        for (std::size_t a = 0; a < kept; ++a) right[a][b] += run[m + 1][a] * x[b];
      }
    }
  // Normalises each amplitude by its own magnitude; otherwise strong modes would dominate weak ones.
  for (std::size_t a = 0; a < width; ++a) size.push_back(std::sqrt(std::max(squares[a * width + a], 1e-300)));
  for (std::size_t a = 0; a < width; ++a)
    for (std::size_t b = 0; b < width; ++b) squares[a * width + b] /= size[a] * size[b];
  for (std::size_t a = 0; a < kept; ++a) {
    for (std::size_t b = 0; b < width; ++b) right[a][b] /= size[b];
    const auto row = solve_symmetric(squares, right[a]);
    for (std::size_t b = 0; b < width; ++b) out[a * width + b] = row[b] / size[b];
  }
  return out;
}

std::vector<double> mapped(const std::vector<double>& map, const std::vector<double>& x) {
  const std::size_t kept = x.size(), width = kept + 1;
  std::vector<double> out(kept);
  for (std::size_t a = 0; a < kept; ++a) out[a] = dot(&map[a * width], x.data(), kept) + map[a * width + kept];
  return out;
}

}  // namespace

ModeStep::ModeStep(std::span<const Trajectory> training) {
  place_ = training[0].place;
  std::vector<std::vector<double>> states;
  for (const auto& t : training)
    if (fits(t)) states.insert(states.end(), t.value.begin(), t.value.end());
  const std::size_t n = states[0].size();
  mean_.assign(n, 0.0);
  for (const auto& state : states)
    for (std::size_t k = 0; k < n; ++k) mean_[k] += state[k] / static_cast<double>(states.size());
  constexpr std::size_t most = 1500;  // states in the Gram matrix
  const std::size_t every = (states.size() + most - 1) / most;
  std::vector<std::vector<double>> some;
  for (std::size_t k = 0; k < states.size(); ++k) {
    for (std::size_t i = 0; i < n; ++i) states[k][i] -= mean_[i];
    if (k % every == 0) some.push_back(states[k]);
  }
  mode_ = modes_of(some);
  const std::size_t all = mode_.size() / n;
  std::vector<std::vector<std::vector<double>>> amplitude;
  std::size_t at = 0;
  for (const auto& t : training) {
    if (!fits(t)) continue;
    amplitude.emplace_back();
    for (std::int64_t m = 0; m < t.moments(); ++m, ++at) {
      std::vector<double> a(all);
      for (std::size_t k = 0; k < all; ++k) a[k] = dot(&mode_[k * n], states[at].data(), n);
      amplitude.back().push_back(std::move(a));
    }
  }
  // Chooses the number of modes by rollouts over trajectories excluded from the fit; then fits the map to all of them.
  const std::size_t held = std::max<std::size_t>(1, amplitude.size() / 5), fit = amplitude.size() - held;
  std::size_t kept = std::min<std::size_t>(all, 10);
  double least = std::numeric_limits<double>::infinity();
  const std::size_t most_modes = std::min<std::size_t>(all, 256);
  for (std::size_t tried = 1, next; fit > 0 && tried <= most_modes; tried = next) {
    next = tried < most_modes ? std::min(tried * 3 / 2 + 1, most_modes) : most_modes + 1;
    const auto map = fitted_map({amplitude.begin(), amplitude.begin() + static_cast<std::ptrdiff_t>(fit)}, tried);
    double error = 0.0;
    for (std::size_t r = fit; r < amplitude.size(); ++r) {
      std::vector<double> x(amplitude[r][0].begin(), amplitude[r][0].begin() + static_cast<std::ptrdiff_t>(tried));
      for (std::size_t m = 1; m < amplitude[r].size(); ++m) {
        x = mapped(map, x);
        for (std::size_t k = 0; k < all; ++k) {
          const double off = (k < tried ? x[k] : 0.0) - amplitude[r][m][k];
          error += off * off;
        }
      }
    }
    if (error < least) {
      least = error;
      kept = tried;
    }
  }
  map_ = fitted_map(amplitude, kept);
  mode_.resize(kept * n);
}

std::vector<double> ModeStep::step(const Trajectory&, std::span<const double> value) const {
  const std::size_t n = mean_.size(), modes = mode_.size() / n;
  std::vector<double> off(n), x(modes), out = mean_;
  for (std::size_t k = 0; k < n; ++k) off[k] = value[k] - mean_[k];
  for (std::size_t k = 0; k < modes; ++k) x[k] = dot(&mode_[k * n], off.data(), n);
  x = mapped(map_, x);
  for (std::size_t k = 0; k < modes; ++k)
    for (std::size_t i = 0; i < n; ++i) out[i] += x[k] * mode_[k * n + i];
  return out;
}

namespace {

double mean_length(const Trajectory& t) {
  double sum = 0.0;
  for (std::size_t e = 0; e + 1 < t.edge.size(); e += 2) {
    double square = 0.0;
    for (int k = 0; k < 3; ++k) square += std::pow(t.place[3 * t.edge[e] + k] - t.place[3 * t.edge[e + 1] + k], 2);
    sum += std::sqrt(square);
  }
  return sum / static_cast<double>(t.edge.size() / 2);
}

constexpr std::size_t monomials = 6;  // 1, x, y, x^2, x y, y^2

}  // namespace

/// (nodes, fields + fields * monomials): values, then sums over neighbours.
std::vector<double> StencilStep::features(const Trajectory& on, std::span<const double> value) const {
  const std::size_t width = fields_ * (1 + monomials), n = static_cast<std::size_t>(on.nodes());
  std::vector<double> out(n * width, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t f = 0; f < fields_; ++f) out[i * width + f] = value[i * fields_ + f];
  for (std::size_t e = 0; e + 1 < on.edge.size(); e += 2)
    for (const bool back : {false, true}) {
      const auto to = static_cast<std::size_t>(on.edge[e + (back ? 1 : 0)]);
      const auto from = static_cast<std::size_t>(on.edge[e + (back ? 0 : 1)]);
      const double x = (on.place[3 * from] - on.place[3 * to]) / length_;
      const double y = (on.place[3 * from + 1] - on.place[3 * to + 1]) / length_;
      const double weight = on.weight[e / 2], power[monomials] = {1.0, x, y, x * x, x * y, y * y};
      for (std::size_t f = 0; f < fields_; ++f) {
        const double change = weight * (value[from * fields_ + f] - value[to * fields_ + f]);
        for (std::size_t p = 0; p < monomials; ++p) out[to * width + fields_ + f * monomials + p] += power[p] * change;
      }
    }
  return out;
}

StencilStep::StencilStep(std::span<const Trajectory> training) {
  fields_ = training[0].value[0].size() / static_cast<std::size_t>(training[0].nodes());
  length_ = mean_length(training[0]);
  const std::size_t width = fields_ * (1 + monomials);
  std::vector<double> squares(width * width, 0.0);
  std::vector<std::vector<double>> right(fields_, std::vector<double>(width, 0.0));
  for (const auto& t : training)
    for (std::int64_t m = 0; m + 1 < t.moments(); ++m) {
      const auto& value = t.value[m];
      const auto& next = t.value[static_cast<std::size_t>(m) + 1];
      const auto row = features(t, value);
      for (std::size_t i = 0; i < static_cast<std::size_t>(t.nodes()); ++i)
        for (std::size_t a = 0; a < width; ++a) {
          const double x = row[i * width + a];
          for (std::size_t b = 0; b < width; ++b) squares[a * width + b] += x * row[i * width + b];
          for (std::size_t f = 0; f < fields_; ++f) right[f][a] += x * (next[i * fields_ + f] - value[i * fields_ + f]);
        }
    }
  for (std::size_t f = 0; f < fields_; ++f) {
    const auto found = solve_symmetric(squares, right[f]);
    coefficient_.insert(coefficient_.end(), found.begin(), found.end());
  }
}

std::vector<double> StencilStep::step(const Trajectory& on, std::span<const double> value) const {
  const std::size_t width = fields_ * (1 + monomials);
  const auto row = features(on, value);
  std::vector<double> out(value.begin(), value.end());
  for (std::size_t i = 0; i < static_cast<std::size_t>(on.nodes()); ++i)
    for (std::size_t f = 0; f < fields_; ++f)
      out[i * fields_ + f] += dot(&coefficient_[f * width], &row[i * width], width);
  return out;
}

}  // namespace cambium::graph
