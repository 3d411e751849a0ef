#include "plugins/cosmo/writers/matter.hpp"

#include <algorithm>
#include <filesystem>

#include "core/base/error.hpp"
#include "core/io/hdf5/labels.hpp"
#include "core/io/provenance.hpp"
#include "core/parallel/agree.hpp"
#include "plugins/cosmo/gravity/clouds.hpp"
#include "plugins/cosmo/gravity/mass_fluctuations.hpp"
#include "plugins/cosmo/physics/particle_mesh.hpp"

namespace cambium::cosmo {

void MatterWriter::attach(const Physics& physics) {
  physics_ = dynamic_cast<const ParticleMeshPhysics*>(&physics);
  if (!physics_) throw InputError("output 'matter' is for the physics particle_mesh; leave it out");
}

std::string MatterWriter::path() const {
  return (std::filesystem::path(context_.run_directory) / params_.file).string();
}

std::vector<std::string> MatterWriter::series() const {
  std::vector<std::string> out{"scale_factor", "step", "power", "linear", "lpt", "expected", "sigma"};
  if (params_.counts) out.push_back("counts");
  return out;
}

void MatterWriter::create() {
  const auto& params = physics_->params();
  const auto& box = physics_->matter().box();
  file_.emplace(io::File::create(path()));
  io::File& file = *file_;
  io::write_provenance(file, io::provenance_of(context_));
  io::follow_cf(file);
  const auto& c = params.cosmology;
  for (const auto& [name, value] : {std::pair{"box", params.box},
                                    {"omega_m", c.omega_m},
                                    {"omega_b", c.omega_b},
                                    {"h", c.h},
                                    {"n_s", c.n_s},
                                    {"sigma_8", c.sigma_8},
                                    {"w0", c.w0},
                                    {"wa", c.wa},
                                    {"t_cmb", c.t_cmb}})
    file.set_attribute(name, value);
  file.set_attribute("particles", params.particles);
  file.set_attribute("mesh", box.cells());
  file.set_attribute("seed", static_cast<std::int64_t>(context_.seed));
  io::labelled(file.create_series("scale_factor", DType::f64, {}), "", "scale factor, 1 today");
  io::labelled(file.create_series("step", DType::i64, {}), "", "step");
  file.attach_scales("step", {"scale_factor"});
  const auto bins = bins_of(box);
  io::labelled(file.write("k", bins.k), "h/Mpc", "mean wave number of the bin");
  io::labelled(file.write("modes", bins.modes), "", "modes in the bin");
  file.attach_scales("modes", {"k"});
  const std::int64_t row[1] = {std::ssize(bins.k)};
  const std::pair<const char*, const char*> spectra[] = {{"power", "power of the particles, shot noise included"},
                                                         {"linear", "power of the same field by linear theory"},
                                                         {"lpt", "power of particles that perturbation theory moves"},
                                                         {"expected", "mean over many fields by linear theory"}};
  for (const auto& [name, doc] : spectra) {
    io::labelled(file.create_series(name, DType::f64, row), "(Mpc/h)^3", doc);
    file.attach_scales(name, {"scale_factor", "k"});
  }
  const auto today = mass_fluctuations(physics_->theory().power(), c.omega_m);
  io::labelled(file.write("mass", today.mass), "solar masses/h", "mean mass of a sphere");
  const std::int64_t masses[1] = {std::ssize(today.mass)};
  io::labelled(file.create_series("sigma", DType::f64, masses), "",
               "standard deviation of the linear density in spheres of this mass, in units of the mean");
  file.attach_scales("sigma", {"scale_factor", "mass"});
  sigma_today_ = today.sigma;
  if (!params_.counts) return;
  const int n = box.cells();
  std::vector<double> x;
  for (int i = 0; i < n; ++i) x.push_back(i * params.box / n);
  for (const char* axis : {"x", "y", "z"})
    io::labelled(file.write(axis, x), "Mpc/h", std::string(axis) + " of the cell's centre");
  const std::int64_t cells[3] = {n, n, n};
  io::labelled(io::create_series(file, "counts", DType::f32, cells, params_.compress), "",
               "particles in the cell, after mass assignment");
  file.attach_scales("counts", {"scale_factor", "x", "y", "z"});
}

void MatterWriter::observe(const State&, std::int64_t step, double) {
  const auto s = physics_->spectra();
  std::vector<float> counts;
  if (params_.counts && context_.comm.root()) {
    const auto mass = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), physics_->matter().mass());
    for (std::size_t i = 0; i < mass.extent(0); ++i)
      counts.push_back(static_cast<float>(static_cast<double>(mass(i)) / static_cast<double>(whole_particle)));
  }
  io::on_root(context_.comm, [&] {
    if (!file_) {
      create();
      file_->set_attribute("shot_noise", s.shot_noise);
    }
    file_->dataset("scale_factor").append(io::tensor_of(&s.a, {}));
    file_->dataset("step").append(io::tensor_of(&step, {}));
    for (const auto& [name, values] :
         {std::pair{"power", &s.power}, {"linear", &s.linear}, {"lpt", &s.lpt}, {"expected", &s.expected}})
      file_->dataset(name).append(io::tensor_of(*values));
    auto sigma = sigma_today_;
    for (double& x : sigma) x *= physics_->theory().expansion().growth(s.a).first;
    file_->dataset("sigma").append(io::tensor_of(sigma));
    const std::int64_t n = physics_->matter().box().cells();
    if (params_.counts) file_->dataset("counts").append(io::tensor_of(counts.data(), {n, n, n}));
    file_->flush();
  });
}

void MatterWriter::finish(const State&) {
  const std::string name[1] = {"counts"};
  if (params_.compress && params_.counts && file_) context_.log.info(io::stored_line(params_.file, *file_, name));
}

void MatterWriter::resume(std::int64_t step) {
  io::on_root(context_.comm, [&] {
    if (!std::filesystem::exists(path())) return;
    file_.emplace(io::File::append(path()));
    const auto steps = file_->read<std::vector<std::int64_t>>("step");
    const std::int64_t kept = std::upper_bound(steps.begin(), steps.end(), step) - steps.begin();
    for (const auto& name : series()) file_->dataset(name).resize(kept);
    sigma_today_ = mass_fluctuations(physics_->theory().power(), physics_->params().cosmology.omega_m).sigma;
    file_->flush();
  });
}

}  // namespace cambium::cosmo
