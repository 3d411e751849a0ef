#include "plugins/deepmd/model/attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "core/numerics/gemm.hpp"

namespace cambium::deepmd {

namespace {

constexpr double logit_shift = 20.0;  // DeePMD-kit's attnw_shift

/// A value and its tangent (dual number).
template <class T>
struct Dual {
  T v = T(0), d = T(0);
  Dual() = default;
  Dual(T value, T change = T(0)) : v(value), d(change) {}
  Dual& operator+=(Dual b) { return *this = {v + b.v, d + b.d}; }
  friend Dual operator+(Dual a, Dual b) { return {a.v + b.v, a.d + b.d}; }
  friend Dual operator-(Dual a, Dual b) { return {a.v - b.v, a.d - b.d}; }
  friend Dual operator*(Dual a, Dual b) { return {a.v * b.v, a.d * b.v + a.v * b.d}; }
  friend Dual operator/(Dual a, Dual b) {
    const T q = a.v / b.v;
    return {q, (a.d - q * b.d) / b.v};
  }
};
template <class T>
Dual<T> exp(Dual<T> a) {
  const T e = std::exp(a.v);
  return {e, e * a.d};
}
template <class T>
Dual<T> sqrt(Dual<T> a) {
  const T r = std::sqrt(a.v);
  return {r, a.d / (T(2) * r)};
}
double value_of(double x) { return x; }
float value_of(float x) { return x; }
template <class T>
T value_of(Dual<T> x) {
  return x.v;
}

template <class T, int planes>
using Scalar = std::conditional_t<planes == 1, T, Dual<T>>;

template <class T, int planes>
Scalar<T, planes> get(const Planes<T, planes>& m, std::size_t k) {
  if constexpr (planes == 1)
    return m.plane[0][k];
  else
    return {m.plane[0][k], m.plane[1][k]};
}
template <class T, int planes>
void set(Planes<T, planes>& m, std::size_t k, Scalar<T, planes> x) {
  if constexpr (planes == 1) {
    m.plane[0][k] = x;
  } else {
    m.plane[0][k] = x.v;
    m.plane[1][k] = x.d;
  }
}

/// Location of a matrix in a row-major array.
struct Part {
  int offset = 0, stride = 0;
};

/// c += scale op(a) op(b) of matrices in planes; the second plane gets the tangent of the product.
template <class T, int planes>
void multiply(bool ta, bool tb, int m, int n, int k, T scale, const Planes<T, planes>& a, Part pa,
              const Planes<T, planes>& b, Part pb, Planes<T, planes>& c, Part pc) {
  const auto add = [&](int i, int j, int to) {
    host_gemm<T>(ta, tb, m, n, k, scale, a.plane[i].data() + pa.offset, pa.stride, b.plane[j].data() + pb.offset,
                 pb.stride, T(1), c.plane[to].data() + pc.offset, pc.stride);
  };
  add(0, 0, 0);
  if constexpr (planes == 2) {
    add(0, 1, 1);
    add(1, 0, 1);
  }
}

/// c += a op(w), with w constant.
template <class T, int planes>
void multiply(bool tw, int m, int n, int k, const Planes<T, planes>& a, const std::vector<T>& w, Planes<T, planes>& c) {
  for (int p = 0; p < planes; ++p)
    host_gemm<T>(false, tw, m, n, k, T(1), a.plane[p].data(), k, w.data(), tw ? k : n, T(1), c.plane[p].data(), n);
}

/// Tangent of x^T y, and of the sum of y's rows: the gradient of a layer's weights.
template <class T, int planes>
void add_gradient(int rows, int in, int out, const Planes<T, planes>& x, const Planes<T, planes>& y, std::vector<T>& w,
                  std::vector<T>& b) {
  if constexpr (planes == 2) {
    for (int p = 0; p < 2; ++p)
      host_gemm<T>(true, false, in, out, rows, T(1), x.plane[p].data(), in, y.plane[1 - p].data(), out, T(1), w.data(),
                   out);
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < out; ++c) b[static_cast<std::size_t>(c)] += y.plane[1][static_cast<std::size_t>(r * out + c)];
  }
}

std::array<double, 3> direction(const double v[3], double& length) {
  length = std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  return {v[0] / length, v[1] / length, v[2] / length};
}

}  // namespace

