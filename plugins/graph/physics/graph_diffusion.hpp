#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/plugin/check.hpp"
#include "core/plugin/physics.hpp"
#include "plugins/graph/meshes/formula.hpp"
#include "plugins/graph/meshes/network.hpp"
#include "plugins/graph/transport/node_physics.hpp"

namespace cambium::graph {

/// Heat and reaction-diffusion on an undirected weighted graph:
///   du_k/dt = -D_k (L u_k)_i + f_k(u, t, x)
/// with the Laplacian L = W - A (W: sums of an edge's weights at each node), W^-1 (W - A) or W^-1/2 (W - A) W^-1/2. The
/// amount sum_i v_i u_i conserved by diffusion has v = 1, W and W^1/2. Everything is dimensionless.
class GraphDiffusion : public NodePhysics {
 public:
  enum class Laplacian { combinatorial, random_walk, symmetric };
  struct Spots {
    std::vector<std::int64_t> nodes;
    int hops = 0;
    double value = 1.0;
    static void describe(deck::Describe<Spots>& d);
  };
  struct Species {
    std::string name;
    double diffusion = 0.0;
    std::string reaction = "0", initial = "0";
    std::optional<Spots> spots;
    static void describe(deck::Describe<Species>& d);
  };
  struct Params : NodeKeys {
    NetworkKeys graph;
    Laplacian laplacian = Laplacian::combinatorial;
    Parameters parameters;
    std::vector<Species> species;
    static void describe(deck::Describe<Params>& d);
  };

  GraphDiffusion(const Params& params, Context& context);

  void initialise(State&, Context&) override;
  std::vector<Observable> observables() const override;
  void measure(const State&, Context&, std::span<double> values) override;
  std::string summary() const override;
  std::vector<Citation> citations() const override;
  void examine(Check& check) override;

  std::int64_t bytes() const override { return run_->bytes() + (whole_ ? whole_->bytes() : 0); }

 protected:
  NodeRun& run() override { return *run_; }
  const NodeRun& run() const override { return *run_; }
  double stable_step(double t) override;
  void forget_whole() override { whole_.reset(); }
  ShownNodes all_shown() const override { return shown_of(*whole_, every_node()); }

 private:
  Equations equations();
  void add_reactions(double t, std::span<const double> u, std::span<double> out) const;
  void add_spots(const Spots& spots, std::size_t column);

  Params params_;
  std::unique_ptr<const Network> whole_;  ///< until the run has begun
  std::int64_t edges_ = 0;                ///< of all
  NodeRange range_;
  std::vector<Formula> reactions_, initial_;
  bool reacts_ = false;
  double largest_eigenvalue_ = 0.0;  ///< of the Laplacian, upper bound
  std::unique_ptr<NodeRun> run_;
};

}  // namespace cambium::graph
