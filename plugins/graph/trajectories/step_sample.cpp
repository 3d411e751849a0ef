#include "plugins/graph/trajectories/step_sample.hpp"

#include "core/io/hdf5/h5.hpp"

namespace cambium::graph {

std::vector<train::FieldInfo> step_fields(std::int64_t fields) {
  return {{"place", "", {-1, 3}, DType::f64},      {"edge", "", {-1, 2}, DType::i32},
          {"weight", "", {-1}, DType::f64},        {"boundary", "", {-1}, DType::i32},
          {"value", "", {-1, fields}, DType::f64}, {"next", "", {-1, fields}, DType::f64},
          {"interval", "", {}, DType::f64}};
}

train::SamplePtr step_sample(std::int64_t id, std::shared_ptr<const Trajectory> on, std::vector<double> value,
                             std::vector<double> next) {
  struct Held {
    std::shared_ptr<const Trajectory> on;
    std::vector<double> value, next;
  };
  const auto held = std::make_shared<const Held>(Held{std::move(on), std::move(value), std::move(next)});
  const Trajectory& t = *held->on;
  const auto nodes = t.nodes(), fields = std::ssize(held->value) / nodes;
  auto out = std::make_shared<train::Sample>();
  out->id = id;
  out->fields.emplace("place", io::tensor_of(t.place.data(), {nodes, 3}));
  out->fields.emplace("edge", io::tensor_of(t.edge.data(), {std::ssize(t.edge) / 2, 2}));
  out->fields.emplace("weight", io::tensor_of(t.weight));
  out->fields.emplace("boundary", io::tensor_of(t.boundary));
  out->fields.emplace("value", io::tensor_of(held->value.data(), {nodes, fields}));
  if (!held->next.empty()) out->fields.emplace("next", io::tensor_of(held->next.data(), {nodes, fields}));
  out->fields.emplace("interval", io::tensor_of(&t.interval, {}));
  for (const auto& [name, tensor] : out->fields) out->bytes += tensor.elements() * size_of(tensor.dtype);
  out->storage = held;
  return out;
}

}  // namespace cambium::graph
