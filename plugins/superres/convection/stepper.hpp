#pragma once
#include <array>

#include "plugins/superres/convection/explicit_terms.hpp"
#include "plugins/superres/convection/projection.hpp"
#include "plugins/superres/convection/wall_normal_diffusion.hpp"

namespace cambium::superres {

/// Loop order of a stage: a thread along z through all rows of a few columns, or row by row (planes in three
/// dimensions), where subsequent operations find a row in cache.
enum class Sweeps { by_columns, by_rows };

/// One time step of the Boussinesq equations as three stages, each: explicit terms, diffusion along z, projection.
class Stepper {
 public:
  static constexpr int stage_count = 3;  ///< and Poisson solutions of a step
  Stepper(const Comm& comm, const Slab& slab, const Fluid& fluid,
          Sweeps sweeps = device_is_host ? Sweeps::by_rows : Sweeps::by_columns);
  /// When by rows, includes the elimination of the diffusion systems.
  void explicit_part(int stage, double dt);
  /// Includes the divergence and its transforms.
  void diffusion(int stage, double dt);
  void projection(int stage, double dt);
  /// Does all three stages.
  void step(double dt);
  /// Collective, after the fields have been set: makes u divergence-free and fills ghosts. p is not changed.
  void start();
  /// Collective: fills ghosts of fields read from a file.
  void fill_ghosts() { projection_.fill_ghosts(flow()); }

  /// The flow with all ghosts; waits for those still pending after a step.
  Flow& flow();
  /// For callers that read no ghost rows of other ranks.
  const Flow& owned() const { return flow_; }
  /// Bytes sent by this rank to others so far, in three dimensions.
  std::int64_t bytes_sent() const {
    std::int64_t sum = projection_.bytes_sent();
    for (const auto& stage : diffusion_) sum += stage.bytes_sent();
    return sum;
  }

 private:
  void finish_ghosts();
  void explicit_by_rows(int stage, double dt);
  void add_by_rows(int stage, double dt);
  void take_divergence(double alpha_dt);

  Sweeps sweeps_;
  Flow flow_;
  Fields tendency_, rhs_;  ///< (slots, m+2, columns)
  std::array<WallNormalDiffusion, 3> diffusion_;
  Projection projection_;
  bool ghosts_travel_ = false;  ///< pending from other ranks, while rows that need none are processed
};

/// Longest step that the explicit diffusion along x and y allows.
double diffusive_limit(const Flow& flow);

/// Collective, over owned rows: maximum of |u|/dx + |v|/dy + |w|/dz, the Courant number of a step of length one.
double largest_courant_rate(const Flow& flow, const Comm& comm);

}  // namespace cambium::superres
