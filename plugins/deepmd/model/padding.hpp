#pragma once
#include "plugins/deepmd/model/embedding_net.hpp"
#include "plugins/deepmd/model/table.hpp"

namespace cambium::deepmd {

/// c_t = G(R_0) R^T for the environment row R = -mean/deviation of an empty neighbour slot, by neighbour type t, for
/// one centre type: [t][pack][component][lane]. G has the same source as for pairs, so that a neighbour at the cut-off
/// contributes exactly as much as an empty slot.
template <class T>
View<T**> padding_of_tables(const DeepPotentialModel& model, const TableSet<T>& tables, int centre);
template <class T>
View<T**> padding_of_networks(const DeepPotentialModel& model, const std::vector<EmbeddingNet<T>>& nets,
                              typename EmbeddingNet<T>::Workspace& work, int centre);

}  // namespace cambium::deepmd
