#include "plugins/superres/decoder/decoder.hpp"

#include <algorithm>

#include "core/numerics/gemm.hpp"

namespace cambium::superres {

namespace {
constexpr int chunk_rows = 128;
}

DecoderShape DecoderShape::with_ranks(std::span<const std::int64_t> ranks) const {
  DecoderShape out = *this;
  out.widths.clear();
  for (int l = 0; l < layers(); ++l) {
    const bool last = l + 1 == layers();
    if (ranks[l] > 0) {
      out.widths.push_back(static_cast<int>(ranks[l]));
      out.plain.push_back(true);
      out.blind.push_back(last);
    }
    if (!last) out.widths.push_back(widths[l]);
    out.plain.push_back(false);
    out.blind.push_back(last || ranks[l] > 0);
  }
  return out;
}

std::int64_t DecoderShape::parameters() const {
  std::int64_t n = 0;
  for (int l = 0; l < layers(); ++l) n += std::int64_t{1} * width(l) * (columns(l) + 1);
  return n;
}

std::int64_t DecoderShape::multiplications(int streams) const {
  std::int64_t n = 0;
  for (int l = 0; l < layers(); ++l)
    n += std::int64_t{1} * width(l) * (std::int64_t{streams} * hidden_columns(l) + columns(l) - hidden_columns(l));
  return n;
}

/// Some points with their rows and their inputs.
template <class T>
struct Decoder<T>::Chunk {
  const DecoderQuery<T>* query;
  std::int64_t first;  ///< first point
  int points;
  std::vector<T> input;  ///< (rows, shape.input()); for blended latent vectors, for every stream

