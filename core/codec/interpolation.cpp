#include "core/codec/interpolation.hpp"

#include <algorithm>
#include <bit>

#include "core/codec/stencil.hpp"

namespace cambium::lowp {
namespace {

constexpr int dims = FieldShape::dimensions;

/// A level k above the finest has a bound smaller by min(ratio^k, most); those of spacing `anchor` and more by
/// `anchor_factor`.
struct Grades {
  double ratio, most;
  std::int64_t anchor = std::int64_t{1} << 62;
};
// The pairs of SZ3 (Liang et al. 2023), one for fields whose finest level is almost free, and almost exact anchors for
// fields that coarse interpolation describes within the bound.
constexpr Grades grades[LevelBounds::choices] = {{1.25, 2.0}, {1.0, 1.0},     {1.5, 2.5},     {2.0, 3.0},
                                                 {2.0, 8.0},  {1.0, 1.0, 64}, {1.25, 2.0, 64}};
constexpr double anchor_factor = 64.0;
constexpr int weight_steps = 8192;  // a weight, from -1 to 2, in two bytes

/// Points of one level that are between others along the dimensions of `set`, row by row: visit(first point, its index,
/// number of points).
template <class Visit>
void for_each_row(const FieldShape& shape, std::int64_t s, unsigned set, Visit&& visit) {
  std::array<std::int64_t, dims> from;
  for (int d = 0; d < dims; ++d) {
    from[d] = set >> d & 1 ? s : 0;
    if (from[d] >= shape.extent[d]) return;
  }
  const std::int64_t n = (shape.extent[dims - 1] - from[dims - 1] + 2 * s - 1) / (2 * s);
  std::array<std::int64_t, dims> i = from;
  for (i[0] = from[0]; i[0] < shape.extent[0]; i[0] += 2 * s)
    for (i[1] = from[1]; i[1] < shape.extent[1]; i[1] += 2 * s)
      for (i[2] = from[2]; i[2] < shape.extent[2]; i[2] += 2 * s)
        visit(i[0] * shape.stride[0] + i[1] * shape.stride[1] + i[2] * shape.stride[2] + from[3], i, n);
}

/// out[k] (+)= stencil around x[k * Step].
template <class T, int Step>
void add_stencil(const T* x, std::int64_t step, std::int64_t distance, const Stencil<T>& w, bool first, std::int64_t n,
                 T* out) {
  if constexpr (Step > 0) step = Step;
  const T a = w.at[0], b = w.at[1], c = w.at[2], d = w.at[3];
  if (a == 0 && d == 0 && c != 0) {
    for (std::int64_t k = 0; k < n; ++k) {
      const T v = b * x[k * step - distance] + c * x[k * step + distance];
      out[k] = first ? v : out[k] + v;
    }
  } else if (a != 0 && d != 0) {
    for (std::int64_t k = 0; k < n; ++k) {
      const T* y = x + k * step;
      const T v = (a * y[-3 * distance] + d * y[3 * distance]) + (b * y[-distance] + c * y[distance]);
      out[k] = first ? v : out[k] + v;
    }
  } else {
    for (std::int64_t k = 0; k < n; ++k) {
      const T v = apply(w, x + k * step, distance);
      out[k] = first ? v : out[k] + v;
    }
  }
}

/// Predictions of one row. `x`: its first point.
template <class T, int Step>
void predict_row(const T* x, const std::array<std::int64_t, dims>& index, std::int64_t n, const FieldShape& shape,
                 std::int64_t s, unsigned set, const InterpolationPlan::Between& how, T* out) {
  bool first = true;
  for (int d = 0; d < dims - 1; ++d) {
    if (!(set >> d & 1)) continue;
    const auto w = stencil_at(index[d], s, shape.extent[d], how.cubic >> d & 1, static_cast<T>(how.weight[d]));
    add_stencil<T, Step>(x, 2 * s, s * shape.stride[d], w, first, n, out);
    first = false;
  }
  constexpr int d = dims - 1;
  if (!(set >> d & 1)) return;
  const std::int64_t extent = shape.extent[d];
  const auto weight = static_cast<T>(how.weight[d]);
  auto single = [&](std::int64_t k) {
    const T v = apply(stencil_at(index[d] + 2 * s * k, s, extent, how.cubic >> d & 1, weight), x + 2 * s * k, s);
    out[k] = first ? v : out[k] + v;
  };
  // Away from both ends all four values exist.
  const std::int64_t begin = std::min<std::int64_t>(1, n);
  std::int64_t end = n;
  while (end > begin && index[d] + 2 * s * (end - 1) + 3 * s >= extent) --end;
  for (std::int64_t k = 0; k < begin; ++k) single(k);
  if (end > begin)
    add_stencil<T, Step>(x + 2 * s * begin, 2 * s, s,
                         stencil_at(index[d] + 2 * s, s, extent, how.cubic >> d & 1, weight), first, end - begin,
                         out + begin);
  for (std::int64_t k = std::max(end, begin); k < n; ++k) single(k);
}

/// Every row of every level in the order of prediction: visit(quantizer, row, step, predictions, n).
template <class T, class Visit>
void traverse(T* field, const FieldShape& shape, const InterpolationPlan& plan, double bound, Visit&& visit) {
  std::vector<T> prediction(shape.extent[dims - 1] + 1, T(0));
  visit(Quantizer<T>(bound), field, 1, prediction.data(), 1);
  for (std::size_t l = 0; l < plan.levels().size(); ++l) {
    const auto& level = plan.levels()[l];
    const Quantizer<T> quantizer(plan.level_bound(l, bound));
    const std::int64_t s = level.spacing;
    for (unsigned set = 1; set < 16; ++set)
      for_each_row(shape, s, set, [&](std::int64_t at, const auto& index, std::int64_t n) {
        if (s == 1)
          predict_row<T, 2>(field + at, index, n, shape, s, set, level.between[set], prediction.data());
        else
          predict_row<T, 0>(field + at, index, n, shape, s, set, level.between[set], prediction.data());
        visit(quantizer, field + at, 2 * s, prediction.data(), n);
      });
  }
}

/// Errors of linear (d) and cubic (4 + d) interpolation along each dimension at the same points, empty for dimensions
/// along which these are not between others.
using Errors = std::array<std::vector<double>, 2 * dims>;

/// Weighted means of products of errors; lower triangle, of available errors.
struct Moments {
  double mean[2 * dims][2 * dims] = {};
};

/// Sum over k < n of term(k), in SIMD lanes.
template <class Term>
double sum_of(std::size_t n, Term&& term) {
  constexpr std::size_t lanes = 8;
  double lane[lanes] = {};
  std::size_t k = 0;
  for (; k + lanes <= n; k += lanes)
    for (std::size_t j = 0; j < lanes; ++j) lane[j] += term(k + j);
  for (; k < n; ++k) lane[0] += term(k);
  double sum = 0.0;
  for (double x : lane) sum += x;
  return sum;
}

/// `weight`: of each point; empty: one.
Moments moments_of(const Errors& errors, const std::vector<int>& chosen, const std::vector<double>& weight) {
  Moments m;
  const std::size_t n = errors[chosen[0]].size();
  const double* w = weight.data();
  const double all = weight.empty() ? static_cast<double>(n) : sum_of(n, [&](std::size_t k) { return w[k]; });
  for (int i : chosen)
    for (int j : chosen) {
      if (j > i) continue;
      const double *a = errors[i].data(), *b = errors[j].data();
      m.mean[i][j] = (weight.empty() ? sum_of(n, [&](std::size_t k) { return a[k] * b[k]; })
                                     : sum_of(n, [&](std::size_t k) { return w[k] * a[k] * b[k]; })) /
                     all;
    }
  return m;
}

/// Leaves out points at which an error is NaN or huge.
void keep_usable(Errors& errors, std::size_t n) {
  constexpr double huge = 1e150;
  std::vector<char> usable(n, 1);
  for (const auto& error : errors)
    for (std::size_t k = 0; k < error.size(); ++k) usable[k] &= std::abs(error[k]) < huge;
  if (std::find(usable.begin(), usable.end(), 0) == usable.end()) return;
  for (auto& error : errors) {
    std::size_t kept = 0;
    for (std::size_t k = 0; k < error.size(); ++k)
      if (usable[k]) error[kept++] = error[k];
    error.resize(kept);
  }
}

template <class T>
Errors sample_errors(const T* field, const FieldShape& shape, std::int64_t s, unsigned set) {
  Errors errors;
  std::int64_t rows = 0, row = 0, points = 0;
  for_each_row(shape, s, set, [&](std::int64_t, const auto&, std::int64_t n) { ++rows, points += n; });
  const std::int64_t every = std::max<std::int64_t>(1, points / 4096), across = every > 4 ? 2 : 1;
  std::vector<T> prediction(shape.extent[dims - 1]);
  std::size_t taken = 0;
  for_each_row(shape, s, set, [&](std::int64_t at, const auto& index, std::int64_t n) {
    if (row++ % ((every + across - 1) / across) != 0) return;
    const T* x = field + at;
    for (std::int64_t k = row % across; k < n; k += across) ++taken;
    for (int e = 0; e < 2 * dims; ++e) {
      const int d = e % dims;
      if (!(set >> d & 1)) continue;
      InterpolationPlan::Between alone;
      alone.cubic = static_cast<std::uint8_t>(e < dims ? 0u : 1u << d);
      alone.weight[d] = 1.0f;
      if (s == 1)
        predict_row<T, 2>(x, index, n, shape, s, 1u << d, alone, prediction.data());
      else
        predict_row<T, 0>(x, index, n, shape, s, 1u << d, alone, prediction.data());
      for (std::int64_t k = row % across; k < n; k += across)
        errors[e].push_back(static_cast<double>(prediction[k]) - static_cast<double>(x[2 * s * k]));
    }
  });
  keep_usable(errors, taken);
  return errors;
}

float of_steps(int steps) { return static_cast<float>(steps) / static_cast<float>(weight_steps); }

/// Rounds the weights of `set` to their stored precision. The last is one minus the others: a sum that is not exactly
/// one would shift every prediction in proportion to the value.
void round_weights(InterpolationPlan::Between& how, unsigned set) {
  int rest = weight_steps;
  for (int d = 0; d < dims; ++d) {
    if (!(set >> d & 1)) continue;
    const bool last = set >> d == 1;
    const int steps = last ? rest : static_cast<int>(std::lrint(how.weight[d] * static_cast<float>(weight_steps)));
    rest -= steps;
    how.weight[d] = of_steps(steps);
  }
}

/// Weights, of sum one, for which the mean over dimensions `chosen` has the least expected square: C w ~ 1.
void least_error_weights(const Moments& m, const std::vector<int>& chosen, double noise,
                         InterpolationPlan::Between& how) {
  const int n = static_cast<int>(chosen.size());
  double c[dims][dims + 1];
  double scale = 0;
  for (int a = 0; a < n; ++a) scale += m.mean[chosen[a]][chosen[a]] + noise;
  for (int a = 0; a < n; ++a) {
    for (int b = 0; b < n; ++b) c[a][b] = m.mean[std::max(chosen[a], chosen[b])][std::min(chosen[a], chosen[b])];
    c[a][a] += noise + 1e-3 * scale + 1e-300;
    c[a][n] = 1.0;
  }
  for (int k = 0; k < n; ++k)
    for (int a = 0; a < n; ++a) {
      if (a == k) continue;
      const double f = c[a][k] / c[k][k];
      for (int b = k; b <= n; ++b) c[a][b] -= f * c[k][b];
    }
  double total = 0;
  for (int a = 0; a < n; ++a) total += c[a][n] / c[a][a];
  for (int a = 0; a < n; ++a) {
    const double w = c[a][n] / c[a][a] / total;
    how.weight[chosen[a] % dims] = static_cast<float>(std::isfinite(w) ? std::clamp(w, -1.0, 2.0) : 1.0 / n);
  }
}

/// A code costs the logarithm of its error, not its square: points far off, such as those at a front, count less in
/// each further round (iterated least squares for the mean of log(error^2 + 4 bound^2)).
void tune_weights(const Errors& errors, const std::vector<int>& chosen, double noise, InterpolationPlan::Between& how) {
  least_error_weights(moments_of(errors, chosen, {}), chosen, 0.6 * noise, how);
  constexpr int rounds = 3;
  std::vector<double> error, weight;
  for (int round = 0; round < rounds && chosen.size() > 1; ++round) {
    error.assign(errors[chosen[0]].size(), 0.0);
    for (int d : chosen)
      for (std::size_t k = 0; k < error.size(); ++k)
        error[k] += static_cast<double>(how.weight[d % dims]) * errors[d][k];
    weight.resize(error.size());
    for (std::size_t k = 0; k < error.size(); ++k) weight[k] = 1.0 / (error[k] * error[k] + 12.0 * noise + 1e-300);
    least_error_weights(moments_of(errors, chosen, weight), chosen, 0.6 * noise, how);
  }
}

/// For each dimension of `set`: 4 + d if cubic interpolation along it has the smaller error, else d (linear).
std::vector<int> linear_or_cubic(const Errors& errors, unsigned set, double noise, bool known) {
  std::vector<int> chosen;
  const auto square = [&](int e) {
    return sum_of(errors[e].size(), [&](std::size_t k) { return errors[e][k] * errors[e][k]; }) /
           static_cast<double>(errors[e].size());
  };
  for (int d = 0; d < dims; ++d) {
    if (!(set >> d & 1)) continue;
    // Rounding errors of two values enter a linear interpolation by 1/2, those of four a cubic one by 0.64.
    const bool cubic = !known || square(4 + d) + 0.64 * noise < square(d) + 0.5 * noise;
    chosen.push_back(cubic ? 4 + d : d);
  }
  return chosen;
}

}  // namespace

InterpolationPlan::InterpolationPlan(const FieldShape& shape, LevelBounds levels) : shape_(shape), bounds_(levels) {
  const auto longest = *std::max_element(shape.extent.begin(), shape.extent.end());
  if (longest < 2) return;
  for (auto s = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(longest - 1))); s > 0; s /= 2) {
    levels_.emplace_back();
    levels_.back().spacing = s;
  }
}

