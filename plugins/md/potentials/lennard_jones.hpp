#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/plugin/potential.hpp"

namespace cambium::md {

/// What happens to a pair energy at the cut-off: cut (plain), lifted so that it ends at 0 (shift), or multiplied by
/// the C2 SwitchFunction over the last `switch_width` (smooth).
enum class Truncation { plain, shift, smooth };

/// Lennard-Jones: E = 4 epsilon [(sigma/r)^12 - (sigma/r)^6] within the cut-off; J. E. Jones, Proc. R. Soc. A 106, 463
/// (1924). Pairs without own parameters mix by Lorentz and Berthelot: sigma_ij = (sigma_i + sigma_j)/2,
/// epsilon_ij = sqrt(epsilon_i epsilon_j).
class LennardJones : public Potential {
 public:
  struct Pair {
    std::vector<std::string> species;  ///< two symbols
    double epsilon = 0.0;              ///< eV
    double sigma = 0.0;                ///< Å
    std::optional<double> cutoff;      ///< Å, the common one when absent
    static void describe(deck::Describe<Pair>& d);
  };
  struct Params {
    std::optional<double> epsilon;  ///< eV, for a single species
    std::optional<double> sigma;    ///< Å, for a single species
    double cutoff = 0.0;            ///< Å
    Truncation truncation = Truncation::plain;
    std::optional<double> switch_width;  ///< Å, width of the smooth truncation; a tenth of the cut-off when absent
    bool tail = false;                   ///< plain only: mean-field energy and pressure beyond the cut-off
    std::vector<Pair> pairs;
    static void describe(deck::Describe<Params>& d);
  };

  /// Throws InputError for parameters that do not fit together.
  LennardJones(const Params& params, Context& context);

  void bind(std::span<const Species> species) override;
  double cutoff() const override { return cutoff_; }
  void compute(const Particles&, const NeighborList&, GhostExchange&, const ForceRequest&, ForceOutput&,
               Context&) override;
  std::string summary() const override;
  std::vector<Citation> citations() const override;

  /// One row per ordered pair of types, as the kernel reads them; columns of `table_`.
  enum Column { cut_squared, c12, c6, lift, switch_start, switch_inverse, columns };

 private:
  struct Coefficients {
    double epsilon = 0.0, sigma = 0.0, cutoff = 0.0;
  };
  Coefficients coefficients(std::span<const Species> species, int a, int b) const;
  const Pair* explicit_pair(const std::string& a, const std::string& b) const;
  void fill_table(const std::vector<Coefficients>& all);
  void add_tail(const Particles& particles, const ForceRequest& request, ForceOutput& out, Context& context);

  Params params_;
  double cutoff_ = 0.0;
  int types_ = 0;
  View<double**> table_;  ///< (column, pair of types)
  HostView<double**> host_table_;
  std::vector<double> tail_energy_, tail_virial_;  ///< per type pair: 2 pi times the integrals beyond the cut-off
  std::vector<double> type_counts_;                ///< of the whole system
  std::int64_t counted_ = -1;                      ///< atoms when types were counted
};

}  // namespace cambium::md
