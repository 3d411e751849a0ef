#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/particles/given_axes.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/physics.hpp"
#include "plugins/deepmd/engine/deviation.hpp"
#include "plugins/deepmd/engine/engine.hpp"
#include "plugins/deepmd/engine/few_bits.hpp"

namespace cambium::deepmd {

/// How rcut and rcut_smth enter: as stored, or rounded to float32 as DeePMD-kit's TensorFlow operators do.
enum class CutOffPrecision { float64, float32 };

/// A stored neural-network potential (Deep Potential), and optionally a committee whose disagreement is measured.
class DeepPotential : public Potential, public Checked, private Committee {
 public:
  struct Params {
    std::string model;                   ///< .dp or .yaml file
    std::vector<std::string> committee;  ///< further models of the same species
    Precision precision = Precision::float64;
    std::optional<double> compress;  ///< tolerance; absent: the embedding networks themselves
    CutOffPrecision cutoff_precision = CutOffPrecision::float64;
    std::vector<double> fparam, aparam;
    std::optional<FewBits> quantize;     ///< absent: weights as stored
    std::optional<double> min_distance;  ///< Å; absent: the model's own
    static void describe(deck::Describe<Params>& d);
  };

  /// Loads every model; InputError names the file and what is wrong with it. In a dry run, models in the run's own
  /// folder, which an earlier stage makes, are left out.
  DeepPotential(const Params& params, Context& context);

  void examine(Check&) override;
  void bind(std::span<const Species> species) override;
  double cutoff() const override { return cutoff_; }
  bool writes_ghost_forces() const override { return true; }
  /// Forces, energies and virials are those of `model`. The committee is evaluated when totals are asked for.
  void compute(const Particles&, const NeighborList&, GhostExchange&, const ForceRequest&, ForceOutput&,
               Context&) override;
  std::string summary() const override;
  std::vector<Citation> citations() const override;
  Committee* committee() override { return params_.committee.empty() ? nullptr : this; }
  const Engine& engine(std::size_t member = 0) const { return *members_[member].engine; }

 private:
  std::vector<Observable> observables() const override;  ///< deviation_columns
  void measure(std::span<double> values) const override;
  std::vector<std::string> report() const override;
  void set_axes(const GivenAxes& axes) override { axes_ = axes; }
  const Deviation& deviation() const override { return deviation_; }

  struct Member {
    std::unique_ptr<Engine> engine;
    std::string few_bits;   ///< what quantize did
    View<int*> model_type;  ///< model type by deck type
    View<double* [3]> f;    ///< this member's forces, committees only
  };
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
  double largest_deviation_ = 0.0, deviation_sum_ = 0.0;  ///< eV/Å: of force_max, and of force_mean
  std::int64_t deviations_ = 0;                           ///< evaluations of the committee
  bool warned_ = false;
};

}  // namespace cambium::deepmd
