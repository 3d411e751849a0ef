#include "plugins/superres/writers/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/base/key_error.hpp"
#include "core/io/provenance.hpp"
#include "core/parallel/agree.hpp"
#include "plugins/superres/samples/centred_fields.hpp"
#include "plugins/superres/samples/snapshot.hpp"
#include "plugins/superres/samples/write_fields.hpp"

namespace cambium::superres {

std::string FieldsWriter::path() const {
  return (std::filesystem::path(context_.run_directory) / params_.file).string();
}

void FieldsWriter::create(const State& state, const CentredFields& fields) {
  file_.emplace(io::File::create(path()));
  io::write_provenance(*file_, io::provenance_of(context_));
  const bool periodic = global_values(state, "periodic").at(0) != 0.0;
  if (state.find("flow_numbers")) {  // a physics outside this plugin may have none
    const auto flow = global_values(state, "flow_numbers");
    file_->set_attribute("Rayleigh", flow.at(0));
    file_->set_attribute("Prandtl", flow.at(1));
    if (periodic) file_->set_attribute("plates", flow.at(2) != 0.0 ? "no_slip" : "free_slip");
  }
  file_->write("/scales/x", fields.x).set_attribute("periodic", periodic ? 1 : 0);
  if (!fields.y.empty()) file_->write("/scales/y", fields.y).set_attribute("periodic", 1);
  file_->write("/scales/z", fields.z);
  file_->create_series("/scales/sim_time", DType::f64, {});
  file_->create_series("/scales/iteration", DType::i64, {});
  file_->create_series("/scales/write_number", DType::i64, {});
  const auto shape = fields.shape();
  const auto axes = fields.axes();
  auto labels = axes;
  labels.insert(labels.begin(), "t");
  for (std::size_t f = 0; f < fields.names.size(); ++f) {
    const std::string& name = fields.names[f];
    const DType type = params_.single ? DType::f32 : DType::f64;
    const std::string path = std::string("/tasks/") + name;
    std::string said;
    auto set = params_.compress
                   ? io::create_series(*file_, path, type, shape, *params_.compress, fields.values[f], said)
                   : file_->create_series(path, type, shape);
    if (!said.empty()) context_.log.info(fmt::format("{}: {} {}", params_.file, name, said));
    set.set_attribute("DIMENSION_LABELS", labels);
    name_coordinates(*file_, name, axes);
  }
}

/// One field as a tensor for the series writer.
static TensorRef whole(const std::vector<double>& values, const std::vector<std::int64_t>& shape) {
  return shape.size() == 2 ? io::tensor_of(values.data(), {shape[0], shape[1]})
                           : io::tensor_of(values.data(), {shape[0], shape[1], shape[2]});
}

/// Means over blocks of `average` x `average` cells.
CentredFields FieldsWriter::fields_of(const State& state) const {
  auto fields = centred_fields(state, context_.comm);
  const int n = params_.average;
  if (n == 1) return fields;
  const auto size = static_cast<std::size_t>(n);
  for (const std::int64_t cells : fields.shape())
    if (cells % n)
      throw KeyError("superres.fields.average", "average",
                     fmt::format("'average: {}' does not divide {} cells: give a number that divides {}", n,
                                 fmt::join(fields.shape(), " x "), fields.y.empty() ? "both" : "all"));
  const auto faces = global_values(state, "z_faces");
  const auto centres = [&](const char* axis) {
    const auto face = global_values(state, axis);
    std::vector<double> out;
    for (std::size_t k = 0; k + size < face.size(); k += size) out.push_back(0.5 * (face[k] + face[k + size]));
    return out;
  };
  for (auto& values : fields.values)
    if (!values.empty()) values = block_means(values, faces, n, fields.y.size());
  fields.x = centres("x_faces");
  if (!fields.y.empty()) fields.y = centres("y_faces");
  fields.z = centres("z_faces");
  return fields;
}

void FieldsWriter::observe(const State& state, std::int64_t step, double time) {
  if (time < next_ - 1e-9 * params_.interval) return;
  next_ = (std::floor(time / params_.interval + 1e-6) + 1.0) * params_.interval;
  const auto fields = fields_of(state);
  seen_ = time;
  ++frames_;
  io::on_root(context_.comm, [&] {
    if (!file_) create(state, fields);
    for (std::size_t f = 0; f < fields.names.size(); ++f)
      file_->dataset(std::string("/tasks/") + fields.names[f]).append(whole(fields.values[f], fields.shape()));
    file_->dataset("/scales/sim_time").append(io::tensor_of(&time, {}));
    file_->dataset("/scales/iteration").append(io::tensor_of(&step, {}));
    file_->dataset("/scales/write_number").append(io::tensor_of(&frames_, {}));
    file_->flush();
  });
}

void FieldsWriter::observe_end(const State& state, std::int64_t step, double time) {
  if (time <= seen_) return;
  next_ = time;
  observe(state, step, time);
}

void FieldsWriter::finish(const State& state) {
  if (!params_.compress || !file_) return;
  std::vector<std::string> names;
  for (const auto& name : centred_names(is_spatial(state))) names.push_back("/tasks/" + name);
  context_.log.info(io::stored_line(params_.file, *file_, names));
}

void FieldsWriter::resume(std::int64_t step) {
  double last = -1.0;
  std::int64_t kept = 0;
  io::on_root(context_.comm, [&] {
    file_.emplace(io::File::append(path()));
    const auto steps = file_->read<std::vector<std::int64_t>>("/scales/iteration");
    kept = std::upper_bound(steps.begin(), steps.end(), step) - steps.begin();
    for (const auto& name : file_->group("/tasks").list()) file_->dataset("/tasks/" + name).resize(kept);
    for (const char* name : {"sim_time", "iteration", "write_number"})
      file_->dataset(std::string("/scales/") + name).resize(kept);
    if (kept > 0) last = file_->read<std::vector<double>>("/scales/sim_time").back();
    file_->flush();
  });
  std::vector<double> both{last, static_cast<double>(kept)};
  context_.comm.broadcast(std::span<double>(both));
  frames_ = static_cast<std::int64_t>(both[1]);
  seen_ = both[0];
  next_ = frames_ == 0 ? 0.0 : (std::floor(both[0] / params_.interval + 1e-6) + 1.0) * params_.interval;
}

}  // namespace cambium::superres