bool InterpolationPlan::used(const Level& level, unsigned set) const {
  for (int d = 0; d < dims; ++d)
    if ((set >> d & 1) && shape_.extent[d] <= level.spacing) return false;
  return true;
}

double InterpolationPlan::level_bound(std::size_t k, double bound) const {
  const auto& grade = grades[bounds_.choice];
  if (levels_[k].spacing >= grade.anchor) return bound / anchor_factor;
  const auto above = static_cast<double>(levels_.size() - 1 - k);
  return bound / std::min(std::pow(grade.ratio, above), grade.most);
}

template <class T>
InterpolationPlan::InterpolationPlan(const T* field, const FieldShape& shape, double bound, LevelBounds levels)
    : InterpolationPlan(shape, levels) {
  for (std::size_t l = 0; l < levels_.size(); ++l)
    for (unsigned set = 1; set < 16; ++set) {
      if (!used(levels_[l], set)) continue;
      auto& how = levels_[l].between[set];
      constexpr std::size_t few = 16;  // from fewer points nothing is learned
      const auto errors = sample_errors(field, shape, levels_[l].spacing, set);
      const double noise = std::pow(level_bound(l, bound), 2) / 3.0;  // of one reconstructed value
      const bool known = errors[std::countr_zero(set)].size() >= few;
      const auto chosen = linear_or_cubic(errors, set, noise, known);
      for (int e : chosen)
        if (e >= dims) how.cubic |= static_cast<std::uint8_t>(1u << (e - dims));
      if (known)
        tune_weights(errors, chosen, noise, how);
      else
        for (int e : chosen) how.weight[e % dims] = 1.0f / static_cast<float>(chosen.size());
      round_weights(how, set);
    }
}

