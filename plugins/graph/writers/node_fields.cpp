#include "plugins/graph/writers/node_fields.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/base/error.hpp"
#include "core/io/hdf5/labels.hpp"
#include "core/io/provenance.hpp"
#include "core/parallel/agree.hpp"
#include "plugins/graph/transport/node_physics.hpp"

namespace cambium::graph {

void NodeFieldsWriter::attach(const Physics& physics) {
  physics_ = dynamic_cast<const NodePhysics*>(&physics);
  if (!physics_)
    throw InputError("output 'node_fields' shows physics on nodes (graph_diffusion, mesh_transport); leave it out");
}

std::string NodeFieldsWriter::path() const {
  return (std::filesystem::path(context_.run_directory) / params_.file).string();
}

void NodeFieldsWriter::expect_after(double time) {
  if (params_.interval) next_ = (std::floor(time / *params_.interval + 1e-6) + 1.0) * *params_.interval;
}

/// `all`: the nodes and cells of all ranks.
void NodeFieldsWriter::create(const AllShown& all) {
  const auto& run = physics_->run();
  const auto& cells = *all.cells;
  file_.emplace(io::File::create(path()));
  io::File& file = *file_;
  io::write_provenance(file, io::provenance_of(context_));
  io::follow_cf(file);
  file.set_attribute("quantities", run.names());
  io::labelled(file.create_series("step", DType::i64, {}), "", "step");
  io::labelled(file.create_series("time", DType::f64, {}), "", "time");
  io::labelled(file.create_series("seconds", DType::f64, {}), "s", "computed until then, outputs not counted");
  for (const char* name : {"step", "seconds"}) file.attach_scales(name, {"time"});
  io::write_dimension(file, "node", std::ssize(cells.points));
  for (std::size_t d = 0; d < 3; ++d) {
    std::vector<double> place;
    for (const auto& point : cells.points) place.push_back(point[d]);
    const std::string name(1, "xyz"[d]);
    io::labelled(file.write(name, place), "", name + " of the node");
    file.attach_scales(name, {"node"});
  }
  if (all.names.size() > 0 && !all.names.plain()) {
    io::labelled(file.write("node_number", all.names.all()), "", "index of the node in the file of the graph");
    file.attach_scales("node_number", {"node"});
  }
  const bool edges = cells.corners == 2;
  const std::string cell = edges ? "edge" : "triangle";
  io::write_dimension(file, cell + "_number", cells.cells());
  io::write_dimension(file, "corner", cells.corners);
  io::labelled(file.write(cell, io::tensor_of(cells.connectivity.data(), {cells.cells(), cells.corners})), "",
               "nodes of each " + cell);
  file.attach_scales(cell, {cell + "_number", "corner"});
  if (edges) {
    io::labelled(file.write("weight", all.weight), "", "weight of each edge");
    file.attach_scales("weight", {"edge_number"});
  }
  const std::int64_t nodes[1] = {std::ssize(cells.points)};
  for (const auto& name : run.names()) {
    const auto type = params_.precision == Precision::float32 ? DType::f32 : DType::f64;
    const auto array =
        io::labelled(io::create_series(file, name, type, nodes, params_.compress), "", name + " on the nodes");
    file.attach_scales(name, {"time", "node"});
    io::set_coordinates(array, "step x y z");
  }
}

void NodeFieldsWriter::observe(const State&, std::int64_t step, double time) {
  if (params_.interval && time < next_ - 1e-9 * *params_.interval) return;
  expect_after(time);
  seen_ = time;
  const auto& run = physics_->run();
  std::vector<std::vector<double>> values;
  for (std::size_t k = 0; k < run.names().size(); ++k)
    values.push_back(run.column_on_root(static_cast<std::int64_t>(k)));
  AllShown all;
  if (!begun_) all = on_root(run.shown(), run.stepper().range());
  begun_ = true;
  double seconds = 0.0;
  for (const auto& section : context_.timing.sections())
    if (section.name != "output") seconds += section.seconds;
  io::on_root(context_.comm, [&] {
    if (!file_) create(all);
    file_->dataset("step").append(io::tensor_of(&step, {}));
    file_->dataset("time").append(io::tensor_of(&time, {}));
    file_->dataset("seconds").append(io::tensor_of(&seconds, {}));
    for (std::size_t k = 0; k < values.size(); ++k)
      file_->dataset(run.names()[k]).append(io::tensor_of(values[k].data(), {std::ssize(values[k])}));
    file_->flush();
  });
}

void NodeFieldsWriter::observe_end(const State& state, std::int64_t step, double time) {
  if (time <= seen_) return;
  next_ = time;
  observe(state, step, time);
}

void NodeFieldsWriter::finish(const State&) {
  if (params_.compress && file_) context_.log.info(io::stored_line(params_.file, *file_, physics_->run().names()));
}

void NodeFieldsWriter::resume(std::int64_t step) {
  double last = -1.0;
  begun_ = false;
  io::on_root(context_.comm, [&] {
    if (!std::filesystem::exists(path())) return;
    file_.emplace(io::File::append(path()));
    const auto steps = file_->read<std::vector<std::int64_t>>("step");
    const std::int64_t kept = std::upper_bound(steps.begin(), steps.end(), step) - steps.begin();
    for (const char* name : {"step", "time", "seconds"}) file_->dataset(name).resize(kept);
    for (const auto& name : physics_->run().names()) file_->dataset(name).resize(kept);
    if (kept > 0) last = file_->read<std::vector<double>>("time").back();
    file_->flush();
  });
  std::vector<double> all{last};
  context_.comm.broadcast(std::span<double>(all));
  seen_ = all[0];
  if (seen_ >= 0.0) expect_after(seen_);
}

}  // namespace cambium::graph
