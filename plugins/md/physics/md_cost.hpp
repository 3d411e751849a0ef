#pragma once
#include <memory>
#include <string>

#include "core/particles/box.hpp"
#include "core/plugin/cost.hpp"
#include "plugins/md/physics/md.hpp"

namespace cambium::md {

/// Cost of the steps of `md`, for atoms that fill the cell evenly and a brick for every rank (otherwise, planes that
/// follow the pairs balance the work just as well). Ghosts are those around a brick; a list lasts until the fastest
/// atom, in free flight, has moved half the skin.
class MdCost : public Cost {
 public:
  using Params = Md::Params;
  MdCost(const Params& params, Context& context);
  std::string summary() const override;
  std::string item() const override { return "atom"; }
  double items() const override { return atoms_; }
  StepCost of(int ranks, double times) const override;

 private:
  struct Surroundings {
    std::array<int, 3> count;  ///< bricks along a, b, c
    double atoms, ghosts;      ///< of a rank; ghosts owned by other ranks only
    double surface;            ///< Å^2, surface through which atoms leave
    double peers;
    double density;  ///< 1/Å^3
  };
  Surroundings around(int ranks, const Box& box, double atoms) const;
  double steps_of_a_list(double atoms) const;
  void add_messages(const Surroundings& s, double between, StepCost& out) const;

  Params params_;
  std::unique_ptr<Potential> potential_;
  Box box_;
  double atoms_ = 0.0, range_ = 0.0, sums_per_step_ = 0.0;
  double speed_ = 0.0;  ///< Å/ps, root of k T / m of the lightest species
};

}  // namespace cambium::md
