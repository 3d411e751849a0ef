#include "plugins/deepmd/training/parameters.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace cambium::deepmd {

namespace {

/// Visits w, b and idt of every layer: visit(array, shape, name, permuted); the array is a std::vector<double>, const
/// or not.
template <class Model, class F>
void visit_tensors(Model& model, const F& visit) {
  for (int kind = 0; kind < 2; ++kind) {
    auto& nets = kind == 0 ? model.embedding : model.fitting;
    for (std::size_t n = 0; n < nets.size(); ++n)
      for (std::size_t l = 0; l < nets[n].layers.size(); ++l) {
        auto& layer = nets[n].layers[l];
        const std::string name = fmt::format("{}.{}.{}.", kind == 0 ? "embedding" : "fitting", n, l);
        visit(layer.w, std::vector<std::int64_t>{layer.in, layer.out}, name + "w", kind == 1 && l == 0);
        visit(layer.b, std::vector<std::int64_t>{layer.out}, name + "b", false);
        if (!layer.idt.empty()) visit(layer.idt, std::vector<std::int64_t>{layer.out}, name + "idt", false);
      }
  }
}

/// Row of the file's order for our row of a fitting network's first matrix.
std::size_t file_row(const DeepPotentialModel& m, std::size_t ours) {
  if (m.components() == 1) return ours;
  const auto channels = static_cast<std::size_t>(m.width());
  return (ours % channels) * static_cast<std::size_t>(m.axis_neuron) + ours / channels;
}

}  // namespace

std::vector<train::ParameterInfo> parameters_of(const DeepPotentialModel& model) {
  std::vector<train::ParameterInfo> out;
  // Embeddings are interpolated: of their matrices no products with rows are left. The last matrix is a single column.
  visit_tensors(model, [&](const auto&, const auto& shape, const std::string& name, bool) {
    out.push_back({name, shape, shape.size() == 2, shape.size() == 2 && shape[1] > 1 && name.starts_with("fitting")});
  });
  return out;
}

std::vector<int> first_parameters(const DeepPotentialModel& model) {
  std::vector<int> out;
  int next = 0;
  for (const auto* nets : {&model.embedding, &model.fitting})
    for (const Network& net : *nets) {
      out.push_back(next);
      for (const Layer& layer : net.layers) next += layer.idt.empty() ? 2 : 3;
    }
  out.push_back(next);
  return out;
}

template <class T>
void copy_weights(const DeepPotentialModel& model, std::span<const TensorRef> weights) {
  std::size_t next = 0;
  visit_tensors(model, [&](const auto& values, const auto& shape, const std::string&, bool permuted) {
    T* out = static_cast<T*>(weights[next++].data);
    const std::size_t width = static_cast<std::size_t>(shape.back()), rows = values.size() / width;
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < width; ++c)
        out[r * width + c] = static_cast<T>(values[(permuted ? file_row(model, r) : r) * width + c]);
  });
}

template <class T>
void store_weights(std::span<const TensorRef> weights, DeepPotentialModel& model) {
  std::size_t next = 0;
  visit_tensors(model, [&](auto& values, const auto& shape, const std::string&, bool permuted) {
    const T* in = static_cast<const T*>(weights[next++].data);
    const std::size_t width = static_cast<std::size_t>(shape.back()), rows = values.size() / width;
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < width; ++c)
        values[(permuted ? file_row(model, r) : r) * width + c] = static_cast<double>(in[r * width + c]);
  });
}

template void copy_weights<double>(const DeepPotentialModel&, std::span<const TensorRef>);
template void copy_weights<float>(const DeepPotentialModel&, std::span<const TensorRef>);
template void store_weights<double>(std::span<const TensorRef>, DeepPotentialModel&);
template void store_weights<float>(std::span<const TensorRef>, DeepPotentialModel&);

}  // namespace cambium::deepmd
