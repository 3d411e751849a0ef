#include "plugins/deepmd/training/parameters.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "plugins/deepmd/model/factors.hpp"

namespace cambium::deepmd {

namespace {

/// Visits w or its factors, b and idt of every layer: visit(array, shape, name, permuted); the array is a
/// std::vector<double>, const or not.
template <class Model, class F>
void visit_tensors(Model& model, const F& visit) {
  const auto networks = networks_of(model);
  const std::size_t embeddings = networks.size() - model.fitting.size();
  for (std::size_t n = 0; n < networks.size(); ++n)
    for (std::size_t l = 0; l < networks[n]->layers.size(); ++l) {
      auto& layer = networks[n]->layers[l];
      const bool fitting = n >= embeddings;
      const std::string name =
          fmt::format("{}.{}.{}.", fitting ? "fitting" : "embedding", fitting ? n - embeddings : n, l);
      using Shape = std::vector<std::int64_t>;
      if (layer.rank > 0) {
        visit(layer.enter, Shape{layer.in, layer.rank}, name + "w.enter", fitting && l == 0);
        visit(layer.leave, Shape{layer.rank, layer.out}, name + "w.leave", false);
      } else {
        visit(layer.w, Shape{layer.in, layer.out}, name + "w", fitting && l == 0);
      }
      if (!layer.b.empty()) visit(layer.b, std::vector<std::int64_t>{layer.out}, name + "b", false);
      if (!layer.idt.empty()) visit(layer.idt, std::vector<std::int64_t>{layer.out}, name + "idt", false);
    }
}

/// Row of the file's order for each of our rows of a fitting network's first matrix.
std::vector<std::size_t> file_rows(const DeepPotentialModel& m) {
  std::vector<std::size_t> out;
  for (const DeepPotentialModel& part : m.descriptors()) {
    const std::size_t first = out.size(), types = static_cast<std::size_t>(part.type_columns());
    const std::size_t n = static_cast<std::size_t>(part.descriptor_size()) - types;
    const auto channels = static_cast<std::size_t>(part.width()), axis = static_cast<std::size_t>(part.axis_neuron);
    const bool permuted = axis > 0;
    for (std::size_t k = 0; k < n; ++k) out.push_back(first + (permuted ? k % channels * axis + k / channels : k));
    for (std::size_t k = 0; k < types; ++k) out.push_back(out.size());
  }
  for (int k = 0; k < m.fparam.size + m.aparam.size; ++k) out.push_back(out.size());
  return out;
}

}  // namespace

std::vector<train::ParameterInfo> parameters_of(const DeepPotentialModel& model) {
  std::vector<train::ParameterInfo> out;
  // Embeddings are interpolated: no matrix products with rows remain for them. The last matrix is a single column.
  visit_tensors(model, [&](const auto&, const auto& shape, const std::string& name, bool) {
    const bool whole = shape.size() == 2 && shape[1] > 1 && name.ends_with(".w");
    out.push_back({name, shape, shape.size() == 2, whole && name.starts_with("fitting")});
  });
  return out;
}

std::vector<int> first_parameters(const DeepPotentialModel& model) {
  std::vector<int> out;
  int next = 0;
  for (const Network* net : networks_of(model)) {
    out.push_back(next);
    for (const Layer& layer : net->layers)
      next += (layer.rank > 0 ? 2 : 1) + (layer.b.empty() ? 0 : 1) + (layer.idt.empty() ? 0 : 1);
  }
  out.push_back(next);
  return out;
}

template <class T>
void copy_weights(const DeepPotentialModel& model, std::span<const TensorRef> weights) {
  const std::vector<std::size_t> file_row = file_rows(model);
  std::size_t next = 0;
  visit_tensors(model, [&](const auto& values, const auto& shape, const std::string&, bool permuted) {
    T* out = static_cast<T*>(weights[next++].data);
    const std::size_t width = static_cast<std::size_t>(shape.back()), rows = values.size() / width;
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < width; ++c)
        out[r * width + c] = static_cast<T>(values[(permuted ? file_row[r] : r) * width + c]);
  });
}

template <class T>
void store_weights(std::span<const TensorRef> weights, DeepPotentialModel& model) {
  const std::vector<std::size_t> file_row = file_rows(model);
  std::size_t next = 0;
  visit_tensors(model, [&](auto& values, const auto& shape, const std::string&, bool permuted) {
    const T* in = static_cast<const T*>(weights[next++].data);
    const std::size_t width = static_cast<std::size_t>(shape.back()), rows = values.size() / width;
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < width; ++c)
        values[(permuted ? file_row[r] : r) * width + c] = static_cast<double>(in[r * width + c]);
  });
  for (Network* net : networks_of(model))
    for (Layer& layer : net->layers) multiply_factors(layer);
}

template void copy_weights<double>(const DeepPotentialModel&, std::span<const TensorRef>);
template void copy_weights<float>(const DeepPotentialModel&, std::span<const TensorRef>);
template void store_weights<double>(std::span<const TensorRef>, DeepPotentialModel&);
template void store_weights<float>(std::span<const TensorRef>, DeepPotentialModel&);

}  // namespace cambium::deepmd
