#include "plugins/pretrain/archive/field_sample.hpp"

#include "core/io/hdf5/h5.hpp"

namespace cambium::pretrain {

std::vector<train::FieldInfo> field_infos(const Archive& archive, bool partners) {
  std::vector<std::int64_t> shape{std::ssize(archive.layout.channels)};
  shape.insert(shape.end(), archive.layout.shape.begin(), archive.layout.shape.end());
  std::vector<train::FieldInfo> out{{"field", "", shape, DType::f32}};
  if (partners) out.push_back({"partner", "", shape, DType::f32});
  out.push_back({"periodic", "", {std::ssize(archive.layout.shape)}, DType::i64});
  if (!archive.parameters.empty()) out.push_back({"parameters", "", {std::ssize(archive.parameters)}, DType::f64});
  out.push_back({"simulation", "", {}, DType::i64});
  out.push_back({"moment", "", {}, DType::i64});
  out.push_back({"time", "", {}, DType::f64});
  return out;
}

/// View of contiguous values with the channels first.
static TensorRef field_tensor(const float* values, const Layout& layout) {
  TensorRef out = io::tensor_of(values, {std::ssize(layout.channels)});
  for (const auto n : layout.shape) out.shape[out.rank++] = n;
  std::int64_t stride = 1;
  for (int k = out.rank - 1; k >= 0; --k) {
    out.stride[k] = stride;
    stride *= out.shape[k];
  }
  return out;
}

train::SamplePtr field_sample(std::int64_t id, const Moment& moment, std::shared_ptr<const Archive> archive) {
  struct Held {
    std::shared_ptr<const Archive> archive;
    Moment moment;
  };
  const auto held = std::make_shared<const Held>(Held{std::move(archive), moment});
  const auto& simulation = held->archive->simulations[moment.simulation];
  const auto& layout = held->archive->layout;
  auto out = std::make_shared<train::Sample>();
  out->id = id;
  out->fields.emplace("field", field_tensor(simulation.values.data() + moment.moment * layout.numbers(), layout));
  if (moment.partner)
    out->fields.emplace("partner", field_tensor(simulation.values.data() + *moment.partner * layout.numbers(), layout));
  out->fields.emplace("periodic", io::tensor_of(layout.periodic));
  if (!simulation.parameters.empty()) out->fields.emplace("parameters", io::tensor_of(simulation.parameters));
  out->fields.emplace("simulation", io::tensor_of(&held->moment.simulation, {}));
  out->fields.emplace("moment", io::tensor_of(&held->moment.moment, {}));
  out->fields.emplace("time", io::tensor_of(&simulation.time[moment.moment], {}));
  for (const auto& [name, tensor] : out->fields) out->bytes += tensor.elements() * size_of(tensor.dtype);
  out->storage = held;
  return out;
}

}  // namespace cambium::pretrain
