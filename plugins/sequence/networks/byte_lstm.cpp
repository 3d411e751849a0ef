#include "plugins/sequence/networks/byte_lstm.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/key_error.hpp"
#include "core/train/networks/torch/initial_values.hpp"
#include "plugins/sequence/networks/byte_fields.hpp"

namespace cambium::sequence {

void ByteLstm::Params::describe(deck::Describe<Params>& d) {
  d("layers", &Params::layers, "number of stacked LSTM layers").at_least(1).def(1);
  d("width", &Params::width, "cells of each layer").at_least(1).def(128);
  d("input", &Params::input, "field of bytes that is read and predicted").def("text");
  d("answers", &Params::answers, "field with 1 for each predicted byte that is an answer and 0 for the others")
      .def("answer");
  d("loss_on", &Params::learn, "bytes in the cross-entropy loss: every_byte, or answers only")
      .formerly("learn")
      .options({{"every_byte", Learn::every_byte}, {"answers", Learn::answers}})
      .def(Learn::every_byte);
  d("precision", &Params::precision, "floating-point precision of weights and arithmetic")
      .options({{"float32", Precision::float32}, {"float64", Precision::float64}})
      .def(Precision::float32);
}

void ByteLstm::fit_statistics(train::Dataset& training, Context&) {
  std::int64_t marks = 0;
  for (const auto& field : training.fields()) {
    if (field.name == params_.input && field.shape.size() == 1) length_ = field.shape[0];
    if (field.name == params_.answers && field.shape.size() == 1) marks = field.shape[0];
  }
  if (length_ < 2)
    throw KeyError("byte_lstm.input", "input",
                   fmt::format("byte_lstm needs a field '{}' with texts of two bytes or more; name theirs with input",
                               params_.input));
  has_answers_ = marks == length_ - 1;
  if (params_.learn == Learn::answers && !has_answers_)
    throw KeyError(
        "byte_lstm.loss_on", "loss_on",
        fmt::format("loss_on: answers needs a field '{}' that marks them, which the data set lacks; take data "
                    "that have one (type "
                    "recall), name theirs with answers, or remove loss_on",
                    params_.answers));
}

std::vector<train::TermInfo> ByteLstm::metrics() const {
  auto out = terms();
  if (has_answers_) out.push_back({"answers_right", "", train::TermInfo::Report::mean});
  return out;
}

std::shared_ptr<torch::nn::Module> ByteLstm::build() {
  auto module = std::make_shared<torch::nn::Module>();
  bytes_ = module->register_module("embedding", torch::nn::Embedding(256, params_.width));
  cells_ = module->register_module(
      "cells", torch::nn::LSTM(
                   torch::nn::LSTMOptions(params_.width, params_.width).num_layers(params_.layers).batch_first(true)));
  head_ = module->register_module("head", torch::nn::Linear(params_.width, 256));
  return module;
}

void ByteLstm::initial(const train::ParameterInfo& info, std::int64_t index, const TensorRef& weights,
                       std::uint64_t seed) const {
  if (info.name.starts_with("cells.bias")) return train::fill_constant(weights, 0.0);
  if (!info.name.starts_with("cells.")) return TorchNetwork::initial(info, index, weights, seed);
  train::fill_normal(weights, 1.0 / std::sqrt(static_cast<double>(params_.width)), seed, index);
}

ByteLstm::Said ByteLstm::said(const train::TorchBatch& batch, bool marked) {
  auto read_bytes = bytes_in(batch.samples(), params_.input, length_);
  const auto text = torch::from_blob(read_bytes.data(), {batch.size(), length_}, torch::kUInt8).to(torch::kInt64);
  const auto next = text.narrow(1, 1, length_ - 1);
  const auto read = std::get<0>(cells_->forward(bytes_->forward(text.narrow(1, 0, length_ - 1))));
  const auto chances = torch::log_softmax(head_->forward(read), 2);
  Said out{-chances.gather(2, next.unsqueeze(2)).squeeze(2), {}, {}};
  const torch::NoGradGuard guard;
  out.right = (chances.argmax(2) == next).to(torch::kFloat64);
  if (!marked) return out;
  auto marks = marks_in(batch.samples(), params_.answers, length_ - 1);
  out.answers = torch::from_blob(marks.data(), {batch.size(), length_ - 1}, torch::kFloat64).to(real(), false, true);
  return out;
}

std::vector<train::TorchNetwork::Term> ByteLstm::loss(const train::TorchBatch& batch) {
  const auto n = static_cast<double>(batch.size());
  const auto out = said(batch, params_.learn == Learn::answers);
  if (params_.learn == Learn::every_byte) return {{out.losses.mean(1).sum(), n}};
  return {{((out.losses * out.answers).sum(1) / out.answers.sum(1)).sum(), n}};
}

std::vector<train::TorchNetwork::Term> ByteLstm::measure(const train::TorchBatch& batch) {
  const auto out = said(batch, has_answers_);
  const bool all = params_.learn == Learn::every_byte;
  const auto counted = all ? torch::ones_like(out.losses) : out.answers;
  std::vector<Term> terms{
      {(out.losses * counted).sum().to(torch::kFloat64), counted.sum().to(torch::kFloat64).item<double>()}};
  if (has_answers_)
    terms.push_back(
        {(out.right * out.answers).sum().to(torch::kFloat64), out.answers.sum().to(torch::kFloat64).item<double>()});
  return terms;
}

std::vector<Citation> ByteLstm::citations() const {
  return {{"hochreiter1997", R"(@article{hochreiter1997,
  author = {Hochreiter, Sepp and Schmidhuber, J{\"u}rgen},
  title = {Long Short-Term Memory},
  journal = {Neural Computation}, volume = {9}, number = {8}, pages = {1735--1780}, year = {1997}, doi = {10.1162/neco.1997.9.8.1735}
})"}};
}

std::string ByteLstm::state() const {
  return nlohmann::json{{"length", length_}, {"has_answers", has_answers_}}.dump();
}

void ByteLstm::restore(const std::string& state) {
  const auto in = nlohmann::json::parse(state);
  in.at("length").get_to(length_);
  in.at("has_answers").get_to(has_answers_);
}

}  // namespace cambium::sequence
