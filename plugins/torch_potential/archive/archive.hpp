#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cambium::torch_potential {

/// Header of an archive: its extra files, its buffers and the arguments of its method `forward`.
struct ArchiveFacts {
  /// Program that wrote it, which determines the names of inputs: mace and nequip take `pos`, `edge_cell_shift` and
  /// `atom_types` (mace as exported for CP2K; also allegro), mace_lammps `positions`, `shifts` and `node_attrs`.
  enum class Family { mace, mace_lammps, nequip, allegro, unknown } family = Family::unknown;
  std::vector<std::string> species;  ///< symbols by type; empty: not specified
  std::optional<double> cutoff;      ///< in the archive's unit of length
  std::optional<int> layers;         ///< of message passing; 1: strictly local
  bool float32 = false;              ///< precision of its values; else float64
};

/// "MACE", "NequIP", "Allegro"; "TorchScript" for the others.
std::string name_of(ArchiveFacts::Family family);

/// A graph of atoms. Edges go from a centre to a neighbour within the cut-off.
struct ArchiveGraph {
  std::int64_t owned = 0;           ///< nodes 0..owned-1, whose energies are requested
  std::vector<std::int64_t> types;  ///< of each node, index of ArchiveFacts::species
  std::vector<std::int64_t> centre, neighbour;
  std::vector<double> vector;  ///< three values per edge: neighbour minus centre, in the archive's unit of length
};

struct ArchiveAnswer {
  std::vector<double> energy;    ///< of each owned node, in the archive's unit
  std::vector<double> gradient;  ///< three values per edge: of the owned nodes' energy, with respect to the vector
};

/// The archive's own totals for a graph, each compared with the result from its node energies.
struct ArchiveDoubt {
  double energy = 0.0;  ///< sum of the energies of nodes minus the archive's total
  double force = 0.0;   ///< largest difference of a component
  double scale = 0.0;   ///< largest component of the archive's forces
};

/// An open TorchScript archive. It is a program: opening it means running it.
class Archive {
 public:
  /// Opens an archive on the device `device` ("cpu", "cuda:1"; empty: a GPU if LibTorch has one, otherwise the CPU).
  /// `rank` selects one of several GPUs. InputError names the file and what this LibTorch does not support.
  Archive(const std::string& path, const std::string& device, int rank);
  ~Archive();
  const ArchiveFacts& facts() const;
  /// `graph` must not be empty. InputError with Torch's message when the program fails, or if it gives only a total
  /// energy and the graph has nodes that are not owned.
  ArchiveAnswer evaluate(const ArchiveGraph& graph, std::int64_t species);
  /// Evaluates the same graph by the archive itself, all nodes owned: compares its energy and forces, if it gives any.
  ArchiveDoubt compare(const ArchiveGraph& graph, std::int64_t species);
  /// Text such as "LibTorch 1.13.1 on cpu".
  std::string place() const;

 private:
  struct Module;  ///< LibTorch's, which only archive.cpp includes
  std::unique_ptr<Module> module_;
};

}  // namespace cambium::torch_potential
