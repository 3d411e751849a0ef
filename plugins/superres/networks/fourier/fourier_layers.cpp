#include "plugins/superres/networks/fourier/fourier_layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/recorder.hpp"
#include "core/numerics/activation.hpp"
#include "core/numerics/gemm.hpp"
#include "core/parallel/random.hpp"
#include "plugins/superres/networks/fourier/mode_products.hpp"

namespace cambium::superres {
namespace {

constexpr auto gelu = cambium::Activation::gelu;
constexpr int first_layer = 2;  ///< parameter index: after those of the lifting

template <class T>
void fill(const TensorRef& weights, double deviation, std::uint64_t seed, int parameter) {
  auto* values = static_cast<T*>(weights.data);
  for (std::int64_t k = 0; k < weights.elements(); ++k)
    values[k] = deviation == 0.0
                    ? T(0)
                    : static_cast<T>(deviation * Random4(seed, Stream::model_weights, static_cast<std::uint64_t>(k),
                                                         static_cast<std::uint64_t>(parameter))
                                                     .normal(0));
}

}  // namespace

std::vector<train::ParameterInfo> fourier_parameters(const FourierShape& s) {
  const std::int64_t width = s.width, hidden = s.hidden;
  std::vector<train::ParameterInfo> out{{"lift.w", {s.inputs, width}}, {"lift.b", {width}, false}};
  for (int l = 0; l < s.layers; ++l) {
    out.push_back({fmt::format("layers.{}.modes", l), {2, 2 * s.grid.modes[0], s.grid.modes[1], width, width}});
    out.push_back({fmt::format("layers.{}.w", l), {s.kernel * s.kernel * width, width}});
    out.push_back({fmt::format("layers.{}.b", l), {width}, false});
  }
  out.push_back({"project.0.w", {width, hidden}});
  out.push_back({"project.0.b", {hidden}, false});
  out.push_back({"project.1.w", {hidden, s.outputs}});
  out.push_back({"project.1.b", {s.outputs}, false});
  return out;
}

std::vector<int> fourier_modules(const FourierShape& shape) {
  std::vector<int> out{0};
  for (int l = 0; l < shape.layers; ++l) out.push_back(first_layer + 3 * l);
  out.push_back(first_layer + 3 * shape.layers);
  out.push_back(first_layer + 3 * shape.layers + 2);
  return out;
}

void initialise_fourier(const FourierShape& shape, std::span<const TensorRef> weights, std::uint64_t seed,
                        bool last_is_zero) {
  const auto info = fourier_parameters(shape);
  for (int p = 0; p < std::ssize(info); ++p) {
    if (!weights[p].data) continue;
    const auto& name = info[p].name;
    const double inputs =
        static_cast<double>(*(info[p].shape.end() - std::min<std::ptrdiff_t>(2, std::ssize(info[p].shape))));
    double variance = 1.0 / inputs;
    if (name.ends_with(".modes")) variance *= 0.5;
    if (name.starts_with("project.0")) variance *= 2.0;
    if (name.ends_with(".b") || (last_is_zero && name == "project.1.w")) variance = 0.0;
    if (weights[p].dtype == DType::f64)
      fill<double>(weights[p], std::sqrt(variance), seed, p);
    else
      fill<float>(weights[p], std::sqrt(variance), seed, p);
  }
}

template <class T>
typename FourierLayers<T>::Dense FourierLayers<T>::projection(int which) const {
  const int first = first_layer + 3 * shape_.layers;
  if (which == 0) return {first, shape_.width, shape_.hidden};
  return {first + 2, shape_.hidden, shape_.outputs};
}

template <class T>
std::vector<std::int64_t> FourierLayers<T>::neighbours(int kernel) const {
  const auto& g = shape_.grid;
  const int half = kernel / 2;
  std::vector<std::int64_t> out;
  if (kernel == 1) return out;
  for (int dx = -half; dx <= half; ++dx)
    for (int dz = -half; dz <= half; ++dz)
      for (int x = 0; x < g.points[0]; ++x)
        for (int z = 0; z < g.points[1]; ++z) {
          const std::int64_t i = g.point_at(0, x + dx), k = g.point_at(1, z + dz);
          out.push_back(i < 0 || k < 0 ? -1 : i * g.points[1] + k);
        }
  return out;
}

/// Gathers rows (offset, channel) of the neighbours of each point, from fields (channels, points).
template <class T>
static void gather(const std::vector<std::int64_t>& from, std::size_t n, int channels, const T* fields, T* rows) {
  const KernelRegion region("neighbours of points", WorkKind::movement);
  for (std::size_t offset = 0; offset < from.size(); offset += n)
    for (int c = 0; c < channels; ++c, rows += n)
      for (std::size_t k = 0; k < n; ++k) {
        const auto at = from[offset + k];
        rows[k] = at < 0 ? T(0) : fields[static_cast<std::size_t>(c) * n + static_cast<std::size_t>(at)];
      }
}

/// The transpose: adds to fields.
template <class T>
static void scatter(const std::vector<std::int64_t>& from, std::size_t n, int channels, const T* rows, T* fields) {
  const KernelRegion region("sums over neighbours", WorkKind::movement);
  for (std::size_t offset = 0; offset < from.size(); offset += n)
    for (int c = 0; c < channels; ++c, rows += n)
      for (std::size_t k = 0; k < n; ++k)
        if (const auto at = from[offset + k]; at >= 0)
          fields[static_cast<std::size_t>(c) * n + static_cast<std::size_t>(at)] += rows[k];
}

/// w^T in + b at every node of every sample.
template <class T>
std::vector<T> FourierLayers<T>::dense(const Dense& d, const Values& in) const {
  const std::size_t n = nodes();
  const auto from = neighbours(d.kernel);
  Values out(static_cast<std::size_t>(samples_) * d.out * n), beside(from.size() * d.in);
  for (int s = 0; s < samples_; ++s) {
    T* const to = out.data() + static_cast<std::size_t>(s) * d.out * n;
    const T* fields = in.data() + static_cast<std::size_t>(s) * d.in * n;
    if (d.kernel > 1) {
      gather(from, n, d.in, fields, beside.data());
      fields = beside.data();
    }
    for (int o = 0; o < d.out; ++o) std::fill_n(to + o * n, n, weight(d.parameter + 1)[o]);
    host_gemm<T>(true, false, d.out, static_cast<int>(n), d.rows(), T(1), weight(d.parameter), d.out, fields,
                 static_cast<int>(n), T(1), to, static_cast<int>(n));
  }
  return out;
}

template <class T>
std::vector<T> FourierLayers<T>::dense_backward(const Dense& d, const Values& in, const Values& by_sum,
                                                std::span<const TensorRef> gradients, bool by_input) const {
  const std::size_t n = nodes();
  const int columns = static_cast<int>(n);
  const auto from_points = neighbours(d.kernel);
  auto* by_weight = static_cast<T*>(gradients[d.parameter].data);
  auto* by_bias = static_cast<T*>(gradients[d.parameter + 1].data);
  Values out(by_input ? in.size() : 0), beside(from_points.size() * d.in);
  for (int s = 0; s < samples_; ++s) {
    const T* const from = by_sum.data() + static_cast<std::size_t>(s) * d.out * n;
    const std::size_t at = static_cast<std::size_t>(s) * d.in * n;
    const T* fields = in.data() + at;
    if (d.kernel > 1) {
      gather(from_points, n, d.in, fields, beside.data());
      fields = beside.data();
    }
    for (int o = 0; o < d.out; ++o) by_bias[o] += lane_sum(from + o * n, n);
    host_gemm<T>(false, true, d.rows(), d.out, columns, T(1), fields, columns, from, columns, T(1), by_weight, d.out);
    if (!by_input) continue;
    T* const to = d.kernel > 1 ? beside.data() : out.data() + at;
    host_gemm<T>(false, false, d.rows(), columns, d.out, T(1), weight(d.parameter), d.out, from, columns, T(0), to,
                 columns);
    if (d.kernel > 1) scatter(from_points, n, d.in, to, out.data() + at);
  }
  return out;
}

template <class T>
std::vector<T> FourierLayers<T>::activated(const Values& sums) const {
  Values out(sums.size());
  cambium::activate(gelu, std::ssize(sums), sums.data(), out.data());
  return out;
}

template <class T>
void FourierLayers<T>::times_slope(const Values& sums, Values& by_value) const {
  cambium::times_slope(gelu, std::ssize(sums), sums.data(), sums.data(), by_value.data());
}

template <class T>
void FourierLayers<T>::add_modes(int layer, const Values& in, Values& sums) {
  const int width = shape_.width;
  const std::size_t n = nodes() * width, kept = static_cast<std::size_t>(shape_.grid.kept()), part = kept * width;
  Values& modes = modes_[layer];
  modes.resize(2 * part * samples_);
  Values real(part), imaginary(part), field(n);
  const T* const w = weight(first_layer + 3 * layer);
  for (int s = 0; s < samples_; ++s) {
    const std::span<T> re(modes.data() + 2 * part * s, part), im(modes.data() + 2 * part * s + part, part);
    transform_.forward<T>(in.data() + n * s, width, SpectralTransform::Beyond::as_ends, re, im);
    multiply_modes<T>({kept, width, w}, re.data(), im.data(), real.data(), imaginary.data());
    transform_.backward<T>(real, imaginary, width, SpectralTransform::Beyond::zeros, field.data());
    for (std::size_t k = 0; k < n; ++k) sums[n * s + k] += field[k];
  }
}

/// Transposes: that of the inverse over N points, in which modes other than kz = 0 count twice, is the forward
/// transform times 2 / N or 1 / N; that of the forward transform is the inverse times N / 2 or N.
template <class T>
void FourierLayers<T>::modes_backward(int layer, const Values& by_sum, Values& by_input, T* gradient) {
  const auto& grid = shape_.grid;
  const int width = shape_.width;
  const std::size_t n = nodes() * width, kept = static_cast<std::size_t>(grid.kept()), part = kept * width;
  const T points = static_cast<T>(static_cast<double>(grid.period(0)) * grid.period(1));
  Values real(part), imaginary(part), by_real(part), by_imaginary(part), field(n);
  const auto scale = [&](Values& values, T once, T twice) {
    for (std::size_t k = 0; k < part; ++k) values[k] *= k / width % grid.modes[1] == 0 ? once : twice;
  };
  const T* const w = weight(first_layer + 3 * layer);
  for (int s = 0; s < samples_; ++s) {
    transform_.forward<T>(by_sum.data() + n * s, width, SpectralTransform::Beyond::zeros, real, imaginary);
    for (auto* values : {&real, &imaginary}) scale(*values, T(1) / points, T(2) / points);
    const T* const modes = modes_[layer].data() + 2 * part * s;
    multiply_modes_backward<T>({kept, width, w}, {modes, modes + part}, {real.data(), imaginary.data()},
                               {by_real.data(), by_imaginary.data()}, gradient);
    for (auto* values : {&by_real, &by_imaginary}) scale(*values, points, points / T(2));
    transform_.backward<T>(by_real, by_imaginary, width, SpectralTransform::Beyond::as_ends, field.data());
    for (std::size_t k = 0; k < n; ++k) by_input[n * s + k] += field[k];
  }
}

template <class T>
const std::vector<T>& FourierLayers<T>::forward(std::vector<T> inputs, int samples, const train::ReadyCallback& ready) {
  samples_ = samples;
  const int layers = shape_.layers;
  inputs_.assign(layers + 3, {});
  sums_.assign(layers + 3, {});
  modes_.assign(layers, {});
  inputs_[0] = std::move(inputs);
  for (int l = 0; l < layers + 3; ++l) {
    ready.forward(l);
    const bool fourier = l > 0 && l <= layers;
    const Dense d = l == 0 ? lifting() : fourier ? beside(l - 1) : projection(l - layers - 1);
    sums_[l] = dense(d, inputs_[l]);
    if (fourier) add_modes(l - 1, inputs_[l], sums_[l]);
    ready.release(l);
    const bool bends = (fourier && l < layers) || l == layers + 1;
    if (l + 1 < layers + 3) inputs_[l + 1] = bends ? activated(sums_[l]) : sums_[l];
  }
  return sums_.back();
}

template <class T>
void FourierLayers<T>::backward(std::vector<T> by_output, std::span<const TensorRef> gradients,
                                const train::ReadyCallback& ready) {
  const int layers = shape_.layers;
  Values by_sum = std::move(by_output);
  for (int l = layers + 2; l >= 0; --l) {
    const bool fourier = l > 0 && l <= layers;
    const bool bends = (fourier && l < layers) || l == layers + 1;
    if (bends) times_slope(sums_[l], by_sum);
    ready.backward(l);
    const Dense d = l == 0 ? lifting() : fourier ? beside(l - 1) : projection(l - layers - 1);
    Values by_input = dense_backward(d, inputs_[l], by_sum, gradients, l > 0);
    if (fourier) modes_backward(l - 1, by_sum, by_input, static_cast<T*>(gradients[d.parameter - 1].data));
    if (ready) {
      ready(d.parameter + 1);
      ready(d.parameter);
      if (fourier) ready(d.parameter - 1);
    }
    ready.release(l);
    by_sum = std::move(by_input);
  }
}

template class FourierLayers<double>;
template class FourierLayers<float>;

}  // namespace cambium::superres
