#include "plugins/deepmd/training/fitting_pass.hpp"

#include "plugins/deepmd/training/layer_products.hpp"
#include "plugins/deepmd/training/row_kernels.hpp"

namespace cambium::deepmd {

template <class T>
FittingPass<T>::FittingPass(int inputs, std::span<const int> widths) {
  std::vector<int> all(1, inputs);
  all.insert(all.end(), widths.begin(), widths.end());
  for (int width : all)
    for (auto* list : {&x_, &x_dot_, &x_gradient_, &x_bar_}) list->emplace_back(width, native_width<T>);
  for (int width : widths)
    for (auto* list : {&y_, &z_dot_, &y_gradient_, &z_gradient_, &z_bar_}) list->emplace_back(width, native_width<T>);
}

template <class T>
void FittingPass<T>::reserve(std::int64_t rows) {
  for (auto* list : {&x_, &x_dot_, &x_gradient_, &x_bar_, &y_, &z_dot_, &y_gradient_, &z_gradient_, &z_bar_})
    for (Rows<T>& layer : *list) layer.reserve(rows);
}

namespace {
/// Copies rows without the padding to full registers; add_packed() is the reverse.
template <class T>
std::vector<T> packed(const Rows<T>& from, int n, int width) {
  std::vector<T> out(static_cast<std::size_t>(n) * static_cast<std::size_t>(width));
  for (int r = 0; r < n; ++r)
    std::copy_n(from.row(r), width, out.data() + static_cast<std::size_t>(r) * static_cast<std::size_t>(width));
  return out;
}
template <class T>
void add_packed(const std::vector<T>& from, int n, int width, Rows<T>& to) {
  for (int r = 0; r < n; ++r)
    for (int c = 0; c < width; ++c)
      to.row(r)[c] += from[static_cast<std::size_t>(r) * static_cast<std::size_t>(width) + static_cast<std::size_t>(c)];
}
/// C += A W (or A W^T) with a quantised matrix; false if there is none.
template <class T>
bool add_coded(const Rows<T>& a, const LayerWeights<T>& layer, int n, bool transposed, Rows<T>& c) {
  if (!layer.coded) return false;
  const int in = transposed ? layer.out : layer.in, out = transposed ? layer.in : layer.out;
  const std::vector<T> x = packed(a, n, in);
  std::vector<T> y(static_cast<std::size_t>(n) * static_cast<std::size_t>(out), T(0));
  if (!(transposed ? layer.coded->add_transposed_product(layer.parameter, x.data(), n, y.data())
                   : layer.coded->add_product(layer.parameter, x.data(), n, y.data())))
    return false;
  add_packed(y, n, out, c);
  return true;
}
/// C = A W (or A W^T added to C).
template <class T>
void times(const Rows<T>& a, const LayerWeights<T>& layer, int n, Rows<T>& c) {
  if (layer.coded) {
    c.zero(n);
    if (add_coded(a, layer, n, false, c)) return;
  }
  multiply(layer, n, a.row(0), a.stride(), c.row(0), c.stride());
}
template <class T>
void add_times_transposed(const Rows<T>& a, const LayerWeights<T>& layer, int n, Rows<T>& c) {
  if (add_coded(a, layer, n, true, c)) return;
  add_transposed(layer, n, a.row(0), a.stride(), c.row(0), c.stride());
}
}  // namespace

template <class T>
void FittingPass<T>::forward(const NetworkWeights<T>& net, int n, double* energy) {
  using P = HostPack<T>;
  const std::size_t hidden = net.size() - 1;
  for (std::size_t l = 0; l < hidden; ++l) {
    const LayerWeights<T>& layer = net[l];
    times(x_[l], layer, n, y_[l]);
    for (int r = 0; r < n; ++r) {
      T *y = y_[l].row(r), *out = x_[l + 1].row(r);
      for (int c = 0; c < layer.out; c += P::width) {
        const P t = tanh(P::load(y + c) + P::load(&layer.b[c]));
        t.store(y + c);
        (t * P::load(&layer.idt[c])).store(out + c);
      }
      rows::add_copies(x_[l].row(r), layer.in, layer.copies, out);
    }
  }
  const LayerWeights<T>& last = net[hidden];
  std::vector<T> shift(n, T(0));  // of a quantised last layer that was calibrated on samples
  if (last.coded) last.coded->add_product(last.parameter, packed(x_[hidden], n, last.in).data(), n, shift.data());
  for (int r = 0; r < n; ++r) {
    double e = last.b[0] + static_cast<double>(shift[r]);
    for (int c = 0; c < last.in; ++c) e += static_cast<double>(x_[hidden].row(r)[c]) * last.w[c];
    energy[r] = e;
  }
}

template <class T>
void FittingPass<T>::gradient(const NetworkWeights<T>& net, int n) {
  using P = HostPack<T>;
  const std::size_t hidden = net.size() - 1;
  for (int r = 0; r < n; ++r) std::copy_n(net[hidden].w, net[hidden].in, x_gradient_[hidden].row(r));
  for (std::size_t l = hidden; l-- > 0;) {
    const LayerWeights<T>& layer = net[l];
    for (int r = 0; r < n; ++r) {
      const T *y = y_[l].row(r), *above = x_gradient_[l + 1].row(r);
      T *yg = y_gradient_[l].row(r), *zg = z_gradient_[l].row(r);
      for (int c = 0; c < layer.out; c += P::width) {
        const P t = P::load(y + c), g = P::load(above + c) * (P(T(1)) - t * t);
        g.store(yg + c);
        (g * P::load(&layer.idt[c])).store(zg + c);
      }
      rows::fold_copies(above, layer.in, layer.copies, x_gradient_[l].row(r));
    }
    add_times_transposed(z_gradient_[l], layer, n, x_gradient_[l]);
  }
}

template <class T>
void FittingPass<T>::tangent(const NetworkWeights<T>& net, int n, double* energy_dot) {
  using P = HostPack<T>;
  const std::size_t hidden = net.size() - 1;
  for (std::size_t l = 0; l < hidden; ++l) {
    const LayerWeights<T>& layer = net[l];
    times(x_dot_[l], layer, n, z_dot_[l]);
    for (int r = 0; r < n; ++r) {
      const T *y = y_[l].row(r), *z = z_dot_[l].row(r);
      T* out = x_dot_[l + 1].row(r);
      for (int c = 0; c < layer.out; c += P::width) {
        const P t = P::load(y + c), idt = P::load(&layer.idt[c]);
        ((P(T(1)) - t * t) * idt * P::load(z + c)).store(out + c);
      }
      rows::add_copies(x_dot_[l].row(r), layer.in, layer.copies, out);
    }
  }
  const LayerWeights<T>& last = net[hidden];
  for (int r = 0; r < n; ++r) {
    double e = 0.0;
    for (int c = 0; c < last.in; ++c) e += static_cast<double>(x_dot_[hidden].row(r)[c]) * last.w[c];
    energy_dot[r] = e;
  }
}

/// With y = tanh(z): the adjoint of z is out_bar idt (1 - y^2) - 2 y z_gradient z_dot, because the adjoint of z_dot is
/// the energy's own gradient. That of idt is out_bar y + y_gradient z_dot.
template <class T>
void FittingPass<T>::backward_layer(std::size_t l, const LayerWeights<T>& layer, int n) {
  using P = HostPack<T>;
  std::vector<T> sums(2 * static_cast<std::size_t>(y_[l].stride()), T(0));
  T *b_bar = sums.data(), *idt_bar = b_bar + y_[l].stride();
  for (int r = 0; r < n; ++r) {
    const T *y = y_[l].row(r), *above = x_bar_[l + 1].row(r), *zd = z_dot_[l].row(r);
    const T *yg = y_gradient_[l].row(r), *zg = z_gradient_[l].row(r);
    T* zb = z_bar_[l].row(r);
    for (int c = 0; c < layer.out; c += P::width) {
      const P t = P::load(y + c), up = P::load(above + c), dot = P::load(zd + c);
      const P idt = P::load(&layer.idt[c]);
      const P z = up * idt * (P(T(1)) - t * t) - (t + t) * P::load(zg + c) * dot;
      z.store(zb + c);
      (P::load(b_bar + c) + z).store(b_bar + c);
      (P::load(idt_bar + c) + fma(up, t, P::load(yg + c) * dot)).store(idt_bar + c);
    }
    rows::fold_copies(above, layer.in, layer.copies, x_bar_[l].row(r));
  }
  rows::add_to(b_bar, layer.out, layer.db);
  if (layer.has_idt()) rows::add_to(idt_bar, layer.out, layer.didt);
  add_weight_gradient(layer, n, x_[l].row(0), x_[l].stride(), z_bar_[l].row(0), z_bar_[l].stride());
  add_weight_gradient(layer, n, x_dot_[l].row(0), x_dot_[l].stride(), z_gradient_[l].row(0), z_gradient_[l].stride());
  add_times_transposed(z_bar_[l], layer, n, x_bar_[l]);
}

template <class T>
void FittingPass<T>::backward(const NetworkWeights<T>& net, int n, const double* energy_bar) {
  const std::size_t hidden = net.size() - 1;
  const LayerWeights<T>& last = net[hidden];
  for (int r = 0; r < n; ++r) {
    const T seed = static_cast<T>(energy_bar[r]);
    const T *x = x_[hidden].row(r), *xd = x_dot_[hidden].row(r);
    T* xb = x_bar_[hidden].row(r);
    for (int c = 0; c < last.in; ++c) {
      last.dw[c] += seed * x[c] + xd[c];
      xb[c] = seed * last.w[c];
    }
    last.db[0] += seed;
  }
  for (std::size_t l = hidden; l-- > 0;) backward_layer(l, net[l], n);
}

template class FittingPass<double>;
template class FittingPass<float>;

}  // namespace cambium::deepmd
