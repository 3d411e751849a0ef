#include "plugins/superres/networks/decode.hpp"

namespace cambium::superres {
namespace {

template <class T>
struct Call : torch::CustomClassHolder {
  std::shared_ptr<const Decoder<T>> decoder;
  std::shared_ptr<const DecoderQuery<T>> query;
  std::shared_ptr<DecoderTape<T>> tape;
  torch::Tensor plain;
};

template <class T>
std::vector<const T*> pointers(at::TensorList tensors) {
  std::vector<const T*> out;
  for (const auto& t : tensors) out.push_back(t.template data_ptr<T>());
  return out;
}

/// Inputs: latents, then weights and biases.
template <class T>
struct Operation : torch::autograd::Function<Operation<T>> {
  static torch::Tensor forward(torch::autograd::AutogradContext* ctx, at::TensorList inputs,
                               c10::intrusive_ptr<Call<T>> call) {
    torch::autograd::variable_list saved;
    for (const auto& t : inputs) saved.push_back(t.detach().contiguous());
    const auto weights = pointers<T>(at::TensorList(saved).slice(1));
    const auto& d = *call->decoder;
    auto out = torch::empty({d.basis().size(), call->query->points, d.shape().outputs}, saved[0].options());
    d.forward(*call->query, saved[0].template data_ptr<T>(), weights,
              call->plain.defined() ? call->plain.template data_ptr<T>() : nullptr, out.template data_ptr<T>(),
              call->tape.get());
    ctx->save_for_backward(saved);
    ctx->saved_data["call"] = c10::IValue::make_capsule(call);
    return out;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 torch::autograd::variable_list gradients) {
    const auto saved = ctx->get_saved_variables();
    const auto call = c10::static_intrusive_pointer_cast<Call<T>>(ctx->saved_data["call"].toCapsule());
    torch::autograd::variable_list out;
    std::vector<T*> to;
    for (const auto& t : saved) {
      out.push_back(torch::zeros_like(t));
      to.push_back(out.back().template data_ptr<T>());
    }
    const auto g = gradients[0].contiguous();
    call->decoder->backward(*call->query, saved[0].template data_ptr<T>(), pointers<T>(at::TensorList(saved).slice(1)),
                            *call->tape, g.template data_ptr<T>(), to[0], std::span<T* const>(to).subspan(1));
    out.emplace_back();  // of the call itself
    return out;
  }
};

}  // namespace

template <class T>
torch::Tensor Decode<T>::operator()(std::shared_ptr<const DecoderQuery<T>> query, const torch::Tensor& latents,
                                    const std::vector<torch::Tensor>& weights, const torch::Tensor& plain) {
  auto call = c10::make_intrusive<Call<T>>();
  call->decoder = decoder_;
  call->query = std::move(query);
  if (plain.defined()) call->plain = plain.contiguous();
  if (torch::GradMode::is_enabled()) {
    if (tape_.use_count() > 1) tape_ = std::make_shared<DecoderTape<T>>();
    call->tape = tape_;
  }
  std::vector<torch::Tensor> inputs{latents};
  inputs.insert(inputs.end(), weights.begin(), weights.end());
  return Operation<T>::apply(at::TensorList(inputs), call);
}

template class Decode<float>;
template class Decode<double>;

}  // namespace cambium::superres
