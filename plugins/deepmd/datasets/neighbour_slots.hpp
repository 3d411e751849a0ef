#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/log.hpp"
#include "core/train/kinds/dataset.hpp"
#include "plugins/deepmd/model/model.hpp"

namespace cambium::deepmd {

/// Action if `sel` of the deck is smaller than the data require. DeePMD-kit drops the farthest neighbours beyond `sel`,
/// Cambium drops none: for an atom with more, the same file gives two energies.
enum class SelShort { raise, refuse };

/// Collective: calls `use` on every rank with the samples of its part of a data set, which are read in runs.
void for_own_samples(train::Dataset& data, const Comm& comm, const std::function<void(const train::Sample&)>& use);

/// Collective: the symbols of all samples, as they come in the data.
std::vector<std::string> species_of_data(train::Dataset& data, const Comm& comm);

/// Largest number of neighbours within rcut (Å) of any atom of any frame, by neighbour type, or with `together` one
/// value for all types. Collective: the frames are distributed over the ranks.
std::vector<int> most_neighbours(train::Dataset& data, const std::vector<std::string>& type_map, double rcut,
                                 const Comm& comm, bool together = false);

/// Slots by neighbour type: the given values, each raised to that of automatic_sel() if an atom of the data has more
/// neighbours, with a warning; automatic_sel() if none are given. Throws InputError for a wrong number of types, and
/// with `refuse` for a value that is too small.
std::vector<int> settle_sel(const std::optional<std::vector<int>>& given, const std::vector<int>& most,
                            const std::vector<std::string>& type_map, SelShort short_sel, Log& log);

/// The same for a descriptor whose slots serve all types: only the sum of the given values matters.
int settle_total(const std::optional<std::vector<int>>& given, const std::vector<int>& most, SelShort short_sel,
                 Log& log);

/// True if an atom of the data that a model was trained on has more neighbours of some type than `sel`, given the
/// largest numbers `most` in these data.
bool exceeds_sel(const DeepPotentialModel& model, const std::vector<int>& most);

/// Consequences of `sel` of an exported model for DeePMD-kit, for the log; empty if the neighbours of the data are not
/// known.
std::string about_sel(const DeepPotentialModel& model, const std::vector<int>& most);

}  // namespace cambium::deepmd
