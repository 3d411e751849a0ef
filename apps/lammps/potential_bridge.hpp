#pragma once
#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cambium::lammps {

/// A host code's arrays for one force call. Rows 0..nlocal-1 are owned atoms, the others ghosts. Å, eV.
struct HostArrays {
  int nlocal = 0, nghost = 0;
  int room = 0;                       ///< rows for which the host's arrays have memory, nlocal + nghost or more
  std::int64_t natoms = 0;            ///< of all ranks
  const double* position = nullptr;   ///< 3 per row
  const int* type = nullptr;          ///< the host's types, 1-based
  const std::int64_t* tag = nullptr;  ///< read when `reordered`
  double cell[6] = {};                ///< lx, ly, lz, xy, xz, yz
  double corner[3] = {};
  bool reordered = true;  ///< rows are other atoms than in the last call: the list is built again
  /// True if a pair of rows, an owned one first, does not interact here; empty: all do. Called when `reordered`.
  std::function<bool(int i, int j)> left_out;
  double skin = 2.0;
  bool totals = true;  ///< energy, virial and a committee's deviation are wanted
};

/// How far a committee of models disagrees: standard deviations of the virial (eV/atom, largest, smallest and root mean
/// square of its components) and of the forces (eV/Å, largest, smallest and mean over atoms).
struct HostDeviation {
  double virial_max = 0.0, virial_min = 0.0, virial_rms = 0.0, force_max = 0.0, force_min = 0.0, force_mean = 0.0;
};

/// Results of one force call, added to the host's arrays.
struct HostResults {
  double* force = nullptr;  ///< 3 per row, owned and ghost
  double energy = 0.0;      ///< eV, owned atoms
  double virial[9] = {};    ///< eV, W_ab = -sum dE/dr_a r_b, row-major
  bool per_atom = false;
  std::vector<double> atom_energy;  ///< per owned row (when per_atom)
  std::vector<double> atom_virial;  ///< 9 per row, owned and ghost (when per_atom)
};

/// Host part of potentials that need their neighbours' neighbours. `values` holds `width` values per row.
struct HostExchange {
  std::function<void(double* values)> forward;             ///< owners to ghosts, width 1
  std::function<void(double* values, int width)> reverse;  ///< ghosts added to owners, width 3 or 9
};

/// A Potential of Cambium's registry, as interface for a host code without Kokkos and the registry.
class PotentialBridge {
 public:
  /// `type` is a registered potential, `keys` its keys as in a deck ("{model: a.dp}"); a key `type` among them counts
  /// instead. Throws std::exception with a text for the user.
  PotentialBridge(const std::string& type, const std::string& keys, MPI_Comm comm);
  ~PotentialBridge();
  const std::string& type() const { return type_; }
  /// The key of a potential's own file: `file` where the type has one, else `model`.
  static std::string key_of_file(const std::string& type);

  /// Species of the host's types 1, 2, ...; an empty symbol leaves a type to other pair styles. Masses in g/mol.
  void bind(const std::vector<std::string>& symbols, const std::vector<double>& masses);
  double cutoff() const;
  bool writes_ghost_forces() const;
  /// Throws if the potential is meaningless in a cell that is not periodic in all directions, and `periodic` is false.
  void refuse_open_boundaries(bool periodic) const;
  std::string summary() const;
  /// BibTeX entries of the works that the potential rests on.
  std::string citations() const;
  /// For the last compute() with totals; absent if the potential is not a committee.
  std::optional<HostDeviation> deviation() const;
  bool is_committee() const;
  void compute(const HostArrays& arrays, const HostExchange& exchange, HostResults& results);

 private:
  struct Parts;
  std::string type_;
  std::unique_ptr<Parts> parts_;
};

}  // namespace cambium::lammps
