#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plugins/graph/meshes/formula.hpp"
#include "plugins/graph/meshes/triangles.hpp"
#include "plugins/graph/transport/advection.hpp"
#include "plugins/graph/transport/boundaries.hpp"
#include "plugins/graph/transport/node_physics.hpp"

namespace cambium::graph {

/// Advection and diffusion of c on triangles,
///   dc/dt + div(u c) = div(kappa grad c) + s,
/// by finite volumes around the nodes (median dual cells): second-order upwind fluxes between cells, diffusion as in
/// linear finite elements. Fluxes are conservative, so the total of a closed domain is constant. Everything is
/// dimensionless.
class MeshTransport : public NodePhysics {
 public:
  struct Params : NodeKeys {
    MeshKeys mesh;
    Parameters parameters;
    std::vector<std::string> velocity;
    std::optional<std::string> stream, exact;
    std::string diffusivity = "0", source = "0", initial = "0";
    Advection advection = Advection::linear;
    std::map<std::string, BoundaryKeys> boundaries;
    static void describe(deck::Describe<Params>& d);
  };

  MeshTransport(const Params& params, Context& context);

  void initialise(State&, Context&) override;
  std::vector<Observable> observables() const override;
  void measure(const State&, Context&, std::span<double> values) override;
  std::string summary() const override;
  std::vector<Citation> citations() const override;
  void examine(Check& check) override;

  std::int64_t bytes() const override;

 protected:
  NodeRun& run() override { return *run_; }
  const NodeRun& run() const override { return *run_; }
  double stable_step(double t) override;
  void forget_whole() override { whole_.reset(); }
  ShownNodes all_shown() const override { return shown_of(*whole_, every_node()); }

 private:
  Equations equations();
  Flow flow(const std::map<std::string, double>& parameters) const;
  void add_terms(double t, std::span<const double> c, std::span<double> out);
  void warn_of_walls();

  Params params_;
  Context& context_;
  std::map<std::string, double> parameters_;
  std::unique_ptr<const Triangles> whole_;  ///< until the run has begun
  std::int64_t triangles_ = 0, sides_ = 0;  ///< of the full mesh, and its boundary edges
  std::vector<std::string> tags_;
  NodeRange range_;
  DualCells cells_;
  AdvectionTerms advection_;
  Boundaries boundaries_;
  Formula source_, initial_;
  std::optional<Formula> exact_;
  double fastest_diffusion_ = 0.0;  ///< largest eigenvalue, upper bound
  std::unique_ptr<NodeRun> run_;
};

}  // namespace cambium::graph
