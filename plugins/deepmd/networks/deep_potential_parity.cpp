// Labels of samples and the network's predictions, side by side.
#include "plugins/deepmd/networks/deep_potential.hpp"

namespace cambium::deepmd {

std::vector<io::ParityQuantity> DeepPotentialNetwork::parity_quantities() const {
  const std::vector<std::string> tensor = {"xx", "xy", "xz", "yx", "yy", "yz", "zx", "zy", "zz"};
  return {{"energy", "eV/atom", "energy per atom", {"sample"}, {}, {}, {}, {}},
          {"force", "eV/angstrom", "force on an atom", {"sample", "atom"}, {"x", "y", "z"}, {}, {}, {}},
          {"virial", "eV/atom", "virial per atom", {"sample"}, tensor, {}, {}, {}}};
}

void DeepPotentialNetwork::add_parity(std::span<const train::SamplePtr> samples, std::span<const TensorRef> weights,
                                      std::span<io::ParityQuantity> quantities) {
  auto &energy = quantities[0], &force = quantities[1], &virial = quantities[2];
  const auto labelled = frames(samples);
  const auto predicted = work_->predict(labelled, weights);
  for (std::size_t k = 0; k < samples.size(); ++k) {
    const TrainingFrame& frame = *labelled[k];
    const std::int64_t id = samples[k]->id;
    const double atoms = frame.atoms();
    if (frame.has_energy) {
      energy.place.push_back(id);
      energy.reference.push_back(frame.energy / atoms);
      energy.predicted.push_back(predicted[k].energy / atoms);
    }
    if (!frame.force.empty()) {
      for (std::int64_t i = 0; i < frame.atoms(); ++i) force.place.insert(force.place.end(), {id, i});
      force.reference.insert(force.reference.end(), frame.force.begin(), frame.force.end());
      force.predicted.insert(force.predicted.end(), predicted[k].force.begin(), predicted[k].force.end());
    }
    if (frame.virial.empty()) continue;
    virial.place.push_back(id);
    for (std::size_t q = 0; q < 9; ++q) {
      virial.reference.push_back(frame.virial[q] / atoms);
      virial.predicted.push_back(predicted[k].virial[q] / atoms);
    }
  }
}

}  // namespace cambium::deepmd
