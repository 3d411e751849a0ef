#include "plugins/superres/networks/flow_network.hpp"

#include "core/base/error.hpp"
#include "plugins/superres/networks/flow_planes.hpp"
#include "plugins/superres/samples/window.hpp"

namespace cambium::superres {

using train::TorchBatch;

void FlowNetwork::fit_statistics(train::Dataset& training, Context&) {
  scaling_.fit(training);
  if (scaling_.forecasts && !can_forecast())
    throw InputError(
        "the network decodes within its windows and does not forecast: give a data set of the type 'crops', or the "
        "network flow_unet or fourier_operator");
}

std::vector<Citation> FlowNetwork::citations() const {
  return {{"jiang2020", R"(@inproceedings{jiang2020,
  author = {Jiang, Chiyu Max and Esmaeilzadeh, Soheil and Azizzadenesheli, Kamyar and Kashinath, Karthik and Mustafa, Mustafa and Tchelepi, Hamdi A. and Marcus, Philip and Prabhat and Anandkumar, Anima},
  title = {{MeshfreeFlowNet}: A Physics-Constrained Deep Continuous Space-Time Super-Resolution Framework},
  booktitle = {SC20: International Conference for High Performance Computing, Networking, Storage and Analysis},
  year = {2020}, doi = {10.1109/SC41405.2020.00013}
})"}};
}

std::string FlowNetwork::state() const { return scaling_.text(); }

void FlowNetwork::restore(const std::string& state) { scaling_.restore(state); }

std::vector<train::FieldInfo> FlowNetwork::outputs() const {
  if (scaling_.forecasts)
    return {{"fields", "", {std::ssize(flow_fields), scaling_.grid[1], scaling_.grid[2]}, DType::f64}};
  return {{"fields", "", {-1, std::ssize(flow_fields)}, DType::f64}};
}

torch::Tensor FlowNetwork::coarse(const TorchBatch& batch) const {
  auto x = batch.real("coarse");
  scaling_.require_coarse({x.size(2), x.size(3), x.size(4)});
  const auto options = torch::TensorOptions().dtype(torch::kFloat64);
  const auto shape = std::vector<std::int64_t>{1, -1, 1, 1, 1};
  return ((x - torch::tensor(scaling_.mean, options).reshape(shape)) /
          torch::tensor(scaling_.deviation, options).reshape(shape))
      .to(real());
}

LatentCells FlowNetwork::cells(const TorchBatch& batch, std::int64_t sample) const {
  LatentCells out;
  out.wraps = scaling_.wraps;
  constexpr const char* names[3] = {"t", "x", "z"};
  for (int a = 0; a < 3; ++a) {
    const auto row = batch.stored(names[a])[sample].contiguous();
    if (a == 1 && row.numel() != scaling_.grid[1] + (scaling_.wraps ? 1 : 0))
      throw InputError(other_ends_of_x(scaling_.wraps));
    out.axis[a].assign(row.data_ptr<double>(), row.data_ptr<double>() + row.numel());
  }
  return out;
}

torch::Tensor FlowNetwork::per_field(const std::vector<double>& values) const {
  const auto options = torch::TensorOptions().dtype(torch::kFloat64);
  const auto tensor = torch::tensor(values, options);
  return scaling_.forecasts ? tensor.reshape({-1, 1, 1}) : tensor;
}

torch::Tensor FlowNetwork::truth(const TorchBatch& batch) const {
  torch::Tensor values;
  if (scaling_.forecasts) {
    const auto future = batch.stored("future").to(torch::kFloat64);  // (batch, fields, frames, x, z)
    std::vector<torch::Tensor> right;
    for (std::int64_t b = 0; b < batch.size(); ++b)
      right.push_back(future[b].select(1, later_.empty() ? 0 : later_[static_cast<std::size_t>(b)]));
    values = torch::stack(right);
  } else {
    values = batch.stored("values").to(torch::kFloat64).reshape({-1, std::ssize(flow_fields)});
  }
  return ((values - per_field(scaling_.mean)) / per_field(scaling_.deviation)).to(real());
}

train::TorchNetwork::Term FlowNetwork::data_term(const torch::Tensor& scaled, const TorchBatch& batch) const {
  const auto n = static_cast<double>(batch.size());
  return {size_of(scaled - truth(batch)).mean() * n, n};
}

train::TorchNetwork::Term FlowNetwork::square_term(const torch::Tensor& scaled, const TorchBatch& batch) const {
  return {(scaled - truth(batch)).square().sum(), static_cast<double>(scaled.numel())};
}

void FlowNetwork::keep_loss(const std::vector<Term>& loss) {
  evaluated_.clear();
  for (const auto& term : loss) evaluated_.push_back({term.sum.item<double>(), term.count});
}

std::vector<torch::Tensor> FlowNetwork::predict(const TorchBatch& batch) {
  return {values(batch).to(torch::kFloat64) * per_field(scaling_.deviation) + per_field(scaling_.mean)};
}

}  // namespace cambium::superres