InterpolationPlan::InterpolationPlan(ByteReader& in, const FieldShape& shape, LevelBounds levels, bool whole_weights)
    : InterpolationPlan(shape, levels) {
  for (auto& level : levels_)
    for (unsigned set = 1; set < 16; ++set) {
      if (!used(level, set)) continue;
      auto& how = level.between[set];
      how.cubic = in.get<std::uint8_t>();
      int rest = weight_steps;
      for (int d = 0; d < dims; ++d) {
        if (!(set >> d & 1)) continue;
        const bool last = set >> d == 1;
        const int steps = whole_weights || last ? rest : in.get<std::int16_t>();
        rest -= steps;
        how.weight[d] = whole_weights ? in.get<float>() : of_steps(steps);
      }
    }
}

void InterpolationPlan::put(ByteWriter& out) const {
  for (const auto& level : levels_)
    for (unsigned set = 1; set < 16; ++set) {
      if (!used(level, set)) continue;
      out.put(level.between[set].cubic);
      for (int d = 0; d < dims; ++d)
        if ((set >> d & 1) && set >> d != 1)
          out.put(
              static_cast<std::int16_t>(std::lrint(level.between[set].weight[d] * static_cast<float>(weight_steps))));
    }
}

template <class T>
void interpolate_encode(T* field, const FieldShape& shape, const InterpolationPlan& plan, double bound,
                        Quantized<T>& out) {
  if (shape.elements == 0) return;
  out.codes.resize(shape.elements);
  std::uint16_t* codes = out.codes.data();
  traverse(field, shape, plan, bound,
           [&](const Quantizer<T>& quantizer, T* row, std::int64_t step, const T* prediction, std::int64_t n) {
             const int exceptions = step == 2 ? quantizer.encode(row, 2, prediction, n, codes)
                                              : quantizer.encode(row, step, prediction, n, codes);
             for (std::int64_t k = 0; exceptions > 0 && k < n; ++k) {
               if (codes[k] != 0) continue;
               out.exceptions.push_back(row[k * step]);
               if (!std::isfinite(row[k * step])) row[k * step] = stand_in(prediction[k]);
             }
             codes += n;
           });
}

