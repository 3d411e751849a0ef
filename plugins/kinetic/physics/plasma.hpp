#pragma once
#include <memory>
#include <string>
#include <vector>

#include "plugins/kinetic/edges/exchanges.hpp"
#include "plugins/kinetic/fields/field_model.hpp"
#include "plugins/kinetic/fluids/fluid.hpp"
#include "plugins/kinetic/physics/external_field.hpp"
#include "plugins/kinetic/species/species.hpp"

namespace cambium::kinetic {

/// The species of a plasma, the fields that accelerate them, and their coupling at one instant. A slot is one of the
/// three copies of distribution functions, moments and fields through which the stages of a step lead.
class Plasma {
 public:
  Plasma(const CommonParams& params, Context& context);

  /// Made once the configuration-space grid is known; none for neutral particles.
  void set_fields(std::unique_ptr<FieldModel> fields, double epsilon0);
  /// InputError for a component that no species can feel; warns where only some do.
  void set_external(const FieldFormulas& formulas);
  void set_background(const std::string& charge_density);
  /// Species with charge, fluids among them, and their velocity dimensions.
  std::vector<ExternalField::Felt> charged() const;

  /// Slot 0 of a fresh start, from f0 or from `start_from`.
  void initialise();
  void save(io::Group& group) const;
  void load(const io::Group& group, double time);

  const std::vector<std::unique_ptr<Species>>& species() const { return species_; }
  const std::vector<std::unique_ptr<Fluid>>& fluids() const { return fluids_; }
  FieldModel* fields() const { return fields_.get(); }
  /// This rank's part of configuration space, the same of all species.
  const ConfGrid& conf() const { return species_.front()->conf(); }
  const ConfRanks& ranks() const { return species_.front()->ranks(); }
  /// The same, or null where one rank has all cells.
  const ConfRanks* several_ranks() const { return ranks().row().size() > 1 ? &ranks() : nullptr; }
  double epsilon0() const { return epsilon0_; }
  /// Energy of E and of B without its mean over the domain, which no wave changes in a periodic one; collective.
  double wave_energy() const;
  /// True if the first two stages of a step are fused into one pass: see Solver::stages.
  bool fuses() const;

  /// Values point into fields or into the sums of `which`, of which there are two.
  ForceField force_on(const Species& species, int slot, double time, int which);
  ForceField force_on(const Fluid& fluid, int slot, double time, int which);
  Sources sources(int slot) const;
  /// Includes the charge that walls collect at a time, if the fields require it; collective.
  Sources sources_and_walls(int slot, double time) const;
  Exchanges& exchanges() { return *exchanges_; }
  const Exchanges& exchanges() const { return *exchanges_; }

 private:
  void add_fluids();
  ForceField force(double charge_over_mass, int slot, double time, int which);
  void start_from(const std::string& path);
  /// Charges of all particles in the domain without their signs; collective.
  double charge_without_signs() const;
  void warn_about_net_charge() const;
  void warn_about_gauss() const;
  void warn_about_debye_length() const;

  CommonParams common_;
  Context& context_;
  std::vector<std::unique_ptr<Species>> species_;
  std::vector<std::unique_ptr<Fluid>> fluids_;
  std::unique_ptr<Exchanges> exchanges_;
  std::unique_ptr<FieldModel> fields_;
  double epsilon0_ = 1.0;
  ExternalField external_;
  std::vector<double> background_;
  std::vector<double> total_[2][6];  ///< own and external fields together, where there are external ones
};

}  // namespace cambium::kinetic
