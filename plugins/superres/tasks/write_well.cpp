#include "plugins/superres/tasks/write_well.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "core/base/key_error.hpp"
#include "core/base/text.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/io/provenance.hpp"
#include "core/parallel/agree.hpp"
#include "core/plugin/check.hpp"
#include "plugins/superres/equations/stated_flow.hpp"
#include "plugins/superres/equations/well_layout.hpp"
#include "plugins/superres/samples/resampling.hpp"
#include "plugins/superres/samples/window.hpp"

namespace cambium::superres {
namespace {

std::vector<float> single(const std::vector<double>& values) { return {values.begin(), values.end()}; }

/// Number in the style of The Well's file names: 1e6, 0.5, 10.
std::string short_number(double value) {
  const int power = static_cast<int>(std::lround(std::log10(value)));
  if (power > 3 && std::fabs(value / std::pow(10.0, power) - 1.0) < 1e-12) return fmt::format("1e{}", power);
  return fmt::format("{:g}", value);
}

/// Attributes required for every dataset: whether it varies between trajectories and with time.
void mark(io::Object set, bool by_trajectory, bool by_time) {
  set.set_attribute("sample_varying", static_cast<std::uint8_t>(by_trajectory));
  set.set_attribute("time_varying", static_cast<std::uint8_t>(by_time));
}

void write_axes(io::File& file, const FieldData& flow) {
  auto dimensions = file.create_group("/dimensions");
  dimensions.set_attribute("spatial_dims", std::vector<std::string>{"x", "y"});
  constexpr const char* names[3] = {"time", "x", "y"};
  for (int a = 0; a < 3; ++a) mark(dimensions.write(names[a], single(flow.axis[a])), false, false);
}

/// Points at which the condition holds: both ends of the axis.
void write_boundary(io::File& file, const std::string& name, const char* axis, const char* kind, std::size_t points) {
  auto one = file.create_group("/boundary_conditions/" + name);
  one.set_attribute("associated_dims", std::vector<std::string>{axis});
  one.set_attribute("associated_fields", std::vector<std::string>{});
  one.set_attribute("bc_type", kind);
  mark(one, false, false);
  std::vector<std::uint8_t> mask(points, 0);
  mask.front() = mask.back() = 1;
  one.write("mask", mask);
  one.write("values", std::vector<float>(2, 0.0F));
}

void write_scalars(io::File& file, const std::vector<std::pair<std::string, double>>& scalars) {
  std::vector<std::string> names;
  for (const auto& [name, value] : scalars) names.push_back(name);
  auto group = file.create_group("/scalars");
  group.set_attribute("field_names", names);
  file.set_attribute("simulation_parameters", names);
  for (const auto& [name, value] : scalars) {
    file.set_attribute(name, value);
    mark(group.write(name, std::vector<float>{static_cast<float>(value)}), false, false);
  }
}

/// Writes fields of all runs by (trajectory, t, x, y), with an additional last axis for vectors.
void write_field(io::Group& group, const std::string& name, const std::vector<FieldData>& runs,
                 const std::vector<std::size_t>& components) {
  std::vector<float> values;
  const std::size_t each = runs.front().values[0].size();
  values.reserve(each * runs.size() * components.size());
  for (const auto& run : runs)
    for (std::size_t k = 0; k < each; ++k)
      for (const std::size_t f : components) values.push_back(static_cast<float>(run.values[f][k]));
  std::vector<std::int64_t> shape{std::ssize(runs)};
  for (const auto& axis : runs.front().axis) shape.push_back(std::ssize(axis));
  if (components.size() > 1) shape.push_back(std::ssize(components));
  auto set = group.allocate(name, DType::f32, shape);
  TensorRef all = io::tensor_of(values);
  all.rank = 0;
  for (auto extent : shape) all.shape[all.rank++] = extent;
  for (std::int64_t stride = 1, k = all.rank - 1; k >= 0; stride *= all.shape[k--]) all.stride[k] = stride;
  set.write_block(std::vector<std::int64_t>(shape.size(), 0), all);
  set.set_attribute("dim_varying", std::vector<std::uint8_t>{1, 1});
  mark(set, true, true);
}

}  // namespace

void WriteWell::Params::describe(deck::Describe<Params>& d) {
  constexpr const char* runs = "fields.h5 of runs of rayleigh_benard, one trajectory each, of this split: ";
  d("train", &Params::train, std::string(runs) + "to train on").def({});
  d("valid", &Params::valid, std::string(runs) + "to choose models by").def({});
  d("test", &Params::test, std::string(runs) + "to evaluate on").def({});
  d("rayleigh", &Params::rayleigh, "Rayleigh number of the runs").positive();
  d("prandtl", &Params::prandtl, "Prandtl number of the runs; default: that of their files, or 1 if they state none")
      .positive();
  d("points", &Params::points,
    "number of points along x and y of a uniform grid onto which the fields are interpolated cubically; The Well has "
    "[512, 128]. Default: the points of the runs, which are closer at the plates");
  d("frames", &Params::frames, "frames of each run to write, from the end").at_least(1).def(200);
  d.check([](const Params& p) {
    return p.train.empty() && p.valid.empty() && p.test.empty() ? "'train', 'valid' and 'test' name no run" : "";
  });
  d.check([](const Params& p) {
    return p.points && ((*p.points)[0] < 4 || (*p.points)[1] < 4) ? "'points' must be at least [4, 4]" : "";
  });
}

std::vector<WriteWell::Split> WriteWell::splits() const {
  std::vector<Split> out;
  for (const Split& split : {Split{"train", &params_.train}, {"valid", &params_.valid}, {"test", &params_.test}})
    if (!split.runs->empty()) out.push_back(split);
  return out;
}

std::string WriteWell::file_of(const char* split) const {
  return fmt::format("data/{}/rayleigh_benard_Rayleigh_{}_Prandtl_{}.hdf5", split, short_number(params_.rayleigh),
                     params_.prandtl ? short_number(*params_.prandtl) : "*");
}

double WriteWell::common_prandtl() const {
  std::optional<StatedFlow> first;
  for (const auto& split : splits())
    for (const auto& path : *split.runs) {
      const auto stated = StatedFlow::of(path);
      if (params_.prandtl) stated.require_prandtl(*params_.prandtl);
      if (!first && stated.prandtl) first = stated;
      if (!first || !stated.prandtl || std::fabs(*stated.prandtl - *first->prandtl) <= 1e-6 * *first->prandtl) continue;
      throw KeyError("write_well.prandtl", split.name,
                     fmt::format("'{}' has the Prandtl number {} and '{}' {}: the runs of one set share it", path,
                                 number_text(*stated.prandtl), first->path, number_text(*first->prandtl)));
    }
  return params_.prandtl.value_or(first ? *first->prandtl : 1.0);
}

std::vector<std::string> WriteWell::files() const {
  std::vector<std::string> out;
  for (const auto& split : splits()) out.push_back(file_of(split.name));
  return out;
}

void WriteWell::examine(Check& check) {
  for (const auto& file : files()) check.will_write({file, {Origin::stage, "write_well"}});
  for (const auto& split : splits())
    check.context().log.info(fmt::format("write_well: {} run(s) to {}", split.runs->size(), file_of(split.name)));
}

std::vector<Citation> WriteWell::citations() const { return {well_citation()}; }

/// Resampled to a uniform grid if requested, with the buoyancy and pressure of The Well.
FieldData WriteWell::placed(FieldData data) const {
  if (params_.points) {
    std::vector<double> x, z;
    const auto [nx, nz] = *params_.points;
    for (int i = 0; i < nx; ++i) x.push_back(data.axis[1].front() + data.period * i / nx);
    for (int k = 0; k < nz; ++k) z.push_back((k + 0.5) / nz);
    data = resampled(resampled(data, 1, x, 4), 2, z, 4);
  }
  shift_buoyancy(data, well_b_shift);
  return data;
}

std::vector<FieldData> WriteWell::read(const Split& split) const {
  const auto& paths = *split.runs;
  std::vector<FieldData> out;
  for (const auto& path : paths) {
    if (require_layer(path))
      throw InputError(fmt::format("'{}' is in the layout of The Well already; give fields.h5 of a run", path));
    const auto stated = StatedFlow::of(path);
    stated.require_plane(split.name, "give runs in two dimensions");
    stated.require_rayleigh(params_.rayleigh);
    auto data = read_fields(path, flow_fields, static_cast<std::size_t>(params_.frames), {});
    const auto& z = data.axis[2];
    if (data.period == 0.0 || !data.hidden.empty() || z.front() < 0.0 || z.back() > 1.0)
      throw InputError(
          fmt::format("'{}' is no layer between two plates and periodic along x: write_well takes runs of "
                      "rayleigh_benard",
                      path));
    out.push_back(placed(std::move(data)));
    const auto &one = out.back(), &first = out.front();
    if (one.axis != first.axis)
      throw InputError(
          fmt::format("'{}' has other points or times than '{}': trajectories of one file share them; give "
                      "runs of one grid, output interval and length",
                      path, paths.front()));
  }
  return out;
}

void WriteWell::write(const std::string& path, const std::vector<FieldData>& runs, const Context& context) const {
  io::write_h5_atomically(path, [&](io::File& file) {
    io::write_provenance(file, io::provenance_of(context));
    file.set_attribute("dataset_name", "rayleigh_benard");
    file.set_attribute("grid_type", "cartesian");
    file.set_attribute("n_spatial_dims", std::int64_t{2});
    file.set_attribute("n_trajectories", static_cast<std::int64_t>(runs.size()));
    write_scalars(file, {{"Rayleigh", params_.rayleigh}, {"Prandtl", *params_.prandtl}});
    write_axes(file, runs.front());
    write_boundary(file, "x_periodic", "x", "PERIODIC", runs.front().nx());
    write_boundary(file, "y_wall", "y", "WALL", runs.front().nz());
    auto scalars = file.create_group("/t0_fields"), vectors = file.create_group("/t1_fields"),
         tensors = file.create_group("/t2_fields");
    scalars.set_attribute("field_names", std::vector<std::string>{"buoyancy", "pressure"});
    vectors.set_attribute("field_names", std::vector<std::string>{"velocity"});
    tensors.set_attribute("field_names", std::vector<std::string>{});
    write_field(scalars, "buoyancy", runs, {1});
    write_field(scalars, "pressure", runs, {0});
    write_field(vectors, "velocity", runs, {2, 3});
  });
}

Task::Outcome WriteWell::run(Context& context) {
  std::array<double, 1> prandtl{};
  io::on_root(context.comm, [&] { prandtl[0] = common_prandtl(); });
  context.comm.broadcast(std::span<double>(prandtl));
  params_.prandtl = prandtl[0];
  io::on_root(context.comm, [&] {
    std::int64_t written = 0;
    for (const auto& split : splits()) {
      const auto path = std::filesystem::path(context.run_directory) / file_of(split.name);
      std::filesystem::create_directories(path.parent_path());
      const auto runs = read(split);
      write(path.string(), runs, context);
      written += std::ssize(runs);
      context.log.info(fmt::format("{}: {} trajectories of {} frames, {} x {} points", file_of(split.name), runs.size(),
                                   runs.front().axis[0].size(), runs.front().nx(), runs.front().nz()));
    }
    work_ = {written, "run"};
  });
  return Outcome::done;
}

}  // namespace cambium::superres
