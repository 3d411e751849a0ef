#include "core/train/networks/torch/attended.hpp"

#include "core/base/error.hpp"

namespace cambium::train {

using torch::Tensor;
using torch::autograd::tensor_list;

namespace {

/// Calls `run(kernel, head)` for each head of each sample, in turn.
template <class T, class F>
void for_each_head(const Tensor& query, AttentionParams::Type type, F&& run) {
  const HeadShape shape{static_cast<int>(query.size(2)), static_cast<int>(query.size(3)), false};
  const auto kernel = make_attention<T>(type, shape);
  for (std::int64_t head = 0; head < query.size(0) * query.size(1); ++head) run(*kernel, head);
}

template <class T>
HeadRows<const T> rows_of(const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t head) {
  const std::int64_t from = head * q.size(2) * q.size(3);
  return {q.data_ptr<T>() + from, k.data_ptr<T>() + from, v.data_ptr<T>() + from, static_cast<int>(q.size(3))};
}

/// Output, and the values stored by the kernels: one row for each head.
template <class T>
std::pair<Tensor, Tensor> forward_of(const Tensor& q, const Tensor& k, const Tensor& v, AttentionParams::Type type) {
  Tensor out = torch::empty_like(q), kept;
  for_each_head<T>(q, type, [&](Attention<T>& kernel, std::int64_t head) {
    if (head == 0) kept = torch::empty({q.size(0) * q.size(1), kernel.kept()}, q.options());
    kernel.forward(rows_of<T>(q, k, v, head), out.data_ptr<T>() + head * q.size(2) * q.size(3),
                   static_cast<int>(q.size(3)), kept.data_ptr<T>() + head * kernel.kept());
  });
  return {out, kept};
}

template <class T>
tensor_list backward_of(const tensor_list& saved, const Tensor& by_out, AttentionParams::Type type) {
  const Tensor &q = saved[0], &k = saved[1], &v = saved[2], &kept = saved[3];
  tensor_list out{torch::zeros_like(q), torch::zeros_like(k), torch::zeros_like(v)};
  const auto width = static_cast<int>(q.size(3));
  for_each_head<T>(q, type, [&](Attention<T>& kernel, std::int64_t head) {
    const std::int64_t from = head * q.size(2) * q.size(3);
    const HeadRows<T> by{out[0].data_ptr<T>() + from, out[1].data_ptr<T>() + from, out[2].data_ptr<T>() + from, width};
    kernel.backward(rows_of<T>(q, k, v, head), kept.data_ptr<T>() + head * kernel.kept(), by_out.data_ptr<T>() + from,
                    width, by);
  });
  return out;
}

struct Attended : torch::autograd::Function<Attended> {
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& q, const Tensor& k, const Tensor& v,
                        std::int64_t type) {
    const auto kind = static_cast<AttentionParams::Type>(type);
    auto [out, kept] =
        q.scalar_type() == torch::kFloat64 ? forward_of<double>(q, k, v, kind) : forward_of<float>(q, k, v, kind);
    context->save_for_backward({q, k, v, kept});
    context->saved_data["type"] = type;
    return out;
  }
  static tensor_list backward(torch::autograd::AutogradContext* context, const tensor_list& by) {
    const auto saved = context->get_saved_variables();
    const auto kind = static_cast<AttentionParams::Type>(context->saved_data["type"].toInt());
    const Tensor by_out = by[0].contiguous();
    auto out = by_out.scalar_type() == torch::kFloat64 ? backward_of<double>(saved, by_out, kind)
                                                       : backward_of<float>(saved, by_out, kind);
    out.emplace_back();  // no gradient for the type
    return out;
  }
};

}  // namespace

Tensor attended(const Tensor& query, const Tensor& key, const Tensor& value, AttentionParams::Type type) {
  using Type = AttentionParams::Type;
  if (type != Type::softmax && type != Type::two_pass) throw InternalError("attended() supports softmax and two_pass");
  return Attended::apply(query.contiguous(), key.contiguous(), value.contiguous(), static_cast<std::int64_t>(type));
}

}  // namespace cambium::train