NeighbourGeometry::Seen NeighbourGeometry::seen(const double d[3]) const {
  const double r = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
  Seen out;
  double dw, length, v[3];
  cutoff.weight(r, out.s, dw);
  cutoff.row(d, r, out.c.data());
  for (std::size_t k = 0; k < 4; ++k) out.c[k] *= inverse_deviation[k];
  for (std::size_t k = 0; k < 3; ++k) v[k] = d[k] * inverse_deviation[k + 1];
  out.u = direction(v, length);
  return out;
}

NeighbourGeometry::Seen NeighbourGeometry::change(const double d[3], const double move[3]) const {
  const double r = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
  double w, dw, length, v[3], v_dot[3];
  cutoff.weight(r, w, dw);
  const double inverse = 1.0 / (r + cutoff.protection), s = w * inverse, t = s * inverse;
  const double r_dot = (d[0] * move[0] + d[1] * move[1] + d[2] * move[2]) / r;
  const double t_dot = (dw - 2.0 * s) * inverse * inverse * r_dot;
  Seen out;
  out.s = dw * r_dot;
  out.c[0] = (dw - s) * inverse * r_dot * inverse_deviation[0];
  for (std::size_t k = 0; k < 3; ++k) {
    out.c[k + 1] = (t_dot * d[k] + t * move[k]) * inverse_deviation[k + 1];
    v[k] = d[k] * inverse_deviation[k + 1];
    v_dot[k] = move[k] * inverse_deviation[k + 1];
  }
  const auto u = direction(v, length);
  const double along = u[0] * v_dot[0] + u[1] * v_dot[1] + u[2] * v_dot[2];
  for (std::size_t k = 0; k < 3; ++k) out.u[k] = (v_dot[k] - along * u[k]) / length;
  return out;
}

std::array<double, 3> NeighbourGeometry::gradient(const double d[3], const Seen& bar) const {
  const double r = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
  double w, dw, length, v[3];
  cutoff.weight(r, w, dw);
  const double inverse = 1.0 / (r + cutoff.protection), s = w * inverse, t = s * inverse;
  const double dt = (dw - 2.0 * s) * inverse * inverse;
  double along = bar.c[0] * inverse_deviation[0] * (dw - s) * inverse + bar.s * dw;
  for (std::size_t k = 0; k < 3; ++k) {
    along += bar.c[k + 1] * inverse_deviation[k + 1] * d[k] * dt;
    v[k] = d[k] * inverse_deviation[k + 1];
  }
  const auto u = direction(v, length);
  const double radial = u[0] * bar.u[0] + u[1] * bar.u[1] + u[2] * bar.u[2];
  std::array<double, 3> out;
  for (std::size_t k = 0; k < 3; ++k)
    out[k] = along / r * d[k] + inverse_deviation[k + 1] * (t * bar.c[k + 1] + (bar.u[k] - radial * u[k]) / length);
  return out;
}

template <class T>
AttentionWeights<T> AttentionWeights<T>::zeros() const {
  AttentionWeights out = *this;
  for (auto* list : {&out.project, &out.project_bias, &out.out, &out.out_bias, &out.factor, &out.shift})
    std::fill(list->begin(), list->end(), T(0));
  return out;
}

template <class T>
std::vector<AttentionWeights<T>> AttentionWeights<T>::of(const AttentionLayers& layers) {
  const auto cast = [](const std::vector<double>& from) { return std::vector<T>(from.begin(), from.end()); };
  std::vector<AttentionWeights> out;
  for (std::size_t k = 0; k < layers.networks.size(); k += 3) {
    const auto layer = [&](std::size_t n) -> const deepmd::Layer& { return layers.networks[k + n].layers.front(); };
    out.push_back(
        {cast(layer(0).w), cast(layer(0).b), cast(layer(1).w), cast(layer(1).b), cast(layer(2).w), cast(layer(2).b)});
  }
  return out;
}

