#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/base/log.hpp"
#include "core/train/kinds/dataset.hpp"
#include "plugins/deepmd/model/model.hpp"

namespace cambium::deepmd {

/// Action when `sel` of the deck is less than the data need. DeePMD-kit drops the farthest neighbours beyond `sel`,
/// Cambium none: where an atom has more, one file means two energies.
enum class SelShort { raise, refuse };

/// Most neighbours within rcut (Å) of any atom of any frame, by neighbour type, or of all types `together` a single
/// number. Collective: each rank looks at its share of the frames.
std::vector<int> most_neighbours(train::Dataset& data, const std::vector<std::string>& type_map, double rcut,
                                 const Comm& comm, bool together = false);

/// Slots by neighbour type: those given, each raised to what automatic_sel() gives where an atom of the data has more
/// neighbours, with a warning; automatic_sel() when none are given. Throws InputError for another number of types, and
/// with `refuse` for one that is too small.
std::vector<int> settle_sel(const std::optional<std::vector<int>>& given, const std::vector<int>& most,
                            const std::vector<std::string>& type_map, SelShort short_sel, Log& log);

/// The same for a descriptor whose slots serve all types: of the numbers given only the sum has a meaning.
int settle_total(const std::optional<std::vector<int>>& given, const std::vector<int>& most, SelShort short_sel,
                 Log& log);

/// True if an atom of the data that a model was trained on, of which one had `most` neighbours, has more of some type
/// than `sel`.
bool exceeds_sel(const DeepPotentialModel& model, const std::vector<int>& most);

/// Consequences of an exported model for DeePMD-kit, for the log; empty where the data's neighbours are not known.
std::string about_sel(const DeepPotentialModel& model, const std::vector<int>& most);

}  // namespace cambium::deepmd
