#include "plugins/pretrain/networks/normed_convolution.hpp"

#include <ATen/Parallel.h>

#include "core/base/recorder.hpp"
#include "plugins/pretrain/networks/conv_pass.hpp"
#include "plugins/pretrain/networks/normed_relu.hpp"

namespace cambium::pretrain {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::int64_t fields_together = 16;  ///< with one partial sum of weight gradients

/// Arguments of one pass.
struct Layer {
  ConvShape shape;
  std::int64_t groups;
  double epsilon;
  bool beside;

  std::int64_t in() const { return shape.cells_in() * shape.inputs; }
  std::int64_t out() const { return shape.cells_out() * shape.outputs; }
  std::vector<std::int64_t> sizes(std::int64_t samples) const {
    std::vector<std::int64_t> n{samples};
    for (const auto k : shape.out()) n.push_back(k);
    n.push_back(shape.outputs);
    return n;
  }
  template <class T>
  ConvPass<T> convolution(const Tensor& weight, const Tensor& bias) const {
    return {shape, weight.data_ptr<T>(), bias.data_ptr<T>()};
  }
  template <class T>
  NormedRelu<T> norm(const Tensor& scale, const Tensor& shift) const {
    return {{shape.cells_out(), shape.outputs, groups, epsilon}, scale.data_ptr<T>(), shift.data_ptr<T>()};
  }
};

Amount amount_of(const Tensor& x, double flops) {
  const auto word = static_cast<int>(x.element_size());
  return {flops * static_cast<double>(x.size(0)), static_cast<double>(x.numel() * word), word};
}

/// Calls visit(first, one past the last) for groups of fields, on Torch's threads.
template <class Visit>
void for_fields(std::int64_t samples, const Visit& visit) {
  const auto parts = (samples + fields_together - 1) / fields_together;
  at::parallel_for(0, parts, 1, [&](std::int64_t from, std::int64_t to) {
    for (auto part = from; part < to; ++part)
      visit(part, part * fields_together, std::min((part + 1) * fields_together, samples));
  });
}

template <class T>
void forward_of(const Layer& layer, const Tensor& x, const Tensor (&w)[4], Tensor& y, Tensor& moments, Tensor& out) {
  const auto pass = layer.convolution<T>(w[0], w[1]);
  for_fields(x.size(0), [&](std::int64_t, std::int64_t from, std::int64_t to) {
    std::vector<T> room;
    auto norm = layer.norm<T>(w[2], w[3]);
    for (auto k = from; k < to; ++k) {
      const T* field = x.data_ptr<T>() + k * layer.in();
      T* result = y.data_ptr<T>() + k * layer.out();
      pass.forward(field, result, room);
      norm.forward(result, layer.beside ? field : nullptr, moments.data_ptr<T>() + k * norm.moments(),
                   out.data_ptr<T>() + k * layer.out());
    }
  });
}

/// Sums the parts in their order.
Tensor sum_of(const Tensor& parts) {
  Tensor sum = parts[0];
  for (std::int64_t k = 1; k < parts.size(0); ++k) sum.add_(parts[k]);
  return sum;
}

template <class T>
variable_list backward_of(const Layer& layer, const Tensor& x, const Tensor (&w)[4], const Tensor& y,
                          const Tensor& moments, const Tensor& dout, bool of_input) {
  const auto& s = layer.shape;
  const auto samples = x.size(0), parts = (samples + fields_together - 1) / fields_together;
  Tensor dx = of_input ? torch::empty_like(x) : Tensor();
  const Tensor dweight = torch::zeros({parts, s.taps(), s.inputs, s.outputs}, x.options());
  const Tensor dothers = torch::zeros({parts, 3, s.outputs}, x.options());  // bias, scale, shift
  const auto pass = layer.convolution<T>(w[0], w[1]);
  for_fields(samples, [&](std::int64_t part, std::int64_t from, std::int64_t to) {
    auto norm = layer.norm<T>(w[2], w[3]);
    std::vector<T> dy(layer.out()), room;
    T* others = dothers.data_ptr<T>() + part * 3 * s.outputs;
    for (auto k = from; k < to; ++k) {
      const T* field = x.data_ptr<T>() + k * layer.in();
      norm.backward(y.data_ptr<T>() + k * layer.out(), moments.data_ptr<T>() + k * norm.moments(),
                    dout.data_ptr<T>() + k * layer.out(), dy.data(),
                    {others + s.outputs, others + 2 * s.outputs, others});
      if (of_input) pass.input_gradient(dy.data(), dx.data_ptr<T>() + k * layer.in(), room);
      pass.add_weight_gradient(field, dy.data(), dweight.data_ptr<T>() + part * s.taps() * s.inputs * s.outputs, room);
    }
  });
  if (of_input && layer.beside) dx.add_(dout);
  const Tensor others = sum_of(dothers);
  return {dx, sum_of(dweight).permute({2, 1, 0}).reshape(w[0].sizes()), others[0], others[1], others[2]};
}

Layer layer_of(AutogradContext* ctx) {
  const auto numbers = [&](const char* name) { return ctx->saved_data[name].toIntVector(); };
  const auto n = numbers("numbers");
  return {{numbers("cells"), numbers("periodic"), n[0], n[1], n[2]},
          n[3],
          ctx->saved_data["epsilon"].toDouble(),
          n[4] != 0};
}

struct Operation : torch::autograd::Function<Operation> {
  static Tensor forward(AutogradContext* ctx, const Tensor& input, const Tensor& weight, const Tensor& bias,
                        const Tensor& scale, const Tensor& shift, const Layer& layer) {
    const auto& s = layer.shape;
    const Tensor x = input.contiguous();
    const Tensor w[4] = {weight.contiguous(), bias.contiguous(), scale.contiguous(), shift.contiguous()};
    const Region region("convolutions", WorkKind::matrix, amount_of(x, s.flops()));
    Tensor y = torch::empty(layer.sizes(x.size(0)), x.options()), out = torch::empty_like(y);
    Tensor moments = torch::empty({x.size(0), layer.groups, 2}, x.options());
    if (x.scalar_type() == torch::kFloat64)
      forward_of<double>(layer, x, w, y, moments, out);
    else
      forward_of<float>(layer, x, w, y, moments, out);
    ctx->save_for_backward({x, w[0], w[1], w[2], w[3], y, moments});
    ctx->saved_data["cells"] = s.cells;
    ctx->saved_data["periodic"] = s.periodic;
    ctx->saved_data["numbers"] =
        std::vector<std::int64_t>{s.inputs, s.outputs, s.stride, layer.groups, layer.beside ? 1 : 0};
    ctx->saved_data["epsilon"] = layer.epsilon;
    ctx->saved_data["of_input"] = input.requires_grad();
    return out;
  }

  static variable_list backward(AutogradContext* ctx, variable_list gradients) {
    const auto saved = ctx->get_saved_variables();
    const Layer layer = layer_of(ctx);
    const Tensor &x = saved[0], w[4] = {saved[1], saved[2], saved[3], saved[4]}, &y = saved[5], &moments = saved[6];
    const bool of_input = ctx->saved_data["of_input"].toBool();
    const Region region("convolutions: gradient", WorkKind::matrix,
                        amount_of(x, layer.shape.flops() * (of_input ? 2.0 : 1.0)));
    const Tensor dout = gradients[0].contiguous();
    auto out = x.scalar_type() == torch::kFloat64 ? backward_of<double>(layer, x, w, y, moments, dout, of_input)
                                                  : backward_of<float>(layer, x, w, y, moments, dout, of_input);
    out.emplace_back();  // of the layer
    return out;
  }
};

}  // namespace

Tensor normed_convolution(const Tensor& x, const NormedWeights& weights, const ConvShape& shape, bool beside) {
  return Operation::apply(x, weights.weight, weights.bias, weights.scale, weights.shift,
                          Layer{shape, weights.groups, weights.epsilon, beside});
}

}  // namespace cambium::pretrain