template <class T, int planes>
AttendedAtom<T, planes>::AttendedAtom(const AttentionLayers& layers, int width, int axis, int slots)
    : shape_(layers), width_(width), axis_(axis), slots_(slots), layers_(static_cast<std::size_t>(layers.layers())) {}

template <class T, int planes>
void AttendedAtom<T, planes>::resize(int neighbours) {
  n_ = neighbours;
  const auto n = static_cast<std::size_t>(neighbours);
  c.resize(4 * n);
  s.resize(n);
  u.resize(3 * n);
  g.resize(n * static_cast<std::size_t>(width_));
}

/// Computes queries, keys and values, each normalised to length 1 if requested.
template <class T, int planes>
void AttendedAtom<T, planes>::project(Layer& layer, const AttentionWeights<T>& w) {
  const int columns = 3 * shape_.attn;
  const auto n = static_cast<std::size_t>(n_), attn = static_cast<std::size_t>(shape_.attn);
  layer.qkv.resize(n * static_cast<std::size_t>(columns));
  for (std::size_t k = 0; k < layer.qkv.plane[0].size(); ++k) layer.qkv.plane[0][k] = w.project_bias[k % (3 * attn)];
  multiply(false, n_, columns, width_, layer.x, w.project, layer.qkv);
  if (!shape_.normalize) return;
  layer.inverse_length.resize(3 * n);
  for (std::size_t row = 0; row < 3 * n; ++row) {
    Scalar<T, planes> sum = T(0);
    for (std::size_t k = row * attn; k < (row + 1) * attn; ++k) sum += get(layer.qkv, k) * get(layer.qkv, k);
    using std::sqrt;
    const Scalar<T, planes> inverse = Scalar<T, planes>(T(1)) / sqrt(sum);
    set(layer.inverse_length, row, inverse);
    for (std::size_t k = row * attn; k < (row + 1) * attn; ++k) set(layer.qkv, k, get(layer.qkv, k) * inverse);
  }
}

/// Attention weights: rows are queries.
template <class T, int planes>
void AttendedAtom<T, planes>::weigh(Layer& layer) const {
  using S = Scalar<T, planes>;
  using std::exp;
  const int attn = shape_.attn, columns = 3 * attn;
  const auto n = static_cast<std::size_t>(n_);
  for (Matrix* m : {&layer.products, &layer.softmax, &layer.weights}) m->resize(n * n);
  multiply(false, true, n_, n_, attn, static_cast<T>(shape_.scaling()), layer.qkv, {0, columns}, layer.qkv,
           {attn, columns}, layer.products, {0, n_});
  const S shift = static_cast<T>(logit_shift);
  std::vector<S> logits(n);
  for (std::size_t i = 0; i < n; ++i) {
    const S si = get(s, i);
    T largest = shape_.smooth && slots_ > n_ ? -value_of(shift) : std::numeric_limits<T>::lowest();
    for (std::size_t j = 0; j < n; ++j) {
      const S product = get(layer.products, i * n + j);
      logits[j] = shape_.smooth ? (product + shift) * (si * get(s, j)) - shift : product;
      largest = std::max(largest, value_of(logits[j]));
    }
    S sum = shape_.smooth ? static_cast<T>(slots_ - n_) * std::exp(-value_of(shift) - largest) : T(0);
    for (S& logit : logits) {
      logit = exp(logit - S(largest));
      sum += logit;
    }
    for (std::size_t j = 0; j < n; ++j) {
      S weight = logits[j] / sum;
      set(layer.softmax, i * n + j, weight);
      if (shape_.smooth) weight = weight * (si * get(s, j));
      if (shape_.dotr)
        weight = weight * (get(u, 3 * i) * get(u, 3 * j) + get(u, 3 * i + 1) * get(u, 3 * j + 1) +
                           get(u, 3 * i + 2) * get(u, 3 * j + 2));
      set(layer.weights, i * n + j, weight);
    }
  }
}

