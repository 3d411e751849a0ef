#include "plugins/kinetic/writers/distribution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <numeric>

#include "core/base/error.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/hdf5/labels.hpp"
#include "core/io/provenance.hpp"
#include "core/parallel/agree.hpp"
#include "core/run/trajectory_writers.hpp"
#include "plugins/kinetic/species/distribution_file.hpp"
#include "plugins/kinetic/writers/moments.hpp"
#include "plugins/kinetic/writers/sampled.hpp"

namespace cambium::kinetic {

void DistributionWriter::attach(const Physics& physics) {
  physics_ = &kinetic_physics(physics, "distribution");
  if (params_.format == Params::Format::hdf5) return;
  for (const auto& s : physics_->species())
    axes_.push_back(
        axes_of(s->solver().grid(), params_.axes, fmt::format("output 'distribution', species '{}'", s->name())));
  samples_.resize(axes_.size());
  if (!params_.xml) context_.log.info(io::vtkhdf_readers("distribution.<species>.vtkhdf"));
}

void DistributionWriter::observe(const State&, std::int64_t step, double time) {
  if (!clock_.due(time)) return;
  if (params_.format == Params::Format::vtkhdf)
    add_samples(step, time);
  else
    write_expansions(step, time);
}

std::string DistributionWriter::path_of(const std::string& species) const {
  return (std::filesystem::path(context_.run_directory) / fmt::format("distribution.{}.vtkhdf", species)).string();
}

void DistributionWriter::begin(std::size_t species, std::unique_ptr<io::VtkhdfFile> file) {
  samples_[species] = std::move(file);
  if (params_.xml) samples_[species]->also_xml();
}

void DistributionWriter::add_samples(std::int64_t step, double time) {
  for (std::size_t k = 0; k < samples_.size(); ++k) {
    const Species& s = *physics_->species()[k];
    const GridFields fields = sampled_distribution(s, axes_[k], context_.comm);
    io::on_root(context_.comm, [&] {
      if (!samples_[k])
        begin(k, std::make_unique<io::VtkhdfFile>(path_of(s.name()), fields, true, io::provenance_of(context_),
                                                  params_.compress));
      samples_[k]->append(fields, step, time);
    });
  }
}

void DistributionWriter::resume(std::int64_t step) {
  for (std::size_t k = 0; k < samples_.size(); ++k)
    io::on_root(context_.comm, [&] {
      const auto path = path_of(physics_->species()[k]->name());
      if (readable_or_put_aside(path, context_.log)) begin(k, std::make_unique<io::VtkhdfFile>(path, step));
    });
}

namespace {

TensorRef shaped(std::vector<double>& values, const std::vector<std::int64_t>& shape) {
  TensorRef t = io::tensor_of(values.data(), {});
  t.is_const = false;
  for (const auto extent : shape) t.shape[t.rank++] = extent;
  for (std::int64_t stride = 1, k = t.rank - 1; k >= 0; stride *= t.shape[k--]) t.stride[k] = stride;
  return t;
}

int constant_mode(const BasisInfo& basis) {
  int constant = 0;
  while (std::any_of(basis.exponents[constant].begin(), basis.exponents[constant].end(), [](int n) { return n > 0; }))
    ++constant;
  return constant;
}

/// f's mean over a cell is its first mode's coefficient times psi_0 of every dimension.
double mean_of_constant(const PhaseGrid& grid) { return std::pow(0.5, 0.5 * grid.dimensions()); }

/// A row of cells at a time.
void fill_means(io::Dataset& means, const io::Dataset& f, const PhaseGrid& grid, const BasisInfo& basis) {
  const int constant = constant_mode(basis);
  const double psi = mean_of_constant(grid);
  const auto stored = f.shape(), shape = means.shape();
  const std::int64_t modes = basis.modes,
                     rows = std::accumulate(stored.begin() + 1, stored.end() - 1, std::int64_t{1}, std::multiplies<>());
  std::vector<double> all(rows * modes), out(static_cast<std::size_t>(rows));
  std::vector<std::int64_t> from(stored.size(), 0), to(shape.size(), 0);
  for (std::int64_t cell = 0; cell < stored[0]; ++cell) {
    std::vector<std::int64_t> block = stored, part = shape;
    from[0] = cell;
    block[0] = 1;
    f.read_block(from, shaped(all, block));
    for (std::int64_t k = 0; k < rows; ++k) out[k] = psi * all[k * modes + constant];
    for (int d = grid.cdim, rest = static_cast<int>(cell); d-- > 0; rest /= static_cast<int>(shape[d])) {
      to[d] = rest % shape[d];
      part[d] = 1;
    }
    means.write_block(to, shaped(out, part));
  }
}

/// The mean of f in every cell, under the name <species>_f at the top of the file with its axes: what programs that
/// know no modes see. From the expansions, which the file holds already.
void write_means(io::File& file, const std::string& name, const PhaseGrid& grid, const BasisInfo& basis) {
  std::vector<std::string> along, modes_along{"cell"};
  std::vector<std::int64_t> shape;
  for (int d = 0; d < grid.dimensions(); ++d) {
    const Axis& a = grid.axis[d];
    const std::string letter(1, "xyz"[d < grid.cdim ? d : d - grid.cdim]);
    along.push_back(d < grid.cdim ? letter : name + "_v" + letter);
    if (d >= grid.cdim) modes_along.push_back(along.back());
    shape.push_back(a.cells);
    if (file.exists(along.back())) continue;
    std::vector<double> centres;
    for (int k = 0; k < a.cells; ++k) centres.push_back(a.centre(k));
    io::labelled(file.write(along.back(), centres), "",
                 d < grid.cdim ? letter : "velocity of " + name + " along " + letter);
  }
  const std::string modes = name + "_mode";
  if (!file.exists("cell")) io::write_dimension(file, "cell", grid.conf_cells());
  io::write_dimension(file, modes, basis.modes);
  modes_along.push_back(modes);
  io::labelled(file.dataset(name + "/f"), "", "coefficients of the modes of f of " + name);
  file.attach_scales(name + "/f", modes_along);
  const bool filled = file.exists(name + "_f");
  io::Dataset means = filled ? file.dataset(name + "_f") : file.allocate(name + "_f", DType::f64, shape);
  if (!filled) fill_means(means, file.dataset(name + "/f"), grid, basis);
  io::labelled(means, "", "distribution function of " + name + ", mean of each cell");
  file.attach_scales(name + "_f", along);
  io::set_coordinates(means, "time step");
}

/// Means over slabs of cells, of exactly the values whose expansions are encoded.
class MeansOfSlabs {
 public:
  MeansOfSlabs(io::Group& group, const std::string& name, const Solver& solver, const io::Compression& compress)
      : grid_(solver.grid()), basis_(solver.basis()) {
    std::vector<std::int64_t> shape;
    for (int d = 0; d < grid_.dimensions(); ++d) shape.push_back(grid_.axis[d].cells);
    slab_ = shape;
    slab_[0] = cells_of_a_slab(grid_, basis_.modes) * shape[0] / grid_.conf_cells();
    means_ = io::allocate(group, name + "_f", DType::f64, shape, slab_, compress);
  }
  void operator()(std::int64_t first, std::span<const double> values) {
    const int constant = constant_mode(basis_), modes = basis_.modes;
    std::vector<double> out(values.size() / static_cast<std::size_t>(modes));
    for (std::size_t k = 0; k < out.size(); ++k)
      out[k] =
          mean_of_constant(grid_) * values[k * static_cast<std::size_t>(modes) + static_cast<std::size_t>(constant)];
    std::vector<std::int64_t> start(slab_.size(), 0);
    start[0] = first * grid_.axis[0].cells / grid_.conf_cells();
    means_->write_block(start, shaped(out, slab_));
  }

