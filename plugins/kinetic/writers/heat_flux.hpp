#pragma once
#include <array>

#include "core/deck/describe.hpp"
#include "core/plugin/writer.hpp"
#include "plugins/kinetic/physics/vlasov.hpp"
#include "plugins/kinetic/writers/series_file.hpp"

namespace cambium::kinetic {

/// Waves of temperature, velocity and heat flux of one species of a periodic 1x1v run, what the network
/// heat_flux_kernel is trained on: heat_flux.h5, one row per output and wave,
///   /wavenumber [row][1]                             times the Debye length
///   /temperature, /velocity, /heat_flux [row][2]     real and imaginary part of the Fourier coefficient (2/L times the
///                                                    integral with exp(-ikx)), in units of T0, vt and n0 T0 vt
///   /step, /time [row]
class HeatFluxWriter : public Writer {
 public:
  struct Params {
    std::string species;
    std::vector<int> modes;
    std::int64_t every = 1;
    double from = 0.0;
    static void describe(deck::Describe<Params>& d) {
      d("species", &Params::species, "species of the moments; default: the first one").def("");
      d("modes", &Params::modes, "mode numbers of the waves: periods in the domain").at_least(1).example("[1]");
      d("every", &Params::every, "steps between two outputs").at_least(1).def(1);
      d("start_time", &Params::from, "time of the first output; earlier ones contain initial transients")
          .formerly("from")
          .def(0.0);
    }
  };
  HeatFluxWriter(const Params& params, Context& context)
      : params_(params), context_(context), file_(context, "heat_flux.h5") {}

  void attach(const Physics& physics) override;
  std::int64_t every() const override { return params_.every; }
  void observe(const State& state, std::int64_t step, double time) override;
  void resume(std::int64_t step) override;
  std::vector<std::string> files() const override { return {"heat_flux.h5"}; }

 private:
  /// Velocity moments 0..3 at the Gauss nodes of every cell, over the entire line: [moment][node]. Collective.
  std::array<std::vector<double>, 4> moments() const;
  void write(std::int64_t step, double time, const std::array<std::vector<double>, 4>& m);

  Params params_;
  Context& context_;
  const Species* species_ = nullptr;
  SeriesFile file_;
};

}  // namespace cambium::kinetic
