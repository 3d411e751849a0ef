#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/particles/neighbors.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/writer.hpp"
#include "plugins/md/domain/domain.hpp"

namespace cambium::md {

/// Partial radial distribution functions g_ab(r) and running coordination numbers n_ab(r) (neighbours of species b
/// within r of one of species a), by pair of species, averaged over samples:
///   g_ab(r) = V <pairs in the shell> / (N_a (N_b - [a = b]) shell volume),
/// which is 1 for independent particles. Positions are redistributed and listed for r_max by this class, so the range
/// of the forces does not matter. Files: rdf.h5 (all averages) and rdf.csv (the last one).
class Rdf : public Writer, public Checked {
 public:
  struct Params {
    std::int64_t every = 100, from = 0, average = 0;
    int bins = 400;
    std::optional<double> r_max;
    static void describe(deck::Describe<Params>& d) {
      d("every", &Params::every, "steps between two samples").at_least(1).def(100);
      d("start_step", &Params::from, "first step that is sampled").formerly("from").at_least(0).def(0);
      d("average", &Params::average, "steps per average, after which a new g(r) begins; 0 averages over the entire run")
          .at_least(0)
          .def(0);
      d("bins", &Params::bins, "bins from 0 to r_max").at_least(10).at_most(100000).def(400);
      d("r_max", &Params::r_max,
        "largest distance; when absent 10 Å, or 0.95 of half the smallest width of the cell where that is less")
          .unit("angstrom")
          .positive();
    }
  };
  Rdf(const Params& params, Context& context) : params_(params), context_(context) {}

  std::int64_t every() const override { return params_.every; }
  std::int64_t first() const override { return params_.from; }
  void examine(Check&) override;
  void observe(const State& state, std::int64_t step, double time) override;
  void finish(const State&) override;
  void save(io::Group& group) const override;
  void load(const io::Group& group) override;
  std::vector<std::string> files() const override { return {"rdf.h5", "rdf.csv"}; }

 private:
  /// Sums over samples, the same on every rank.
  struct Sums {
    std::vector<double> first_step, last_step, samples;  ///< one value each, per average
    std::vector<double> pairs;                           ///< [average][pair][bin] ordered pairs
    std::vector<double> weighted;                        ///< the same times the volume (Å^3)
  };
  void settle_range(const Box& box);
  std::vector<std::int64_t> count(const Particles& now);
  void begin_average(std::int64_t step);
  void write() const;
  std::int64_t histogram_size() const;

  Params params_;
  Context& context_;
  double r_max_ = 0.0;
  std::vector<std::string> symbols_;
  std::vector<double> members_;  ///< particles of each species
  Sums sums_;
  Particles particles_;  ///< a copy, distributed over ranks by bricks wide enough for r_max
  std::unique_ptr<Domain> domain_;
  NeighborList list_;
};

}  // namespace cambium::md
