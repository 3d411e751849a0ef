#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/io/hdf5/compression.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/plugin/writer.hpp"

namespace cambium::cosmo {

class ParticleMeshPhysics;

/// Matter over the scale factor:
///   /scale_factor, /step       one per snapshot
///   /counts                    [snapshot][x][y][z] particles of each cell, cloud in cell, single precision
///   /x                         centres of cells, Mpc/h (of y and z, too)
///   /k, /modes                 [bin] of the spectra: mean wave number, h/Mpc, and modes
///   /power, /linear, /lpt, /expected   [snapshot][bin], (Mpc/h)^3, as Spectra
///   /mass                      mean mass of spheres, solar masses over h
///   /sigma                     [snapshot][mass] relative standard deviation of the linear density in these spheres
/// Root attributes: box, particles, mesh, omega_m, omega_b, h, n_s, sigma_8, w0, wa, t_cmb, seed, shot_noise,
/// Conventions; /cambium: provenance. xarray opens it.
class MatterWriter : public Writer {
 public:
  struct Params {
    std::int64_t every = 10;
    bool counts = true;
    std::string file = "matter.h5";
    std::optional<io::Compression> compress;
    static void describe(deck::Describe<Params>& d) {
      d("every", &Params::every, "number of steps between two snapshots").at_least(1).def(10);
      d("counts", &Params::counts, "particles of each cell, too; else spectra only").def(true);
      d("file", &Params::file, "file name in the folder of the stage").def("matter.h5");
      d("compress", &Params::compress, "compression of the particles of cells, lossless or within an error bound");
      d.check([](const Params& p) { return io::problem_without_first_frame(p.compress); });
    }
  };
  MatterWriter(const Params& params, Context& context) : params_(params), context_(context) {}

  void attach(const Physics& physics) override;
  std::int64_t every() const override { return params_.every; }
  void observe(const State& state, std::int64_t step, double time) override;
  bool shows_end() const override { return true; }
  void finish(const State& state) override;
  void resume(std::int64_t step) override;
  std::vector<std::string> files() const override { return {params_.file}; }

 private:
  std::string path() const;
  void create();
  std::vector<std::string> series() const;

  Params params_;
  Context& context_;
  const ParticleMeshPhysics* physics_ = nullptr;
  std::vector<double> sigma_today_;  ///< rank 0: sigma(M) at scale factor 1
  std::optional<io::File> file_;     ///< rank 0, from the first snapshot on
};

}  // namespace cambium::cosmo
