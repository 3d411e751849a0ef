#pragma once
#include <functional>
#include <vector>

#include "core/parallel/comm.hpp"
#include "plugins/deepmd/datasets/batch.hpp"
#include "plugins/deepmd/model/model.hpp"

namespace cambium::deepmd {

/// Change of a model's energy bias for other data.
struct BiasChange {
  std::vector<double> shift;         ///< eV by type, to be added to the bias; 0 for types that the frames do not have
  std::vector<char> present;         ///< by type: true if a frame with an energy has such atoms
  std::int64_t frames = 0;           ///< that have an energy
  double before = 0.0, after = 0.0;  ///< eV/atom, root mean square error of the energies without and with the shift
};

/// Collective: least squares solution of smallest norm of sum_t n_t shift_t = label - energy over frames of n_t atoms
/// of type t, with energies of `model`. It absorbs at once labels that another reference shifts by a constant per
/// species (as DeePMD-kit's `change-bias` does). `frame` returns frame k of `count`; frames are distributed over the
/// ranks, and the result does not depend on their number. `interpolation` as in ModelPass.
BiasChange bias_change(const DeepPotentialModel& model, std::int64_t count,
                       const std::function<FramePtr(std::int64_t)>& frame, double interpolation, const Comm& comm);

}  // namespace cambium::deepmd
