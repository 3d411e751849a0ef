#include "plugins/superres/datasets/corrections.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/key_error.hpp"
#include "core/io/hdf5/h5.hpp"
#include "plugins/superres/datasets/snapshots.hpp"
#include "plugins/superres/equations/stated_flow.hpp"
#include "plugins/superres/equations/well_layout.hpp"
#include "plugins/superres/samples/trained_flow.hpp"
#include "plugins/superres/samples/window.hpp"

namespace cambium::superres {
namespace {

struct PairMemory {
  train::SamplePtr frames;
  double interval;
};

}  // namespace

void Corrections::Params::describe(deck::Describe<Params>& d) {
  d("data", &Params::data,
    "HDF5 files of p, b, u, w by (t, x, z), one for each fine run, averaged over the coarse cells (output 'fields' "
    "with 'average')")
      .example("[\"{run}/simulate/fields.h5\"]");
  d("rayleigh", &Params::rayleigh, "Rayleigh number of the data").positive();
  d("prandtl", &Params::prandtl, "Prandtl number of the data; default: that of the file, or 1 if it states none")
      .positive();
  d("plates", &Params::plates, "velocity on the plates of the data")
      .options({{"no_slip", Wall::no_slip}, {"free_slip", Wall::free_slip}})
      .def(Wall::no_slip);
  d("frames", &Params::frames, "frames of each file to use, from the end").at_least(2).def(200);
  d("periodic", &Params::periodic,
    "true if x is periodic; default: as in the file or, if it does not state it, detected from the values at both "
    "ends");
  d.check([](const Params& p) { return p.data.empty() ? "'data' names no file" : ""; });
}

Convected Corrections::flow_of(const std::string& path, bool periodic) const {
  const auto stated = StatedFlow::of(path);
  stated.require_plane("data", "give runs in two dimensions");
  stated.require_rayleigh(params_.rayleigh);
  if (periodic) stated.require_plates(name_of(params_.plates));
  return {params_.rayleigh, stated.prandtl_of(params_.prandtl), params_.plates};
}

/// For each frame except the first, appends C, and then C plus the fine run's increment minus the solver's.
void Corrections::add_pairs(const FieldData& flow, const Convected& numbers, FieldData& pairs) const {
  const Grid grid = grid_of(flow, flow.axis);
  const double left = grid.periodic ? flow.axis[1].front() - 0.5 * grid.dx() : 0.0;
  const Fluid fluid = fluid_of(numbers, grid.periodic);
  for (std::size_t t = 0; t + 1 < flow.axis[0].size(); ++t) {
    const FieldData from = frame_of(flow, t), to = frame_of(flow, t + 1);
    FrameSolver solver(grid, fluid, left, flow.axis[0][t], "corrections");
    solver.add(from);
    const FieldData began = solver.now();
    solver.advance(flow.axis[0][t + 1]);
    const FieldData found = solver.now();
    for (int twice = 0; twice < 2; ++twice) pairs.axis[0].push_back(flow.axis[0][t + 1]);
    for (std::size_t f = 0; f < pairs.values.size(); ++f) {
      auto& values = pairs.values[f];
      values.insert(values.end(), found.values[f].begin(), found.values[f].end());
      for (std::size_t k = 0; k < found.values[f].size(); ++k)
        values.push_back(to.values[f][k] - from.values[f][k] + began.values[f][k]);
    }
  }
}

void Corrections::open(Context& context) {
  pairs_.clear();
  size_ = 0;
  for (const auto& path : params_.data) {
    if (require_layer(path))
      throw KeyError("corrections.well", "data",
                     fmt::format("'{}' is in the layout of The Well, whose frames are those of its own grid: give "
                                 "fields.h5 of a run, written with 'average'",
                                 path));
    const auto flow = read_fields(path, flow_fields, static_cast<std::size_t>(params_.frames), params_.periodic);
    require_no_bodies(flow);
    require_equal_steps(flow);
    if (!pairs_.empty()) require_one_grid(flow, pairs_.front());
    interval_ = flow.axis[0][1] - flow.axis[0][0];
    FieldData pairs = flow;
    pairs.axis[0].clear();
    for (auto& values : pairs.values) values.clear();
    const bool periodic = flow.period > 0.0;
    const auto numbers = flow_of(path, periodic);
    add_pairs(flow, numbers, pairs);
    const auto own = conditions_of(stated_by(numbers, periodic));
    conditions_ = pairs_.empty() ? own : train::of_both(conditions_, own);
    size_ += std::ssize(pairs.axis[0]) / 2;
    pairs_.push_back(std::move(pairs));
  }
  const auto& first = pairs_.front();
  context.log.info(fmt::format("{} file(s) of {} x {} cells; {} intervals of {:g} free-fall times by the solver",
                               pairs_.size(), first.nx(), first.nz(), size_, interval_));
}

std::vector<train::FieldInfo> Corrections::fields() const {
  const auto& flow = pairs_.front();
  const std::int64_t nx = std::ssize(flow.axis[1]), nz = std::ssize(flow.axis[2]), fields = std::ssize(flow_fields);
  return {{"coarse", "", {fields, 1, nx, nz}, DType::f32},           {"t", "", {1}, DType::f64},
          {"x", "", {nx + (flow.period > 0.0 ? 1 : 0)}, DType::f64}, {"z", "", {nz}, DType::f64},
          {"future", "", {fields, 1, nx, nz}, DType::f32},           {"interval", "t_ff", {1}, DType::f64}};
}

std::vector<train::SamplePtr> Corrections::read(std::span<const std::int64_t> ids) {
  std::vector<train::SamplePtr> out;
  for (const auto id : ids) {
    std::int64_t left = id;
    std::size_t file = 0;
    for (; left >= std::ssize(pairs_[file].axis[0]) / 2; ++file) left -= std::ssize(pairs_[file].axis[0]) / 2;
    auto memory = std::make_shared<PairMemory>();
    memory->frames = snapshot(pairs_[file], static_cast<std::size_t>(2 * left), 1, 1, id);
    memory->interval = interval_;
    auto sample = std::make_shared<train::Sample>(*memory->frames);
    sample->fields["interval"] = io::tensor_of(&memory->interval, {1});
    sample->storage = memory;
    out.push_back(sample);
  }
  return out;
}

}  // namespace cambium::superres
