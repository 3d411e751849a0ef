#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/deck/expression.hpp"
#include "core/plugin/physics.hpp"

namespace cambium::my_physics {

/// Heat equation on a ring, dT/dt = D d2T/dx2 with x periodic in the length L. Central differences on equal cells and
/// explicit Euler steps with r = D dt/dx^2 = `courant`, stable up to 1/2. A wave of wave number k is an exact solution
/// of the scheme: each step multiplies it by 1 - 4 r sin^2(k dx/2). Lengths, times and temperatures are dimensionless.
class MyPhysics : public Physics {
 public:
  /// Keys of the deck. This declaration is also their validation, their documentation and their JSON schema.
  struct Params {
    double diffusivity = 1.0;
    double length = 1.0;
    int cells = 64;
    double courant = 0.25;
    deck::Expression initial;
    static void describe(deck::Describe<Params>& d);
  };

  MyPhysics(const Params& params, Context& context);

  void declare(State&, Context&) override;
  void initialise(State&, Context&) override;
  void restore(State&, Context&, const io::Group& saved, bool same_ranks) override;
  void schedule(Schedule&) override;
  double timestep(const State&) const override;
  std::string time_unit() const override { return ""; }
  std::vector<Observable> observables() const override;
  void measure(const State&, Context&, std::span<double> values) override;
  /// For the output `vtkhdf`, which is all that ParaView needs.
  std::optional<GridFields> grid_fields(const State&, const Comm&) const override;
  Work work(const State&) const override { return {params_.cells, "cell"}; }
  std::string summary() const override;
  std::vector<Citation> citations() const override;

  /// Temperatures of this rank's cells, first_cell() and those that follow it.
  std::vector<double> temperatures() const;
  int first_cell() const { return first_; }

  // Parts of a step: public because device compilers require kernels in public functions.
  void exchange();  ///< copies the neighbours' outermost cells into the two ghosts
  void advance();   ///< one step

 private:
  Params params_;
  Context& context_;
  int first_, count_;  ///< cells of this rank
  double dx_;
  View<double*> now_, next_;  ///< a ghost, the cells of this rank, a ghost
};

}  // namespace cambium::my_physics
