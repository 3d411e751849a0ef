#include "plugins/deepmd/model/fitting_net.hpp"

namespace cambium::deepmd {

namespace {

/// y = act(z + b) * scale + copies of x; slope = act'(z + b) * scale. y overwrites z.
template <class T>
void activate_rows(int rows, const DenseLayer<T>& layer, const Matrix<T>& x, const Matrix<T>& y,
                   const Matrix<T>& slope) {
  const int count = packs<T>(layer.out), in = layer.in, out = layer.out, copies = layer.copies;
  const Activation f = layer.activation;
  const View<T*> b = layer.b, scale = layer.scale;
  Kokkos::parallel_for(
      "fitting_net: activate", Range(0, rows * count), KOKKOS_LAMBDA(const int item) {
        const int row = item / count, c = item % count * lanes<T>;
        Lane<T> value, first;
        activate<T>(f, Lane<T>::load(&y(row, c)) + Lane<T>::load(&b(c)), value, first);
        const Lane<T> s = Lane<T>::load(&scale(c));
        value *= s;
        if (copies) value += load_copies(&x(row, 0), c, in, out);
        value.store(&y(row, c));
        (first * s).store(&slope(row, c));
      });
}

/// scaled = adjoint * slope.
template <class T>
void scale_rows(int rows, int width, const Matrix<T>& adjoint, const Matrix<T>& slope, const Matrix<T>& scaled) {
  const int count = packs<T>(width);
  Kokkos::parallel_for(
      "fitting_net: scale", Range(0, rows * count), KOKKOS_LAMBDA(const int item) {
        const int row = item / count, c = item % count * lanes<T>;
        (Lane<T>::load(&adjoint(row, c)) * Lane<T>::load(&slope(row, c))).store(&scaled(row, c));
      });
}

/// The last, linear layer, summed in double.
template <class T>
void last_layer(int rows, int n, const Matrix<T>& x, const View<T*>& w, double b, const View<double*>& energy) {
  Kokkos::parallel_for(
      "fitting_net: energy", Range(0, rows), KOKKOS_LAMBDA(const int row) {
        double sum = 0.0;
        for (int c = 0; c < n; ++c) sum += static_cast<double>(x(row, c)) * static_cast<double>(w(c));
        energy(row) = sum + b;
      });
}

/// Every row of `adjoint` becomes w.
template <class T>
void fill_rows(int rows, int n, const View<T*>& w, const Matrix<T>& adjoint) {
  Kokkos::parallel_for(
      "fitting_net: seed", Range(0, rows * n),
      KOKKOS_LAMBDA(const int item) { adjoint(item / n, item % n) = w(item % n); });
}

/// The adjoint of y = [x, x] or y = x: the start of the input's adjoint.
template <class T>
void fold_copies(int rows, const DenseLayer<T>& layer, const Matrix<T>& adjoint, const Matrix<T>& folded) {
  const int in = layer.in, copies = layer.copies;
  Kokkos::parallel_for(
      "fitting_net: fold", Range(0, rows * in), KOKKOS_LAMBDA(const int item) {
        const int row = item / in, c = item % in;
        folded(row, c) = adjoint(row, c) + (copies == 2 ? adjoint(row, in + c) : T(0));
      });
}

}  // namespace

template <class T>
std::size_t FittingWorkspace<T>::bytes() const {
  std::size_t n = scaled.size() + between.size() + adjoint[0].size() + adjoint[1].size();
  for (const auto& m : value) n += m.size();
  for (const auto& m : slope) n += m.size();
  return n * sizeof(T);
}

template <class T>
FittingNet<T>::FittingNet(const Network& net, std::span<const lowp::BinaryCodedMatrix> coded) : in_(net.in()) {
  for (std::size_t k = 0; k + 1 < net.layers.size(); ++k)
    hidden_.emplace_back(net.layers[k], true, coded.empty() ? lowp::BinaryCodedMatrix{} : coded[k]);
  const Layer& last = net.layers.back();
  last_w_ = View<T*>("fitting_net: last w", static_cast<std::size_t>(padded<T>(last.in)));
  auto host = Kokkos::create_mirror_view(last_w_);
  const double scale = last.idt.empty() ? 1.0 : last.idt[0];
  for (int k = 0; k < last.in; ++k) host(k) = static_cast<T>(scale * last.w[k]);
  Kokkos::deep_copy(last_w_, host);
  last_b_ = last.b.empty() ? 0.0 : scale * last.b[0];
}

template <class T>
double FittingNet<T>::flops() const {
  double n = 0.0;
  for (const auto& layer : hidden_) n += 4.0 * layer.products();
  return n;
}

template <class T>
std::size_t FittingNet<T>::bytes() const {
  std::size_t n = last_w_.size() * sizeof(T);
  for (const auto& layer : hidden_) n += layer.bytes();
  return n;
}

template <class T>
void FittingNet<T>::forward(int rows, const Matrix<T>& x, FittingWorkspace<T>& work) const {
  const std::size_t depth = hidden_.size();
  if (work.value.size() < depth) {
    work.value.resize(depth);
    work.slope.resize(depth);
  }
  for (std::size_t k = 0; k < depth; ++k) {
    const DenseLayer<T>& layer = hidden_[k];
    reserve(work.value[k], "fitting_net: value", rows, layer.out);
    reserve(work.slope[k], "fitting_net: slope", rows, layer.out);
    const Matrix<T>& input = k == 0 ? x : work.value[k - 1];
    layer.multiply(rows, input, work.value[k], work.between);
    activate_rows(rows, layer, input, work.value[k], work.slope[k]);
  }
}

template <class T>
void FittingNet<T>::backward(int rows, FittingWorkspace<T>& work, const Matrix<T>& gradient) const {
  const int width = hidden_.empty() ? in_ : hidden_.back().out;
  Matrix<T> adjoint = gradient;
  if (!hidden_.empty()) {
    reserve(work.adjoint[0], "fitting_net: adjoint", rows, width);
    adjoint = work.adjoint[0];
  }
  fill_rows(rows, width, last_w_, adjoint);
  for (std::size_t k = hidden_.size(); k-- > 0;) {
    const DenseLayer<T>& layer = hidden_[k];
    reserve(work.scaled, "fitting_net: scaled", rows, layer.out);
    scale_rows(rows, layer.out, adjoint, work.slope[k], work.scaled);
    Matrix<T> target = gradient;
    if (k > 0) {
      Matrix<T>& other = work.adjoint[adjoint.data() == work.adjoint[0].data() ? 1 : 0];
      if (layer.copies != 1) reserve(other, "fitting_net: adjoint", rows, layer.in);
      target = layer.copies == 1 ? adjoint : other;
    }
    if (layer.copies && target.data() != adjoint.data()) fold_copies(rows, layer, adjoint, target);
    layer.multiply_transposed(rows, work.scaled, layer.copies > 0, target, work.between);
    adjoint = target;
  }
}

template <class T>
void FittingNet<T>::evaluate(int rows, const Matrix<T>& x, FittingWorkspace<T>& work, const View<double*>& energy,
                             const Matrix<T>& gradient) const {
  if (rows == 0) return;
  forward(rows, x, work);
  const Matrix<T>& last = hidden_.empty() ? x : work.value[hidden_.size() - 1];
  last_layer(rows, hidden_.empty() ? in_ : hidden_.back().out, last, last_w_, last_b_, energy);
  backward(rows, work, gradient);
}

template struct FittingWorkspace<double>;
template struct FittingWorkspace<float>;
template class FittingNet<double>;
template class FittingNet<float>;

}  // namespace cambium::deepmd