/// Weighted values, output matrix, residual and layer norm.
template <class T, int planes>
void AttendedAtom<T, planes>::combine(Layer& layer, const AttentionWeights<T>& w, Matrix& y) const {
  using S = Scalar<T, planes>;
  using std::sqrt;
  const int attn = shape_.attn, columns = 3 * attn;
  const auto n = static_cast<std::size_t>(n_), width = static_cast<std::size_t>(width_);
  layer.mixed.resize(n * static_cast<std::size_t>(attn));
  multiply(false, false, n_, attn, n_, T(1), layer.weights, {0, n_}, layer.qkv, {2 * attn, columns}, layer.mixed,
           {0, attn});
  y = layer.x;
  for (std::size_t k = 0; k < n * width; ++k) y.plane[0][k] += w.out_bias[k % width];
  multiply(false, n_, width_, attn, layer.mixed, w.out, y);
  layer.normal.resize(n * width);
  layer.inverse_deviation.resize(n);
  const S share = T(1) / static_cast<T>(width_);
  for (std::size_t i = 0; i < n; ++i) {
    S mean = T(0), square = T(0);
    for (std::size_t k = i * width; k < (i + 1) * width; ++k) mean += get(y, k) * share;
    for (std::size_t k = i * width; k < (i + 1) * width; ++k) square += (get(y, k) - mean) * (get(y, k) - mean) * share;
    const S inverse = S(T(1)) / sqrt(square + S(static_cast<T>(shape_.norm_epsilon)));
    set(layer.inverse_deviation, i, inverse);
    for (std::size_t k = 0; k < width; ++k) {
      const S normal = (get(y, i * width + k) - mean) * inverse;
      set(layer.normal, i * width + k, normal);
      set(y, i * width + k, normal * S(w.factor[k]) + S(w.shift[k]));
    }
  }
}

template <class T, int planes>
void AttendedAtom<T, planes>::forward(const std::vector<AttentionWeights<T>>& weights) {
  y_ = g;
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    layers_[l].x = y_;
    project(layers_[l], weights[l]);
    weigh(layers_[l]);
    combine(layers_[l], weights[l], y_);
  }
  a_.resize(4 * static_cast<std::size_t>(width_));
  multiply(true, false, 4, width_, n_, T(1) / static_cast<T>(slots_), c, {0, 4}, y_, {0, width_}, a_, {0, width_});
}

template <class T, int planes>
void AttendedAtom<T, planes>::descriptor(bool by_axis, T* d) const {
  for (int q = 0; q < axis_; ++q)
    for (int m = 0; m < width_; ++m) {
      Scalar<T, planes> sum = T(0);
      for (int k = 0; k < 4; ++k)
        sum += get(a_, static_cast<std::size_t>(k * width_ + m)) * get(a_, static_cast<std::size_t>(k * width_ + q));
      T& to = d[by_axis ? q * width_ + m : m * axis_ + q];
      if constexpr (planes == 1)
        to = sum;
      else
        to = sum.d;
    }
}

