#include "plugins/superres/networks/flow_network.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "core/base/error.hpp"
#include "core/train/data/numbers.hpp"
#include "plugins/superres/samples/window.hpp"

namespace cambium::superres {

using train::TorchBatch;

void FlowNetwork::fit_statistics(train::Dataset& training, Context&) {
  std::int64_t nodes_x = 0;
  for (const auto& field : training.fields()) {
    if (field.name == "coarse" && field.shape.size() == 4) grid_ = {field.shape[1], field.shape[2], field.shape[3]};
    if (field.name == "values") points_ = std::max<std::int64_t>(1, field.shape[0]);
    if (field.name == "x") nodes_x = field.shape[0];
  }
  if (grid_.empty())
    throw InputError("networks of convection read windows of coarse samples: give a data set of the type 'crops'");
  wraps_ = nodes_x > grid_[1];
  const std::int64_t looked_at = std::min<std::int64_t>(256, training.size());
  std::vector<std::int64_t> ids(looked_at);
  for (std::int64_t k = 0; k < looked_at; ++k) ids[k] = training.size() * k / looked_at;
  const std::size_t fields = flow_fields.size();
  std::vector<double> sum(fields, 0.0), squares(fields, 0.0);
  double count = 0.0;
  for (const auto& sample : training.read(ids)) {
    const auto& values = sample->fields.at("values");
    std::vector<double> numbers(values.elements());
    train::copy_numbers<double>(values, std::span(numbers));
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      sum[k % fields] += numbers[k];
      squares[k % fields] += numbers[k] * numbers[k];
    }
    count += static_cast<double>(numbers.size() / fields);
  }
  for (std::size_t f = 0; f < fields; ++f) {
    mean_.push_back(sum[f] / count);
    deviation_.push_back(std::max(1e-12, std::sqrt(squares[f] / count - mean_[f] * mean_[f])));
  }
}

std::vector<Citation> FlowNetwork::citations() const {
  return {{"jiang2020", R"(@inproceedings{jiang2020,
  author = {Jiang, Chiyu Max and Esmaeilzadeh, Soheil and Azizzadenesheli, Kamyar and Kashinath, Karthik and Mustafa, Mustafa and Tchelepi, Hamdi A. and Marcus, Philip and Prabhat and Anandkumar, Anima},
  title = {{MeshfreeFlowNet}: A Physics-Constrained Deep Continuous Space-Time Super-Resolution Framework},
  booktitle = {SC20: International Conference for High Performance Computing, Networking, Storage and Analysis},
  year = {2020}, doi = {10.1109/SC41405.2020.00013}
})"}};
}

std::string FlowNetwork::state() const {
  return nlohmann::json{
      {"grid", grid_}, {"wraps", wraps_}, {"mean", mean_}, {"deviation", deviation_}, {"points", points_}}
      .dump();
}

void FlowNetwork::restore(const std::string& state) {
  const auto in = nlohmann::json::parse(state);
  in.at("grid").get_to(grid_);
  in.at("wraps").get_to(wraps_);
  in.at("mean").get_to(mean_);
  in.at("deviation").get_to(deviation_);
  points_ = in.value("points", std::int64_t{1});
}

std::vector<train::FieldInfo> FlowNetwork::outputs() const {
  return {{"fields", "", {-1, std::ssize(flow_fields)}, DType::f64}};
}

torch::Tensor FlowNetwork::coarse(const TorchBatch& batch) const {
  auto x = batch.real("coarse");
  if (x.size(2) != grid_[0] || x.size(3) != grid_[1] || x.size(4) != grid_[2])
    throw InputError(
        fmt::format("the model reads crops of {} x {} x {} coarse samples (t, x, z), these have {} x {} x {}", grid_[0],
                    grid_[1], grid_[2], x.size(2), x.size(3), x.size(4)));
  const auto options = torch::TensorOptions().dtype(torch::kFloat64);
  const auto shape = std::vector<std::int64_t>{1, -1, 1, 1, 1};
  return ((x - torch::tensor(mean_, options).reshape(shape)) / torch::tensor(deviation_, options).reshape(shape))
      .to(real());
}

LatentCells FlowNetwork::cells(const TorchBatch& batch, std::int64_t sample) const {
  LatentCells out;
  out.wraps = wraps_;
  constexpr const char* names[3] = {"t", "x", "z"};
  for (int a = 0; a < 3; ++a) {
    const auto row = batch.stored(names[a])[sample].contiguous();
    if (a == 1 && row.numel() != grid_[1] + (wraps_ ? 1 : 0))
      throw InputError(wraps_ ? "the model was trained on windows that are as wide as a periodic x, and x of these "
                                "ends: train it on windows that are narrower than the period"
                              : "the model was trained on windows that end along x, and these are as wide as a "
                                "periodic x: train it on such, or give data with more points along x");
    out.axis[a].assign(row.data_ptr<double>(), row.data_ptr<double>() + row.numel());
  }
  return out;
}

torch::Tensor FlowNetwork::truth(const TorchBatch& batch) const {
  const auto options = torch::TensorOptions().dtype(torch::kFloat64);
  const auto values = batch.stored("values").to(torch::kFloat64).reshape({-1, std::ssize(flow_fields)});
  return ((values - torch::tensor(mean_, options)) / torch::tensor(deviation_, options)).to(real());
}

train::TorchNetwork::Term FlowNetwork::data_term(const torch::Tensor& scaled, const TorchBatch& batch) const {
  const auto n = static_cast<double>(batch.size());
  return {size_of(scaled - truth(batch)).mean() * n, n};
}

train::TorchNetwork::Term FlowNetwork::square_term(const torch::Tensor& scaled, const TorchBatch& batch) const {
  return {(scaled - truth(batch)).square().sum(), static_cast<double>(scaled.numel())};
}

void FlowNetwork::infer(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                        std::span<const TensorRef> outputs) {
  with_weights(weights, [&] {
    const auto options = torch::TensorOptions().dtype(torch::kFloat64);
    const auto y = values(TorchBatch(samples, real())).to(torch::kFloat64) * torch::tensor(deviation_, options) +
                   torch::tensor(mean_, options);
    train::tensor_on(outputs[0]).copy_(y.reshape({std::ssize(samples), -1, std::ssize(flow_fields)}));
  });
}

}  // namespace cambium::superres
