#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cambium::kim {

/// Neighbour lists in the form required by the KIM API: the neighbours of row i begin at index + offset[i].
struct NeighborRows {
  const std::int64_t* offset = nullptr;
  const int* count = nullptr;
  const int* index = nullptr;
  int rows = 0;  ///< atoms with neighbour lists
};

/// Atoms of one rank and a model's results for them. Units: eV, Å.
struct ModelAtoms {
  std::vector<double> positions;  ///< 3 each
  std::vector<int> codes;         ///< of their species, KimModel::code
  std::vector<int> contributing;  ///< 1: its energy is counted; 0: a ghost
  NeighborRows neighbors;
  bool energies = false, virials = false;  ///< request them of atoms

  double energy = 0.0;
  std::vector<double> forces;       ///< 3 each, also on ghosts
  std::vector<double> atom_energy;  ///< if energies
  std::vector<double> atom_virial;  ///< 6 each if virials: xx, yy, zz, yz, xz, xy of -dE/dstrain
};

/// A portable model of the KIM API (Tadmor et al., JOM 63, 17, 2011; version 2, https://kim-api.readthedocs.io).
class KimModel {
 public:
  /// `wanted`: name or code of an installed model (installed.hpp). InputError: not installed, no forces, or a
  /// requirement on the simulator that is not met.
  explicit KimModel(const std::string& wanted);
  ~KimModel();

  const std::string& name() const;
  const std::vector<std::string>& species() const;
  /// Species code of the model; nullopt if it does not support the species.
  std::optional<int> code(const std::string& symbol) const;
  /// Distance (Å) within which atoms affect the energy of one: the required depth of ghosts.
  double influence_distance() const;
  double largest_cutoff() const;  ///< Å, of its neighbour lists
  bool asks_for_neighbors_of_ghosts() const;
  bool gives_energies() const;  ///< of single atoms
  bool gives_virials() const;   ///< of single atoms
  /// InputError if the model reports a failure.
  void compute(ModelAtoms& atoms) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace cambium::kim