template <class T, int planes>
auto AttendedAtom<T, planes>::combine_adjoint(const Layer& layer, const AttentionWeights<T>& w, const Matrix& y_bar,
                                              AttentionWeights<T>* gradient) const -> Matrix {
  using S = Scalar<T, planes>;
  const auto n = static_cast<std::size_t>(n_), width = static_cast<std::size_t>(width_);
  Matrix out;
  out.resize(n * width);
  const S share = T(1) / static_cast<T>(width_);
  for (std::size_t i = 0; i < n; ++i) {
    S mean = T(0), along = T(0);
    for (std::size_t k = 0; k < width; ++k) {
      const S bar = get(y_bar, i * width + k) * S(w.factor[k]), normal = get(layer.normal, i * width + k);
      mean += bar * share;
      along += bar * normal * share;
      if constexpr (planes == 2) {
        gradient->factor[k] += (get(y_bar, i * width + k) * normal).d;
        gradient->shift[k] += get(y_bar, i * width + k).d;
      }
    }
    for (std::size_t k = 0; k < width; ++k) {
      const S bar = get(y_bar, i * width + k) * S(w.factor[k]), normal = get(layer.normal, i * width + k);
      set(out, i * width + k, (bar - mean - normal * along) * get(layer.inverse_deviation, i));
    }
  }
  return out;
}

/// Backpropagates from the weighted values to queries, keys and values; with one plane, also to switches and
/// directions.
template <class T, int planes>
void AttendedAtom<T, planes>::weigh_adjoint(const Layer& layer, const Matrix& mixed_bar, Matrix& qkv_bar) {
  using S = Scalar<T, planes>;
  const int attn = shape_.attn, columns = 3 * attn;
  const auto n = static_cast<std::size_t>(n_);
  Matrix bar;  // of the weights, then of the products
  bar.resize(n * n);
  multiply(false, true, n_, n_, attn, T(1), mixed_bar, {0, attn}, layer.qkv, {2 * attn, columns}, bar, {0, n_});
  multiply(true, false, n_, attn, n_, T(1), layer.weights, {0, n_}, mixed_bar, {0, attn}, qkv_bar, {2 * attn, columns});
  const S shift = static_cast<T>(logit_shift);
  std::vector<S> of_softmax(n), of_switches(n);
  for (std::size_t i = 0; i < n; ++i) {
    S along = T(0);
    for (std::size_t j = 0; j < n; ++j) {
      const S weight_bar = get(bar, i * n + j), softmax = get(layer.softmax, i * n + j);
      const S switches = shape_.smooth ? get(s, i) * get(s, j) : S(T(1));
      S cosine = T(1);
      if (shape_.dotr)
        cosine = get(u, 3 * i) * get(u, 3 * j) + get(u, 3 * i + 1) * get(u, 3 * j + 1) +
                 get(u, 3 * i + 2) * get(u, 3 * j + 2);
      of_softmax[j] = weight_bar * switches * cosine;
      of_switches[j] = weight_bar * softmax * cosine;
      along += of_softmax[j] * softmax;
      if constexpr (planes == 1) {
        const T of_cosine = weight_bar * softmax * switches;
        for (std::size_t k = 0; k < 3 && shape_.dotr; ++k) {
          u_bar.plane[0][3 * i + k] += of_cosine * u.plane[0][3 * j + k];
          u_bar.plane[0][3 * j + k] += of_cosine * u.plane[0][3 * i + k];
        }
      }
    }
    for (std::size_t j = 0; j < n; ++j) {
      const S logit_bar = get(layer.softmax, i * n + j) * (of_softmax[j] - along);
      set(bar, i * n + j, shape_.smooth ? logit_bar * (get(s, i) * get(s, j)) : logit_bar);
      if constexpr (planes == 1) {
        if (!shape_.smooth) continue;
        const T of_both = of_switches[j] + logit_bar * (layer.products.plane[0][i * n + j] + shift);
        s_bar.plane[0][i] += of_both * s.plane[0][j];
        s_bar.plane[0][j] += of_both * s.plane[0][i];
      }
    }
  }
  const T scale = static_cast<T>(shape_.scaling());
  multiply(false, false, n_, attn, n_, scale, bar, {0, n_}, layer.qkv, {attn, columns}, qkv_bar, {0, columns});
  multiply(true, false, n_, attn, n_, scale, bar, {0, n_}, layer.qkv, {0, columns}, qkv_bar, {attn, columns});
}