  int per_point() const { return query->decodes_once ? 1 : 8; }
  int rows() const { return per_point() * points; }
  std::int64_t row(int r) const { return per_point() * first + r; }
};

template <class T>
typename Decoder<T>::Chunk Decoder<T>::chunk_of(const DecoderQuery<T>& query, const T* latents,
                                                std::int64_t first) const {
  const std::int64_t most = query.decodes_once ? chunk_rows : chunk_rows / 8;
  Chunk c{&query, first, static_cast<int>(std::min(most, query.points - first)), {}};
  const int width = shape_.input(), vector = shape_.vector();
  c.input.assign(static_cast<std::size_t>(query.decodes_once ? basis_.size() : 1) * c.rows() * width, T(0));
  for (int r = 0; r < c.rows(); ++r) std::copy_n(&query.offset[3 * c.row(r)], 3, &c.input[r * width]);
  if (query.decodes_once) {
    blend_latents(c, latents);
    return c;
  }
  for (int r = 0; r < c.rows(); ++r)
    std::copy_n(latents + query.node[c.row(r)] * vector, vector, &c.input[r * width + 3]);
  return c;
}

/// Computes every stream of the input: coordinates, and latent vectors blended by the derivatives of their splines.
template <class T>
void Decoder<T>::blend_latents(Chunk& chunk, const T* latents) const {
  const auto& q = *chunk.query;
  const int width = shape_.input(), vector = shape_.vector(), near = q.near();
  for (int s = 0; s < basis_.size(); ++s) {
    T* const stream = chunk.input.data() + std::int64_t{1} * s * chunk.rows() * width;
    if (order_of(basis_[s]) == 1)
      for (int axis = 0; axis < 3; ++axis)
        for (int r = 0; r < chunk.rows(); ++r)
          stream[r * width + axis] = T(basis_[s][axis]) * q.inverse_spacing[3 * chunk.row(r) + axis];
  }
  std::vector<T> nearby(static_cast<std::size_t>(near) * vector),
      weights(static_cast<std::size_t>(near) * basis_.size());
  for (int r = 0; r < chunk.rows(); ++r) {
    const std::int64_t first = chunk.row(r) * near;
    for (int k = 0; k < near; ++k) std::copy_n(latents + q.node[first + k] * vector, vector, &nearby[k * vector]);
    for (int s = 0; s < basis_.size(); ++s)
      std::copy_n(&q.weight[s * q.points * near + first], near, &weights[s * near]);
    host_gemm<T>(false, false, basis_.size(), vector, near, T(1), weights.data(), near, nearby.data(), vector, T(1),
                 &chunk.input[r * width + 3], chunk.rows() * width);
  }
}

template <class T>
void Decoder<T>::unblend_latents(const Chunk& chunk, const T* by_input, T* latent_gradients) const {
  const auto& q = *chunk.query;
  const int width = shape_.input(), vector = shape_.vector(), near = q.near();
  std::vector<T> nearby(static_cast<std::size_t>(near) * vector),
      weights(static_cast<std::size_t>(near) * basis_.size());
  for (int r = 0; r < chunk.rows(); ++r) {
    const std::int64_t first = chunk.row(r) * near;
    for (int s = 0; s < basis_.size(); ++s)
      std::copy_n(&q.weight[s * q.points * near + first], near, &weights[s * near]);
    host_gemm<T>(true, false, near, vector, basis_.size(), T(1), weights.data(), near, by_input + r * width + 3,
                 chunk.rows() * width, T(0), nearby.data(), vector);
    for (int k = 0; k < near; ++k) {
      T* const to = latent_gradients + q.node[first + k] * vector;
      for (int n = 0; n < vector; ++n) to[n] += nearby[k * vector + n];
    }
  }
}

/// Applies the activation function of a layer, if it has one; `count` values in every stream.
template <class T>
void Decoder<T>::after(int layer, std::int64_t count, const T* z, T* a) const {
  if (shape_.is_plain(layer))
    std::copy_n(z, basis_.size() * count, a);
  else
    activate(shape_.activation, basis_, count, z, a);
}

template <class T>
std::int64_t Decoder<T>::tape_stride(int rows) const {
  std::int64_t n = 0;
  for (int w : shape_.widths) n += w;
  return n * rows * basis_.size();
}

/// Adds the contribution of the input to z (streams, rows, width) of a layer.
template <class T>
void Decoder<T>::input_forward(const Chunk& chunk, int layer, Weights weights, T* z) const {
  const int n = shape_.width(layer), hidden = shape_.hidden_columns(layer), columns = shape_.columns(layer),
            rows = chunk.rows();
  const int input = shape_.input();
  const T* const w = weights[2 * layer];
  const int seen = chunk.query->decodes_once ? basis_.size() * rows : rows;
  host_gemm<T>(false, true, seen, n, input, T(1), chunk.input.data(), input, w + hidden, columns, T(1), z, n);
  if (chunk.query->decodes_once) return;
  std::vector<T> column(n);
  for (int axis = 0; axis < 3; ++axis) {
    MultiIndex unit{};
    unit[axis] = 1;
    const int s = basis_.find(unit);
    if (s < 0) continue;
    for (int k = 0; k < n; ++k) column[k] = w[std::int64_t{1} * k * columns + hidden + axis];
    for (int r = 0; r < rows; ++r) {
      const T inverse = chunk.query->inverse_spacing[3 * chunk.row(r) + axis];
      T* to = z + (std::int64_t{1} * s * rows + r) * n;
      for (int k = 0; k < n; ++k) to[k] += inverse * column[k];
    }
  }
}

/// z (streams, rows, width) = streams of W (a, input) + bias.
template <class T>
void Decoder<T>::layer_forward(const Chunk& chunk, int layer, const T* a, Weights weights, T* z) const {
  const int n = shape_.width(layer), hidden = shape_.hidden_columns(layer), columns = shape_.columns(layer),
            rows = chunk.rows();
  const T *w = weights[2 * layer], *bias = weights[2 * layer + 1];
  const std::int64_t stream = std::int64_t{1} * rows * n;
  if (hidden > 0)
    host_gemm<T>(false, true, basis_.size() * rows, n, hidden, T(1), a, hidden, w, columns, T(0), z, n);
  else
    std::fill_n(z, basis_.size() * stream, T(0));
  for (int r = 0; r < rows; ++r)
    for (int k = 0; k < n; ++k) z[std::int64_t{1} * r * n + k] += bias[k];
  if (columns > hidden) input_forward(chunk, layer, weights, z);
}

template <class T>
void Decoder<T>::blend(const Chunk& chunk, const T* y, const T* plain, T* out) const {
  const int outputs = shape_.outputs, rows = chunk.rows();
  const std::int64_t all = chunk.query->rows();
  if (chunk.query->decodes_once) {
    for (int s = 0; s < basis_.size(); ++s)
      for (int r = 0; r < rows; ++r) {
        T* const to = out + (s * chunk.query->points + chunk.first + r) * outputs;
        const std::int64_t from = std::int64_t{1} * s * rows + r;
        std::copy_n(y + from * outputs, outputs, to);
        if (shape_.carries)
          for (int f = 0; f < outputs; ++f) to[f] += chunk.input[from * shape_.input() + 3 + f];
      }
    return;
  }
  std::vector<T> with_plain;
  if (plain) {
    with_plain.assign(y, y + std::int64_t{1} * basis_.size() * rows * outputs);
    for (int s = 0; s < basis_.size(); ++s)
      for (std::int64_t k = 0; k < std::int64_t{1} * rows * outputs; ++k)
        with_plain[s * rows * outputs + k] += plain[(s * all + chunk.row(0)) * outputs + k];
    y = with_plain.data();
  }
  for (int s = 0; s < basis_.size(); ++s)
    for (int p = 0; p < chunk.points; ++p) {
      T* to = out + (s * chunk.query->points + chunk.first + p) * outputs;
      std::fill_n(to, outputs, T(0));
      for (const auto& term : basis_.product(s))
        for (int corner = 0; corner < 8; ++corner) {
          const int r = 8 * p + corner;
          const T weight = static_cast<T>(term.coefficient) * chunk.query->weight[term.right * all + chunk.row(r)];
          for (int f = 0; f < outputs; ++f) to[f] += weight * y[(std::int64_t{1} * term.left * rows + r) * outputs + f];
        }
    }
}

template <class T>
void Decoder<T>::blend_back(const Chunk& chunk, const T* g, T* gy) const {
  const int outputs = shape_.outputs, rows = chunk.rows();
  const std::int64_t all = chunk.query->rows();
  if (chunk.query->decodes_once) {
    for (int s = 0; s < basis_.size(); ++s)
      std::copy_n(g + (s * chunk.query->points + chunk.first) * outputs, rows * outputs,
                  gy + std::int64_t{1} * s * rows * outputs);
    return;
  }
  std::fill_n(gy, std::int64_t{1} * basis_.size() * rows * outputs, T(0));
  for (int s = 0; s < basis_.size(); ++s)
    for (int p = 0; p < chunk.points; ++p) {
      const T* from = g + (s * chunk.query->points + chunk.first + p) * outputs;
      for (const auto& term : basis_.product(s))
        for (int corner = 0; corner < 8; ++corner) {
          const int r = 8 * p + corner;
          const T weight = static_cast<T>(term.coefficient) * chunk.query->weight[term.right * all + chunk.row(r)];
          for (int f = 0; f < outputs; ++f)
            gy[(std::int64_t{1} * term.left * rows + r) * outputs + f] += weight * from[f];
        }
    }
}

template <class T>
void Decoder<T>::forward(const DecoderQuery<T>& query, const T* latents, Weights weights, const T* plain, T* out,
                         DecoderTape<T>* tape) const {
  const int streams = basis_.size(), most = *std::max_element(shape_.widths.begin(), shape_.widths.end());
  const std::int64_t buffer = std::int64_t{chunk_rows} * streams * std::max(most, shape_.outputs);
  std::vector<T> a(buffer), scratch(buffer), y(std::int64_t{chunk_rows} * streams * shape_.outputs);
  if (tape) tape->z.resize(std::max<std::size_t>(tape->z.size(), tape_stride(1) * query.rows()));
  for (std::int64_t first = 0, next = 0; first < query.points; first = next) {
    const Chunk chunk = chunk_of(query, latents, first);
    next = first + chunk.points;
    T* z = tape ? tape->z.data() + chunk.row(0) * tape_stride(1) : scratch.data();
    for (int layer = 0; layer + 1 < shape_.layers(); ++layer) {
      const std::int64_t count = std::int64_t{1} * chunk.rows() * shape_.width(layer);
      layer_forward(chunk, layer, a.data(), weights, z);
      after(layer, count, z, a.data());
      if (tape) z += streams * count;
    }
    layer_forward(chunk, shape_.layers() - 1, a.data(), weights, y.data());
    blend(chunk, y.data(), plain, out);
  }
}

/// Gradients with respect to a layer's weights, the input, and (in `below`) the previous layer; g is (streams, rows,
/// width).
template <class T>
void Decoder<T>::layer_backward(const Chunk& chunk, int layer, const T* a, const T* g, Weights weights,
                                Gradients gradients, T* input_gradient, T* below) const {
  const int n = shape_.width(layer), hidden = shape_.hidden_columns(layer), columns = shape_.columns(layer),
            rows = chunk.rows();
  const int all = basis_.size() * rows;
  const T* w = weights[2 * layer];
  T *gw = gradients[2 * layer], *bias = gradients[2 * layer + 1];
  for (int r = 0; r < rows; ++r)
    for (int k = 0; k < n; ++k) bias[k] += g[std::int64_t{1} * r * n + k];
  if (hidden > 0) {
    host_gemm<T>(true, false, n, hidden, all, T(1), g, n, a, hidden, T(1), gw, columns);
    host_gemm<T>(false, false, all, hidden, n, T(1), g, n, w, columns, T(0), below, hidden);
  }
  if (columns > hidden) input_backward(chunk, layer, g, weights, gradients, input_gradient);
}

template <class T>
void Decoder<T>::input_backward(const Chunk& chunk, int layer, const T* g, Weights weights, Gradients gradients,
                                T* input_gradient) const {
  const int n = shape_.width(layer), hidden = shape_.hidden_columns(layer), columns = shape_.columns(layer),
            rows = chunk.rows();
  const int input = shape_.input(), seen = chunk.query->decodes_once ? basis_.size() * rows : rows;
  const T* const w = weights[2 * layer];
  T* const gw = gradients[2 * layer];
  host_gemm<T>(true, false, n, input, seen, T(1), g, n, chunk.input.data(), input, T(1), gw + hidden, columns);
  host_gemm<T>(false, false, seen, input, n, T(1), g, n, w + hidden, columns, T(1), input_gradient, input);
  if (chunk.query->decodes_once) return;
  std::vector<T> column(n);
  for (int axis = 0; axis < 3; ++axis) {
    MultiIndex unit{};
    unit[axis] = 1;
    const int s = basis_.find(unit);
    if (s < 0) continue;
    std::fill(column.begin(), column.end(), T(0));
    for (int r = 0; r < rows; ++r) {
      const T inverse = chunk.query->inverse_spacing[3 * chunk.row(r) + axis];
      const T* from = g + (std::int64_t{1} * s * rows + r) * n;
      for (int k = 0; k < n; ++k) column[k] += inverse * from[k];
    }
    for (int k = 0; k < n; ++k) gw[std::int64_t{1} * k * columns + hidden + axis] += column[k];
  }
}

template <class T>
void Decoder<T>::backward(const DecoderQuery<T>& query, const T* latents, Weights weights, const DecoderTape<T>& tape,
                          const T* g, T* latent_gradients, Gradients gradients) const {
  const int streams = basis_.size(), most = *std::max_element(shape_.widths.begin(), shape_.widths.end());
  const std::int64_t buffer = std::int64_t{chunk_rows} * streams * std::max(most, shape_.outputs);
  std::vector<T> a(buffer), by_z(buffer), below(buffer), by_input;
  for (std::int64_t first = 0, next = 0; first < query.points; first = next) {
    const Chunk chunk = chunk_of(query, latents, first);
    next = first + chunk.points;
    by_input.assign(chunk.input.size(), T(0));
    blend_back(chunk, g, by_z.data());
    const T* z = tape.z.data() + chunk.row(0) * tape_stride(1) + tape_stride(chunk.rows());
    for (int layer = shape_.layers() - 1; layer >= 0; --layer) {
      const std::int64_t count = std::int64_t{1} * chunk.rows() * shape_.hidden_columns(layer);
      z -= streams * count;  // of the previous layer
      if (layer > 0) after(layer - 1, count, z, a.data());
      layer_backward(chunk, layer, a.data(), by_z.data(), weights, gradients, by_input.data(), below.data());
      if (layer > 0 && !shape_.is_plain(layer - 1)) activate_back(shape_.activation, basis_, count, z, below.data());
      std::swap(by_z, below);
    }
    const int width = shape_.input(), vector = shape_.vector();
    if (query.decodes_once) {
      for (std::int64_t k = 0; shape_.carries && k < streams * chunk.rows(); ++k)
        for (int f = 0; f < shape_.outputs; ++f)
          by_input[k * width + 3 + f] +=
              g[(k / chunk.rows() * query.points + first + k % chunk.rows()) * shape_.outputs + f];
      unblend_latents(chunk, by_input.data(), latent_gradients);
      continue;
    }
    for (int r = 0; r < chunk.rows(); ++r)
      for (int k = 0; k < vector; ++k)
        latent_gradients[query.node[chunk.row(r)] * vector + k] += by_input[r * width + 3 + k];
  }
}

template <class T>
void Decoder<T>::products_only(const DecoderQuery<T>& query, Weights weights) const {
  const int most = *std::max_element(shape_.widths.begin(), shape_.widths.end());
  const std::int64_t buffer = std::int64_t{chunk_rows} * basis_.size() * std::max(most, shape_.outputs);
  std::vector<T> a(buffer, T(0.5)), z(buffer), inputs(std::int64_t{chunk_rows} * shape_.input(), T(0.5));
  for (std::int64_t first = 0; first < query.rows(); first += chunk_rows) {
    const int rows = static_cast<int>(std::min<std::int64_t>(chunk_rows, query.rows() - first));
    for (int layer = 0; layer < shape_.layers(); ++layer) {
      const int n = shape_.width(layer), hidden = shape_.hidden_columns(layer), columns = shape_.columns(layer);
      const T* w = weights[2 * layer];
      if (hidden > 0)
        host_gemm<T>(false, true, basis_.size() * rows, n, hidden, T(1), a.data(), hidden, w, columns, T(0), z.data(),
                     n);
      if (columns > hidden)
        host_gemm<T>(false, true, rows, n, shape_.input(), T(1), inputs.data(), shape_.input(), w + hidden, columns,
                     T(1), z.data(), n);
    }
  }
}

template class Decoder<float>;
template class Decoder<double>;

}  // namespace cambium::superres
