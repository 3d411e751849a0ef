#include "plugins/deepmd/md/committee.hpp"

#include "plugins/deepmd/potentials/sum.hpp"

namespace cambium::deepmd {

DeepPotential* find_committee(Potential& potential) {
  if (auto* model = dynamic_cast<DeepPotential*>(&potential)) return model->is_committee() ? model : nullptr;
  if (auto* sum = dynamic_cast<Sum*>(&potential))
    for (const auto& term : sum->terms())
      if (DeepPotential* found = find_committee(*term)) return found;
  return nullptr;
}

}  // namespace cambium::deepmd