template <class T, int planes>
void AttendedAtom<T, planes>::project_adjoint(const Layer& layer, const AttentionWeights<T>& w, Matrix& qkv_bar,
                                              AttentionWeights<T>* gradient, Matrix& x_bar) const {
  const auto attn = static_cast<std::size_t>(shape_.attn);
  for (std::size_t row = 0; row < 3 * static_cast<std::size_t>(n_) && shape_.normalize; ++row) {
    Scalar<T, planes> along = T(0);
    for (std::size_t k = row * attn; k < (row + 1) * attn; ++k) along += get(qkv_bar, k) * get(layer.qkv, k);
    for (std::size_t k = row * attn; k < (row + 1) * attn; ++k)
      set(qkv_bar, k, (get(qkv_bar, k) - along * get(layer.qkv, k)) * get(layer.inverse_length, row));
  }
  multiply(true, n_, width_, 3 * shape_.attn, qkv_bar, w.project, x_bar);
  if (gradient) add_gradient(n_, width_, 3 * shape_.attn, layer.x, qkv_bar, gradient->project, gradient->project_bias);
}

template <class T, int planes>
void AttendedAtom<T, planes>::backward(const std::vector<AttentionWeights<T>>& weights, bool by_axis,
                                       std::array<const T*, planes> d_bar,
                                       std::vector<AttentionWeights<T>>* gradients) {
  using S = Scalar<T, planes>;
  const auto n = static_cast<std::size_t>(n_), width = static_cast<std::size_t>(width_);
  Matrix a_bar;
  a_bar.resize(4 * width);
  for (std::size_t q = 0; q < static_cast<std::size_t>(axis_); ++q)
    for (std::size_t m = 0; m < width; ++m) {
      const std::size_t at = by_axis ? q * width + m : m * static_cast<std::size_t>(axis_) + q;
      S bar;
      if constexpr (planes == 1)
        bar = d_bar[0][at];
      else
        bar = {d_bar[0][at], d_bar[1][at]};
      for (std::size_t k = 0; k < 4 * width; k += width) {
        const S of_m = get(a_, k + q) * bar, of_q = get(a_, k + m) * bar;
        set(a_bar, k + m, get(a_bar, k + m) + of_m);
        set(a_bar, k + q, get(a_bar, k + q) + of_q);
      }
    }
  const T share = T(1) / static_cast<T>(slots_);
  g_bar.resize(n * width);
  multiply(false, false, n_, width_, 4, share, c, {0, 4}, a_bar, {0, width_}, g_bar, {0, width_});
  if constexpr (planes == 1) {
    c_bar.resize(4 * n);
    s_bar.resize(n);
    u_bar.resize(3 * n);
    multiply(false, true, n_, 4, width_, share, y_, {0, width_}, a_bar, {0, width_}, c_bar, {0, 4});
  }
  for (std::size_t l = layers_.size(); l-- > 0;) {
    AttentionWeights<T>* gradient = gradients ? &(*gradients)[l] : nullptr;
    g_bar = combine_adjoint(layers_[l], weights[l], g_bar, gradient);
    Matrix mixed_bar, qkv_bar;
    mixed_bar.resize(n * static_cast<std::size_t>(shape_.attn));
    qkv_bar.resize(3 * mixed_bar.plane[0].size());
    multiply(true, n_, shape_.attn, width_, g_bar, weights[l].out, mixed_bar);
    if (gradient) add_gradient(n_, shape_.attn, width_, layers_[l].mixed, g_bar, gradient->out, gradient->out_bias);
    weigh_adjoint(layers_[l], mixed_bar, qkv_bar);
    project_adjoint(layers_[l], weights[l], qkv_bar, gradient, g_bar);
  }
}

template struct AttentionWeights<double>;
template struct AttentionWeights<float>;
template class AttendedAtom<double, 1>;
template class AttendedAtom<double, 2>;
template class AttendedAtom<float, 1>;
template class AttendedAtom<float, 2>;

}  // namespace cambium::deepmd
