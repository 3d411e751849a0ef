#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/tensor_ref.hpp"
#include "core/deck/describe.hpp"
#include "core/particles/given_axes.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/physics.hpp"
#include "plugins/deepmd/engine/calibration.hpp"
#include "plugins/deepmd/engine/deviation.hpp"
#include "plugins/deepmd/engine/engine.hpp"
#include "plugins/deepmd/engine/few_bits.hpp"

namespace cambium::deepmd {

/// A stored neural-network potential (Deep Potential), and optionally a committee whose deviation is measured.
class DeepPotential : public Potential, public Checked, private Committee {
 public:
  struct Params {
    std::string model;                   ///< .dp, .yaml or .pb file
    std::vector<std::string> committee;  ///< additional models with the same species
    std::string calibration;             ///< file of the stage calibrate; empty: none
    EnginePrecision precision = EnginePrecision::float64;
    std::optional<double> compress;                   ///< tolerance; absent: the embedding networks themselves
    Precision cutoff_precision = Precision::float64;  ///< float32: rounded as DeePMD-kit's TensorFlow operators do
    std::vector<double> fparam, aparam;
    std::optional<FewBits> quantize;     ///< absent: weights as stored
    std::optional<double> min_distance;  ///< Å; absent: the model's own
    static void describe(deck::Describe<Params>& d) {
      d("model", &Params::model,
        "model file, .dp, .yaml or .pb (DeePMD-kit's `dp convert-backend` makes one of any other)")
          .example("water.dp");
      d("committee", &Params::committee,
        "further models of the same species; the model deviations of forces and virials are columns of thermo.csv, "
        "such as max_devi_f")
          .def({});
      d("calibration", &Params::calibration,
        "calibration.yaml of the stage calibrate for these models; thermo.csv then has max_bound_f, the calibrated "
        "bound of the force error; default: none")
          .def("")
          .example("calibrate/calibration.yaml");
      d("precision", &Params::precision, "float64, or mixed: networks in float32, sums in float64 (twice as fast)")
          .options({{"float64", EnginePrecision::float64}, {"mixed", EnginePrecision::mixed}})
          .def(EnginePrecision::float64);
      d("compress", &Params::compress,
        "largest error allowed when the embedding networks are replaced by tables (dimensionless; 1e-8 changes forces "
        "by about 1e-8 eV/Å); absent: no tables")
          .positive()
          .example("1e-8");
      d("cutoff_precision", &Params::cutoff_precision,
        "float32 repeats the rounding of rcut and rcut_smth by DeePMD-kit's TensorFlow back end")
          .options({{"float64", Precision::float64}, {"float32", Precision::float32}})
          .def(Precision::float64);
      d("fparam", &Params::fparam, "frame parameters, for models that take them").def({});
      d("aparam", &Params::aparam, "atomic parameters, the same for every atom, for models that take them").def({});
      d("quantize", &Params::quantize,
        "quantised low-bit weights of the energy networks, in every model; default: weights as stored");
      d("min_distance", &Params::min_distance,
        "distance below which pairs cause a warning; default: the closest pair of the model's training data, if the "
        "file states it")
          .unit("angstrom")
          .positive();
      d.check([](const Params& p) {
        return !p.calibration.empty() && p.committee.empty()
                   ? "calibration is that of a committee; give 'committee', or leave it out"
                   : "";
      });
    }
  };

  /// Loads every model; InputError names the file and its error. In a dry run, models in the run's own folder that an
  /// earlier stage writes are skipped.
  DeepPotential(const Params& params, Context& context);

  void examine(Check&) override;
  void bind(std::span<const Species> species) override;
  double cutoff() const override { return cutoff_; }
  bool writes_ghost_forces() const override { return true; }
  /// Forces, energies and virials are those of `model`. The committee is evaluated when totals are requested.
  void compute(const Particles&, const NeighborList&, GhostExchange&, const ForceRequest&, ForceOutput&,
               Context&) override;
  std::string summary() const override;
  std::vector<Citation> citations() const override;
  Committee* committee() override { return params_.committee.empty() ? nullptr : this; }
  const Engine& engine(std::size_t member = 0) const { return *members_[member].engine; }

 private:
  std::vector<Observable> observables() const override;  ///< deviation_columns
  void measure(std::span<double> values) const override;
  std::vector<Result> results() const override;
  void set_axes(const GivenAxes& axes) override { axes_ = axes; }
  const Deviation& deviation() const override { return deviation_; }
  bool calibrated() const override { return !params_.calibration.empty(); }

  struct Member {
    std::unique_ptr<Engine> engine;
    std::string few_bits;   ///< report of the quantisation
    View<int*> model_type;  ///< model type by deck type
    View<double* [3]> f;    ///< this member's forces, committees only
  };
  void load_calibration(const std::vector<std::string>& models, const Context& context);
  Member load(const std::string& path, const Context& context) const;
  void compute_alone(Member& member, const Particles&, const NeighborList&, const ForceRequest&, ForceOutput&,
                     EngineOutput& result);
  void compute_committee(const Particles&, const NeighborList&, GhostExchange&, const ForceRequest&, ForceOutput&,
                         Context&, EngineOutput& result);
  void warn_if_close(const EngineOutput& result, const Context& context);

  Params params_;
  std::vector<std::string> bound_;  ///< symbols
  double cutoff_ = 0.0, min_distance_ = 0.0;
  std::vector<Member> members_;
  GivenAxes axes_;
  ModelDeviation deviation_;
  std::optional<Calibration> calibration_;
  double largest_deviation_ = 0.0, deviation_sum_ = 0.0;  ///< eV/Å: of force_max, and of force_mean
  double largest_bound_ = 0.0;                            ///< eV/Å
  std::int64_t deviations_ = 0;                           ///< evaluations of the committee
  bool warned_ = false;
};

}  // namespace cambium::deepmd
