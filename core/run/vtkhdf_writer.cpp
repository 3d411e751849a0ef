#include "core/run/vtkhdf_writer.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "core/base/error.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/physics.hpp"
#include "core/run/trajectory_writers.hpp"

namespace cambium {

namespace fs = std::filesystem;

std::string VtkhdfWriter::path() const { return (fs::path(context_.run_directory) / params_.file).string(); }

void VtkhdfWriter::attach(const Physics& physics) {
  physics_ = &physics;
  if (!params_.xml) context_.log.info(io::vtkhdf_readers(params_.file));
}

std::vector<std::string> VtkhdfWriter::files() const {
  if (!params_.xml) return {params_.file};
  const auto stem = fs::path(params_.file).stem().string();
  return {params_.file, stem + ".pvd", stem + ".<step>.*"};
}

template <class Fields>
io::VtkhdfFile& VtkhdfWriter::file_for(const Fields& fields) {
  if (!file_) {
    const bool single = params_.precision == Precision::float32;
    file_ = std::make_unique<io::VtkhdfFile>(path(), fields, single, io::provenance_of(context_), params_.compress);
    if (params_.xml) file_->also_xml();
  }
  return *file_;
}

void VtkhdfWriter::expect_after(double time) {
  if (params_.interval) next_ = (std::floor(time / *params_.interval + 1e-6) + 1.0) * *params_.interval;
}

void VtkhdfWriter::observe(const State& state, std::int64_t step, double time) {
  if (params_.interval && time < next_ - 1e-9 * *params_.interval) return;
  expect_after(time);
  seen_ = time;
  if (const auto fields = physics_->grid_fields(state, context_.comm)) {
    io::on_root(context_.comm, [&] { file_for(*fields).append(*fields, step, time); });
    return;
  }
  if (const auto nodes = physics_->node_fields(state, context_.comm)) {
    io::on_root(context_.comm, [&] { file_for(*nodes).append(*nodes, step, time); });
    return;
  }
  if (state.particles.nglobal == 0)
    throw InputError(
        "output 'vtkhdf' shows fields on a grid, a mesh or a graph, or particles, and this physics has none of them; "
        "leave it out");
  const io::Frame frame = io::gather_frame(state, context_.comm, {params_.velocities, params_.forces});
  io::on_root(context_.comm, [&] { file_for(frame).append(frame); });
}

void VtkhdfWriter::observe_end(const State& state, std::int64_t step, double time) {
  if (time <= seen_) return;
  next_ = time;
  observe(state, step, time);
}

void VtkhdfWriter::finish(const State&) {
  if (params_.compress && file_) context_.log.info(file_->stored_line(params_.file));
}

void VtkhdfWriter::resume(std::int64_t step) {
  double last = -1.0;
  io::on_root(context_.comm, [&] {
    if (!readable_or_put_aside(path(), context_.log)) return;
    file_ = std::make_unique<io::VtkhdfFile>(path(), step);
    if (params_.xml) file_->also_xml();
    last = file_->last_time(-1.0);
  });
  std::vector<double> all{last};
  context_.comm.broadcast(std::span<double>(all));
  seen_ = all[0];
  if (seen_ >= 0.0) expect_after(seen_);
}

}  // namespace cambium
