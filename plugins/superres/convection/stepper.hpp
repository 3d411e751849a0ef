#pragma once
#include <array>

#include "plugins/superres/convection/explicit_terms.hpp"
#include "plugins/superres/convection/projection.hpp"
#include "plugins/superres/convection/wall_normal_diffusion.hpp"

namespace cambium::superres {

/// How a stage goes through the cells: a thread along z through all rows of a few columns, or row after row (planes in
/// three dimensions), where what follows finds a row in the cache.
enum class Sweeps { by_columns, by_rows };

/// One time step of the Boussinesq equations as three stages, each: explicit terms, diffusion along z, projection.
class Stepper {
 public:
  static constexpr int stage_count = 3;  ///< and Poisson solutions of a step
  Stepper(const Comm& comm, const Slab& slab, const Fluid& fluid,
          Sweeps sweeps = device_is_host ? Sweeps::by_rows : Sweeps::by_columns);
  /// By rows with the elimination of the diffusion's systems.
  void explicit_part(int stage, double dt);
  /// With the divergence and its transforms.
  void diffusion(int stage, double dt);
  void projection(int stage, double dt);
  /// All three stages.
  void step(double dt);
  /// Collective, once the fields were set: makes u free of divergence and fills ghosts. p stays.
  void start();
  /// Collective: fills ghosts of fields that were read back.
  void fill_ghosts() { projection_.fill_ghosts(flow()); }

  /// With all ghosts; waits for those that are still on their way after a step.
  Flow& flow();
  /// For who reads no ghost rows of other ranks.
  const Flow& owned() const { return flow_; }
  /// B that this rank gave to others so far, in three dimensions.
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
  bool ghosts_travel_ = false;  ///< of other ranks, while rows that need none are worked on
};

/// Longest step that the explicit diffusion along x and y allows.
double diffusive_limit(const Flow& flow);

/// Collective, of owned rows: |u|/dx + |v|/dy + |w|/dz at its largest, the Courant number of a step of length one.
double largest_courant_rate(const Flow& flow, const Comm& comm);

}  // namespace cambium::superres
