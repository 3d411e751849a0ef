#include "plugins/cosmo/networks/pooled_layer.hpp"

#include <ATen/Parallel.h>

#include "core/base/recorder.hpp"
#include "plugins/cosmo/networks/pooled_convolution.hpp"

namespace cambium::cosmo {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

PooledShape shape_of(const Tensor& x, const Tensor& weight, double slope) {
  return {x.size(1), weight.size(1), weight.size(0), slope};
}

Amount amount_of(const Tensor& x, double flops) {
  const auto word = static_cast<int>(x.element_size());
  return {flops * static_cast<double>(x.size(0)), static_cast<double>(x.numel() * word), word};
}

template <class T>
void forward_of(const Tensor& x, const PooledConvolution<T>& layer, Tensor& y, Tensor& largest) {
  const auto& s = layer.shape();
  at::parallel_for(0, x.size(0), 1, [&](std::int64_t from, std::int64_t to) {
    for (auto k = static_cast<std::size_t>(from); k < static_cast<std::size_t>(to); ++k)
      layer.forward(x.data_ptr<T>() + k * s.in_size(), y.data_ptr<T>() + k * s.out_size(),
                    largest.data_ptr<std::uint8_t>() + k * s.out_size());
  });
}

/// Gradients of x (if `of_input`), of the weights and of the bias.
template <class T>
variable_list backward_of(const Tensor& x, const Tensor& y, const Tensor& largest, const Tensor& dy,
                          const PooledConvolution<T>& layer, bool of_input) {
  const auto& s = layer.shape();
  const auto batch = x.size(0);
  Tensor dx = of_input ? torch::zeros_like(x) : Tensor();
  const auto row = s.template gradient_row<T>();
  const Tensor dweight = torch::zeros({batch, s.outputs, 3, 3, row}, x.options());
  const Tensor dbias = torch::zeros({batch, s.outputs}, x.options());
  at::parallel_for(0, batch, 1, [&](std::int64_t from, std::int64_t to) {
    for (auto k = static_cast<std::size_t>(from); k < static_cast<std::size_t>(to); ++k)
      layer.backward(x.data_ptr<T>() + k * s.in_size(), y.data_ptr<T>() + k * s.out_size(),
                     largest.data_ptr<std::uint8_t>() + k * s.out_size(), dy.data_ptr<T>() + k * s.out_size(),
                     of_input ? dx.data_ptr<T>() + k * s.in_size() : nullptr,
                     dweight[static_cast<std::int64_t>(k)].template data_ptr<T>(),
                     dbias.data_ptr<T>() + k * static_cast<std::size_t>(s.outputs));
  });
  Tensor sum = dweight[0], bias = dbias[0];
  for (std::int64_t k = 1; k < batch; ++k) {
    sum.add_(dweight[k]);
    bias.add_(dbias[k]);
  }
  sum = sum.narrow(3, 0, 3 * s.inputs).reshape({s.outputs, 3, 3, 3, s.inputs});
  return {dx, sum.permute({0, 4, 1, 2, 3}).contiguous(), bias};
}

struct Operation : torch::autograd::Function<Operation> {
  static Tensor forward(AutogradContext* ctx, const Tensor& input, const Tensor& weight, const Tensor& bias,
                        double slope) {
    const Tensor x = input.contiguous(), w = weight.contiguous(), b = bias.contiguous();
    const auto s = shape_of(x, w, slope);
    const Region region("convolutions and their largest", WorkKind::matrix, amount_of(x, s.flops()));
    const auto half = s.cells / 2;
    Tensor y = torch::empty({x.size(0), half, half, half, s.outputs}, x.options());
    Tensor largest = torch::empty(y.sizes(), x.options().dtype(torch::kUInt8));
    if (x.scalar_type() == torch::kFloat64)
      forward_of<double>(x, {s, w.data_ptr<double>(), b.data_ptr<double>()}, y, largest);
    else
      forward_of<float>(x, {s, w.data_ptr<float>(), b.data_ptr<float>()}, y, largest);
    ctx->save_for_backward({x, w, b, y, largest});
    ctx->saved_data["slope"] = slope;
    ctx->saved_data["of_input"] = input.requires_grad();
    return y;
  }

  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    const auto saved = ctx->get_saved_variables();
    const auto &x = saved[0], &w = saved[1], &b = saved[2], &y = saved[3], &largest = saved[4];
    const auto s = shape_of(x, w, ctx->saved_data["slope"].toDouble());
    const bool of_input = ctx->saved_data["of_input"].toBool();
    const Region region("convolutions and their largest: gradient", WorkKind::matrix,
                        amount_of(x, s.gradient_flops(of_input)));
    const Tensor dy = gradients[0].contiguous();
    auto out = x.scalar_type() == torch::kFloat64
                   ? backward_of<double>(x, y, largest, dy, {s, w.data_ptr<double>(), b.data_ptr<double>()}, of_input)
                   : backward_of<float>(x, y, largest, dy, {s, w.data_ptr<float>(), b.data_ptr<float>()}, of_input);
    out.emplace_back();  // of the slope
    return out;
  }
};

template <class T>
Tensor product_of(const Tensor& x, const Tensor& core, const Tensor& leave, const Tensor& bias, PooledShape s) {
  const PooledProduct<T> layer(s, core.size(0), core.template data_ptr<T>(), leave.template data_ptr<T>(),
                               bias.template data_ptr<T>());
  const auto half = s.cells / 2;
  Tensor y = torch::empty({x.size(0), half, half, half, s.outputs}, x.options());
  at::parallel_for(0, x.size(0), 1, [&](std::int64_t from, std::int64_t to) {
    for (auto k = static_cast<std::size_t>(from); k < static_cast<std::size_t>(to); ++k)
      layer.forward(x.template data_ptr<T>() + k * s.in_size(), y.template data_ptr<T>() + k * s.out_size());
  });
  return y;
}

}  // namespace

Tensor pooled_product(const Tensor& input, const Tensor& core, const Tensor& leave, const Tensor& bias, double slope) {
  const torch::NoGradGuard none;
  const Tensor x = input.contiguous(), c = core.contiguous(), l = leave.contiguous(), b = bias.contiguous();
  const PooledShape s{x.size(1), x.size(4), l.size(0), slope};
  const double middle = static_cast<double>(c.size(0)), cells = static_cast<double>(s.cells * s.cells * s.cells);
  const Region region("convolutions that are products, and their largest", WorkKind::matrix,
                      amount_of(x, 2.0 * cells * middle * static_cast<double>(27 * s.inputs + s.outputs)));
  return x.scalar_type() == torch::kFloat64 ? product_of<double>(x, c, l, b, s) : product_of<float>(x, c, l, b, s);
}

Tensor pooled_convolution(const Tensor& x, const Tensor& weight, const Tensor& bias, double slope) {
  return Operation::apply(x, weight, bias, slope);
}

}  // namespace cambium::cosmo