 private:
  const PhaseGrid& grid_;
  BasisInfo basis_;
  std::vector<std::int64_t> slab_;
  std::optional<io::Dataset> means_;
};

}  // namespace

void DistributionWriter::write_compressed(io::Group& group, const Species& species) {
  std::optional<MeansOfSlabs> means;
  io::on_root(context_.comm, [&] { means.emplace(group, species.name(), species.solver(), *params_.compress); });
  write_distribution(group, species.name(), species.solver(), context_.comm, *params_.compress,
                     [&](std::int64_t first, std::span<const double> values) { (*means)(first, values); });
}

void DistributionWriter::finish(const State&) {
  if (!params_.compress) return;
  io::on_root(context_.comm, [&] {
    for (std::size_t k = 0; k < samples_.size(); ++k)
      if (samples_[k])
        context_.log.info(
            samples_[k]->stored_line(std::filesystem::path(path_of(physics_->species()[k]->name())).filename()));
  });
}

void DistributionWriter::write_expansions(std::int64_t step, double time) {
  const auto path = (std::filesystem::path(context_.run_directory) / fmt::format("distribution.{}.h5", step)).string();
  std::optional<io::AtomicFile> target;
  std::optional<io::File> file;
  io::on_root(context_.comm, [&] {
    target.emplace(path);
    file.emplace(io::File::create(target->part(), path));
    io::write_provenance(*file, io::provenance_of(context_));
    file->set_attribute("step", step);
    file->set_attribute("time", time);
    io::follow_cf(*file);
    io::labelled(file->write("step", step), "", "step");
    io::labelled(file->write("time", time), physics_->time_unit(), "time");
  });
  io::File nowhere = io::File::in_memory(path);
  io::Group& group = file ? static_cast<io::Group&>(*file) : nowhere;
  for (const auto& s : physics_->species()) {
    s->solver().to_host_const(0);
    if (params_.compress)
      write_compressed(group, *s);
    else
      write_distribution(group, s->name(), s->solver(), context_.comm);
  }
  io::on_root(context_.comm, [&] {
    for (const auto& s : physics_->species()) write_means(*file, s->name(), s->solver().grid(), s->solver().basis());
    if (params_.compress) {
      std::vector<std::string> names;
      for (const auto& s : physics_->species()) names.insert(names.end(), {s->name() + "/f", s->name() + "_f"});
      context_.log.info(io::stored_line(std::filesystem::path(path).filename(), *file, names));
    }
    file->close();
    target->commit();
  });
}

}  // namespace cambium::kinetic
