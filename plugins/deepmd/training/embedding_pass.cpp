#include "plugins/deepmd/training/embedding_pass.hpp"

#include "plugins/deepmd/training/layer_products.hpp"
#include "plugins/deepmd/training/row_kernels.hpp"

namespace cambium::deepmd {

namespace {
constexpr int most_width = 1024;  ///< of work rows on the stack
}

template <class T>
EmbeddingPass<T>::EmbeddingPass(std::span<const int> widths) {
  for (int width : widths) {
    for (auto* list : {&value_, &slope_}) list->emplace_back(width, native_width<T>);
    for (auto* list : {&value_bar_, &slope_bar_, &z_bar_, &z_slope_bar_}) {
      list->emplace_back(width, native_width<T>);
      list->back().reserve(block);
    }
  }
}

template <class T>
void EmbeddingPass<T>::reserve(std::int64_t rows) {
  for (auto* list : {&value_, &slope_})
    for (Rows<T>& layer : *list) layer.reserve(rows);
}

template <class T>
void EmbeddingPass<T>::first_layer(const LayerWeights<T>& layer, const T* x, int begin, int end) {
  using P = HostPack<T>;
  for (int r = begin; r < end; ++r) {
    T *h = value_[0].row(r), *s = slope_[0].row(r);
    const P input = x[r];
    for (int c = 0; c < layer.out; c += P::width) {
      const P w = P::load(&layer.first_row[c]);
      const P y = tanh(fma(input, w, P::load(&layer.b[c])));
      y.store(h + c);
      ((P(T(1)) - y * y) * w).store(s + c);
    }
  }
}

template <class T>
void EmbeddingPass<T>::next_layer(std::size_t l, const LayerWeights<T>& layer, int begin, int end) {
  using P = HostPack<T>;
  Rows<T>&h = value_[l], &s = slope_[l];
  const Rows<T>&h_in = value_[l - 1], &s_in = slope_[l - 1];
  multiply(layer, end - begin, h_in.row(begin), h_in.stride(), h.row(begin), h.stride());
  multiply(layer, end - begin, s_in.row(begin), s_in.stride(), s.row(begin), s.stride());
  for (int r = begin; r < end; ++r) {
    T *value = h.row(r), *slope = s.row(r);
    for (int c = 0; c < layer.out; c += P::width) {
      const P y = tanh(P::load(value + c) + P::load(&layer.b[c]));
      y.store(value + c);
      ((P(T(1)) - y * y) * P::load(slope + c)).store(slope + c);
    }
    rows::add_copies(h_in.row(r), layer.in, layer.copies, value);
    rows::add_copies(s_in.row(r), layer.in, layer.copies, slope);
  }
}

template <class T>
void EmbeddingPass<T>::forward(const NetworkWeights<T>& net, const T* x, int begin, int end) {
  for (int from = begin; from < end; from += block) {
    const int to = std::min(end, from + block);
    first_layer(net[0], x, from, to);
    for (std::size_t l = 1; l < net.size(); ++l) next_layer(l, net[l], from, to);
  }
}

/// With y = tanh(z) and slope u = (1 - y^2) z': the adjoint of z' is u_bar (1 - y^2), that of z is
/// y_bar (1 - y^2) - 2 y u_bar u.
template <class T>
void EmbeddingPass<T>::backward_layer(std::size_t l, const LayerWeights<T>& layer, int begin, int end) {
  using P = HostPack<T>;
  const Rows<T>&h_in = value_[l - 1], &s_in = slope_[l - 1];
  Rows<T>&zb = z_bar_[l], &zsb = z_slope_bar_[l];
  alignas(64) T h_copy[most_width] = {}, s_copy[most_width] = {}, b_bar[most_width] = {};
  for (int r = begin; r < end; ++r) {
    const T *h = value_[l].row(r), *s = slope_[l].row(r), *hb = value_bar_[l].row(r - begin),
            *sb = slope_bar_[l].row(r - begin);
    rows::copies_of(h_in.row(r), layer.in, layer.copies, layer.out, h_copy);
    rows::copies_of(s_in.row(r), layer.in, layer.copies, layer.out, s_copy);
    T *z = zb.row(r - begin), *zs = zsb.row(r - begin);
    for (int c = 0; c < layer.out; c += P::width) {
      const P y = P::load(h + c) - P::load(h_copy + c), u = P::load(s + c) - P::load(s_copy + c);
      const P first = P(T(1)) - y * y, u_bar = P::load(sb + c);
      const P z_bar = first * P::load(hb + c) - (y + y) * u_bar * u;
      z_bar.store(z + c);
      (u_bar * first).store(zs + c);
      (P::load(b_bar + c) + z_bar).store(b_bar + c);
    }
    rows::fold_copies(hb, layer.in, layer.copies, value_bar_[l - 1].row(r - begin));
    rows::fold_copies(sb, layer.in, layer.copies, slope_bar_[l - 1].row(r - begin));
  }
  rows::add_to(b_bar, layer.out, layer.db);
  const int n = end - begin;
  add_weight_gradient(layer, n, h_in.row(begin), h_in.stride(), zb.row(0), zb.stride());
  add_weight_gradient(layer, n, s_in.row(begin), s_in.stride(), zsb.row(0), zsb.stride());
  Rows<T>&below = value_bar_[l - 1], &below_slope = slope_bar_[l - 1];
  add_transposed(layer, n, zb.row(0), zb.stride(), below.row(0), below.stride());
  add_transposed(layer, n, zsb.row(0), zsb.stride(), below_slope.row(0), below_slope.stride());
}

template <class T>
void EmbeddingPass<T>::backward_first(const LayerWeights<T>& layer, const T* x, int begin, int end) {
  using P = HostPack<T>;
  alignas(64) T w_bar[most_width] = {}, b_bar[most_width] = {};
  for (int r = begin; r < end; ++r) {
    const T *h = value_[0].row(r), *s = slope_[0].row(r), *hb = value_bar_[0].row(r - begin),
            *sb = slope_bar_[0].row(r - begin);
    const P input = x[r];
    for (int c = 0; c < layer.out; c += P::width) {
      const P y = P::load(h + c), first = P(T(1)) - y * y, u_bar = P::load(sb + c);
      const P z_bar = first * P::load(hb + c) - (y + y) * u_bar * P::load(s + c);
      (P::load(b_bar + c) + z_bar).store(b_bar + c);
      (P::load(w_bar + c) + fma(input, z_bar, u_bar * first)).store(w_bar + c);
    }
  }
  rows::add_to(b_bar, layer.out, layer.db);
  rows::add_to(w_bar, layer.out, layer.dw);
}

template <class T>
void EmbeddingPass<T>::backward(const NetworkWeights<T>& net, const T* x, int begin, int end) {
  for (std::size_t l = net.size() - 1; l > 0; --l) backward_layer(l, net[l], begin, end);
  backward_first(net[0], x, begin, end);
}

template class EmbeddingPass<double>;
template class EmbeddingPass<float>;

}  // namespace cambium::deepmd
