#include "core/driver/writers/vtkhdf_writer.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "core/base/error.hpp"
#include "core/driver/writers/trajectory_writers.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/physics.hpp"

namespace cambium {

namespace fs = std::filesystem;

std::string VtkhdfWriter::path() const { return (fs::path(context_.run_directory) / params_.file).string(); }

void VtkhdfWriter::expect_after(double time) {
  if (params_.interval) next_ = (std::floor(time / *params_.interval + 1e-6) + 1.0) * *params_.interval;
}

void VtkhdfWriter::observe(const State& state, std::int64_t step, double time) {
  if (params_.interval && time < next_ - 1e-9 * *params_.interval) return;
  expect_after(time);
  const bool single = params_.precision == Precision::float32;
  if (const auto fields = physics_->grid_fields(state, context_.comm)) {
    io::on_root(context_.comm, [&] {
      if (!file_) file_ = std::make_unique<io::VtkhdfFile>(path(), *fields, single, io::provenance_of(context_));
      file_->append(*fields, step, time);
    });
    return;
  }
  if (const auto nodes = physics_->node_fields(state, context_.comm)) {
    io::on_root(context_.comm, [&] {
      if (!file_) file_ = std::make_unique<io::VtkhdfFile>(path(), *nodes, single, io::provenance_of(context_));
      file_->append(*nodes, step, time);
    });
    return;
  }
  if (state.particles.nglobal == 0)
    throw InputError(
        "output 'vtkhdf' shows fields on a grid, a mesh or a graph, or particles, and this physics has none of them; "
        "leave it out");
  const io::Frame frame = io::gather_frame(state, context_.comm, {params_.velocities, params_.forces});
  io::on_root(context_.comm, [&] {
    if (!file_) file_ = std::make_unique<io::VtkhdfFile>(path(), frame, single, io::provenance_of(context_));
    file_->append(frame);
  });
}

void VtkhdfWriter::resume(std::int64_t step) {
  double last = -1.0;
  io::on_root(context_.comm, [&] {
    if (!readable_or_put_aside(path(), context_.log)) return;
    file_ = std::make_unique<io::VtkhdfFile>(path(), step);
    last = file_->last_time(-1.0);
  });
  std::vector<double> all{last};
  context_.comm.broadcast(std::span<double>(all));
  if (all[0] >= 0.0) expect_after(all[0]);
}

}  // namespace cambium
