#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/deck/describe.hpp"
#include "core/plugin/check.hpp"
#include "core/plugin/potential.hpp"
#include "plugins/torch_potential/archive/archive.hpp"
#include "plugins/torch_potential/potentials/edges.hpp"

namespace cambium::torch_potential {

/// A potential stored by another program as a TorchScript archive: MACE (Batatia et al., 2022), NequIP (Batzner et al.,
/// Nat. Commun. 13, 2453, 2022) or Allegro (Musaelian et al., Nat. Commun. 14, 579, 2023). Forces are the derivative of
/// the energies of a rank's own atoms with respect to the vectors between neighbours.
class TorchScript : public Potential, public Checked {
 public:
  struct Params {
    std::string model;                                ///< archive
    bool trust = false;                               ///< allow it to run from outside the run's folder
    std::optional<std::vector<std::string>> species;  ///< by type of the archive
    std::optional<std::string> energy_unit, length_unit;
    std::optional<double> cutoff;  ///< Å
    std::optional<int> layers;
    std::string device;
    static void describe(deck::Describe<Params>& d) {
      d("model", &Params::model, "TorchScript archive (.pth, .pt) of MACE, NequIP or Allegro").example("MACE.pth");
      d("trust", &Params::trust,
        "permission to run the program in the archive; without it only archives in the folder of the run are opened")
          .def(false);
      d("species", &Params::species,
        "chemical symbols in the order of the archive's types; absent: those of the archive")
          .example("[H, O]");
      d("energy_unit", &Params::energy_unit, "energy unit of the archive; absent: eV for MACE, and required for others")
          .options({"eV", "hartree", "kcal/mol", "kJ/mol"});
      d("length_unit", &Params::length_unit,
        "length unit of the archive; absent: angstrom for MACE, and required for others")
          .options({"angstrom", "bohr", "nm"});
      d("cutoff", &Params::cutoff, "cut-off of the archive's neighbours; absent: that of the archive")
          .unit("angstrom")
          .positive();
      d("layers", &Params::layers,
        "layers of message passing, 1 for a strictly local model such as Allegro; absent: those of the archive")
          .range(1, 16);
      d("device", &Params::device,
        "device of LibTorch, cpu or cuda:0; empty: a GPU where LibTorch has one, else the CPU")
          .def("");
    }
  };

  /// Opens the archive; KeyError about the key that would provide what the archive does not specify. In a dry run,
  /// archives that an earlier stage writes are skipped.
  TorchScript(const Params& params, Context& context);

  void examine(Check&) override;
  void bind(std::span<const Species> species) override;
  /// One step of message passing on one rank, whose ghosts are images of its own atoms; otherwise all steps.
  double cutoff() const override { return folded_ ? range_ : range_ * layers_; }
  bool writes_ghost_forces() const override { return true; }
  void compute(const Particles&, const NeighborList&, GhostExchange&, const ForceRequest&, ForceOutput&,
               Context&) override;
  std::string summary() const override;
  std::vector<Citation> citations() const override;

 private:
  void read_facts(Context& context);
  void require_sound(const ArchiveGraph& graph, Context& context);
  void add(const Edges& edges, const ArchiveAnswer& answer, const ForceRequest& request, ForceOutput& out) const;
  void warn_of_units(const Particles& particles, const ForceOutput& out, Context& context);

  Params params_;
  std::unique_ptr<Archive> archive_;
  std::vector<std::string> species_;    ///< by type of the archive
  std::vector<int> type_;               ///< of the archive, by type of the deck
  double energy_ = 1.0, length_ = 1.0;  ///< units of the archive in eV and Å
  double range_ = 0.0;                  ///< Å
  int layers_ = 1;
  bool folded_ = true, compared_ = false, measured_ = false;
  std::optional<EdgeFinder> finder_;
};

}  // namespace cambium::torch_potential
