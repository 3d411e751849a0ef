#include "plugins/deepmd/model/embedding_net.hpp"

namespace cambium::deepmd {

namespace {

/// First layer, with a scalar input.
template <class T>
void first_layer(int count, const DenseLayer<T>& layer, const View<T*>& x, int first_x, const Matrix<T>& out,
                 int first) {
  const int n = packs<T>(layer.out);
  const Activation f = layer.activation;
  const View<T*> w = layer.row, b = layer.b, scale = layer.scale;
  const int columns = layer.out;
  const bool copies = layer.copies > 0;
  Kokkos::parallel_for(
      "embedding_net: first layer", Range(0, count * n), KOKKOS_LAMBDA(const int item) {
        const int k = item / n, c = item % n * lanes<T>;
        const T in = x(first_x + k);
        T added[lanes<T>];
        for (int q = 0; q < lanes<T>; ++q) added[q] = copies && c + q < columns ? T(1) : T(0);
        const Lane<T> weight = Lane<T>::load(&w(c)), one = Lane<T>::load(added), s = Lane<T>::load(&scale(c));
        Lane<T> value, slope;
        activate<T>(f, weight * Lane<T>(in) + Lane<T>::load(&b(c)), value, slope);
        (value * s + one * Lane<T>(in)).store(&out(first + k, c));
        (slope * weight * s + one).store(&out(first + count + k, c));
      });
}

/// Turns the products (values, derivatives) of rows first.. and first + count.. into the layer's output, in place.
template <class T>
void activate_pairs(int count, const DenseLayer<T>& layer, const Matrix<T>& in, int first_in, const Matrix<T>& out,
                    int first) {
  const int n = packs<T>(layer.out), inner = layer.in, columns = layer.out;
  const Activation f = layer.activation;
  const View<T*> b = layer.b, scale = layer.scale;
  const bool copies = layer.copies > 0;
  Kokkos::parallel_for(
      "embedding_net: activate", Range(0, count * n), KOKKOS_LAMBDA(const int item) {
        const int k = item / n, c = item % n * lanes<T>;
        T *y = &out(first + k, c), *dy = &out(first + count + k, c);
        const Lane<T> s = Lane<T>::load(&scale(c));
        Lane<T> value, slope;
        activate<T>(f, Lane<T>::load(y) + Lane<T>::load(&b(c)), value, slope);
        value *= s;
        slope = slope * Lane<T>::load(dy) * s;
        if (copies) {
          value += load_copies(&in(first_in + k, 0), c, inner, columns);
          slope += load_copies(&in(first_in + count + k, 0), c, inner, columns);
        }
        value.store(y);
        slope.store(dy);
      });
}

}  // namespace

template <class T>
EmbeddingNet<T>::EmbeddingNet(const Network& net) {
  for (const Layer& layer : net.layers) layers_.emplace_back(layer);
}

template <class T>
double EmbeddingNet<T>::flops() const {
  double n = 0.0;
  for (const auto& layer : layers_) n += 4.0 * layer.products();
  return n;
}

template <class T>
void EmbeddingNet<T>::evaluate(int count, const View<T*>& x, int first_x, Workspace& work, const Matrix<T>& out,
                               int first) const {
  if (count == 0) return;
  const std::size_t depth = layers_.size();
  Matrix<T> in;
  int first_in = 0;
  for (std::size_t k = 0; k < depth; ++k) {
    const DenseLayer<T>& layer = layers_[k];
    const bool last = k + 1 == depth;
    Matrix<T>& inner = work.rows[k % 2];
    if (!last) reserve(inner, "embedding_net: rows", 2 * count, layer.out);
    const Matrix<T>& target = last ? out : inner;
    const int first_out = last ? first : 0;
    if (k == 0) {
      first_layer(count, layer, x, first_x, target, first_out);
    } else {
      const std::size_t wide_in = in.extent(1), wide_out = target.extent(1);
      layer.multiply(2 * count, in.data() + static_cast<std::size_t>(first_in) * wide_in, static_cast<int>(wide_in),
                     target.data() + static_cast<std::size_t>(first_out) * wide_out, static_cast<int>(wide_out),
                     work.between);
      activate_pairs(count, layer, in, first_in, target, first_out);
    }
    in = target;
    first_in = first_out;
  }
}

template class EmbeddingNet<double>;
template class EmbeddingNet<float>;

}  // namespace cambium::deepmd
