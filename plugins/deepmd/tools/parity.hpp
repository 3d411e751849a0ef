#pragma once
#include <array>

#include "core/io/parity.hpp"
#include "core/parallel/comm.hpp"
#include "plugins/deepmd/data/labelled_data.hpp"
#include "plugins/deepmd/tools/tools.hpp"

namespace cambium::deepmd {

/// Labels and a model's predictions, side by side: energies per atom (eV/atom, one row per frame), forces (eV/Å, one
/// row per atom) and virials per atom (eV/atom, one row per frame), for frames that have that label. Components are
/// along the axes in which the data are given: a mean of absolute errors depends on them.
struct Parity {
  std::size_t frames = 0;
  io::ParityQuantity energy, force, virial;
  std::string remark;  ///< on data that were not used; may be empty

  Parity();
  std::array<io::ParityQuantity*, 3> all() { return {&energy, &force, &virial}; }
  std::array<const io::ParityQuantity*, 3> all() const { return {&energy, &force, &virial}; }
  void append(const Parity& other);
  std::vector<std::string> write(const std::string& folder, const std::string& stem) const;
};

/// Collective: LabelledData::load on every rank, with a common error.
LabelledData load_labelled(const std::string& path, const ExtxyzKeys& keys, const Comm& comm,
                           const LammpsKeys& lammps = {});

/// Evaluates the first `most_frames` frames (0: all). Collective: frames are distributed over the ranks, and every rank
/// gets all rows.
Parity parity_of(const LabelledData& data, const ToolOptions& options, std::size_t most_frames, const Comm& comm);

}  // namespace cambium::deepmd