template <class T>
void interpolate_decode(const Quantized<T>& in, const FieldShape& shape, const InterpolationPlan& plan, double bound,
                        T* field) {
  if (std::ssize(in.codes) != shape.elements) throw DamagedStream{};
  if (shape.elements == 0) return;
  const std::uint16_t* codes = in.codes.data();
  std::size_t taken = 0;
  std::vector<std::pair<T*, T>> not_finite;
  traverse(field, shape, plan, bound,
           [&](const Quantizer<T>& quantizer, T* row, std::int64_t step, const T* prediction, std::int64_t n) {
             quantizer.decode(codes, prediction, n, row, step);
             if (std::find(codes, codes + n, 0) != codes + n)
               for (std::int64_t k = 0; k < n; ++k) {
                 if (codes[k] != 0) continue;
                 if (taken == in.exceptions.size()) throw DamagedStream{};
                 const T value = in.exceptions[taken++];
                 row[k * step] = std::isfinite(value) ? value : stand_in(prediction[k]);
                 if (!std::isfinite(value)) not_finite.emplace_back(row + k * step, value);
               }
             codes += n;
           });
  if (taken != in.exceptions.size()) throw DamagedStream{};
  for (const auto& [place, value] : not_finite) *place = value;
}

#define CAMBIUM_INTERPOLATION_OF(T)                                                                            \
  template InterpolationPlan::InterpolationPlan(const T*, const FieldShape&, double, LevelBounds);             \
  template void interpolate_encode<T>(T*, const FieldShape&, const InterpolationPlan&, double, Quantized<T>&); \
  template void interpolate_decode<T>(const Quantized<T>&, const FieldShape&, const InterpolationPlan&, double, T*);
CAMBIUM_INTERPOLATION_OF(float)
CAMBIUM_INTERPOLATION_OF(double)
#undef CAMBIUM_INTERPOLATION_OF

}  // namespace cambium::lowp
