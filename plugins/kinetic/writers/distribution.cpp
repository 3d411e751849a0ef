#include "plugins/kinetic/writers/distribution.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "core/base/error.hpp"
#include "core/driver/writers/trajectory_writers.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/run/provenance.hpp"
#include "core/parallel/agree.hpp"
#include "plugins/kinetic/species/distribution_file.hpp"
#include "plugins/kinetic/writers/sampled.hpp"

#include "plugins/kinetic/writers/moments.hpp"

namespace cambium::kinetic {

void DistributionWriter::Params::describe(deck::Describe<Params>& d) {
  d("every", &Params::every, "steps between two outputs").at_least(1).def(1000);
  d("format", &Params::format,
    "hdf5: the expansions, one file per output, what start_from and kinetic_io read; vtkhdf: values, one file per "
    "species with all outputs, for ParaView")
      .options({{"hdf5", Params::Format::hdf5}, {"vtkhdf", Params::Format::vtkhdf}})
      .def(Params::Format::hdf5);
  d("axes", &Params::axes,
    "for vtkhdf: one to three of x, y, z, vx, vy, vz, over which f is shown, integrated over the others; all where "
    "there are three at most")
      .def({})
      .example("[x, vx]");
  d.check([](const Params& p) -> std::string {
    return p.format == Params::Format::hdf5 && !p.axes.empty() ? "'axes' belongs to 'format: vtkhdf'" : "";
  });
}

void DistributionWriter::attach(const Physics& physics) {
  physics_ = &kinetic_physics(physics, "distribution");
  if (params_.format == Params::Format::hdf5) return;
  for (const auto& s : physics_->species())
    axes_.push_back(
        axes_of(s->solver().grid(), params_.axes, fmt::format("output 'distribution', species '{}'", s->name())));
  samples_.resize(axes_.size());
}

void DistributionWriter::observe(const State&, std::int64_t step, double time) {
  if (params_.format == Params::Format::vtkhdf)
    add_samples(step, time);
  else
    write_expansions(step, time);
}

std::string DistributionWriter::path_of(const std::string& species) const {
  return (std::filesystem::path(context_.run_directory) / fmt::format("distribution.{}.vtkhdf", species)).string();
}

void DistributionWriter::add_samples(std::int64_t step, double time) {
  for (std::size_t k = 0; k < samples_.size(); ++k) {
    const Species& s = *physics_->species()[k];
    const GridFields fields = sampled_distribution(s, axes_[k], context_.comm);
    io::on_root(context_.comm, [&] {
      if (!samples_[k])
        samples_[k] = std::make_unique<io::VtkhdfFile>(path_of(s.name()), fields, true, io::provenance_of(context_));
      samples_[k]->append(fields, step, time);
    });
  }
}

void DistributionWriter::resume(std::int64_t step) {
  for (std::size_t k = 0; k < samples_.size(); ++k)
    io::on_root(context_.comm, [&] {
      const auto path = path_of(physics_->species()[k]->name());
      if (readable_or_put_aside(path, context_.log)) samples_[k] = std::make_unique<io::VtkhdfFile>(path, step);
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
  });
  io::File nowhere = io::File::in_memory(path);
  io::Group& group = file ? static_cast<io::Group&>(*file) : nowhere;
  for (const auto& s : physics_->species()) {
    s->solver().to_host_const(0);
    write_distribution(group, s->name(), s->solver(), context_.comm);
  }
  io::on_root(context_.comm, [&] {
    file->close();
    target->commit();
  });
}

}  // namespace cambium::kinetic
