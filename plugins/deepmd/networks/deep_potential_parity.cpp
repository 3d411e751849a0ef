// Labels of samples and the network's predictions, side by side.
#include "plugins/deepmd/networks/deep_potential.hpp"

namespace cambium::deepmd {

std::vector<io::ParityQuantity> DeepPotentialNetwork::parity_quantities() const {
  const std::vector<std::string> tensor = {"xx", "xy", "xz", "yx", "yy", "yz", "zx", "zy", "zz"};
  return {{"energy", "eV/atom", "energy per atom", {"sample"}, {}, {}, {}, {}},
          {"force", "eV/angstrom", "force on an atom", {"sample", "atom"}, {"x", "y", "z"}, {}, {}, {}},
          {"virial", "eV/atom", "virial per atom", {"sample"}, tensor, {}, {}, {}}};
}

/// Appends forces or tensors, `width` values each, in the axes in which the data were given.
static void append_given(std::vector<double>& to, std::span<const double> from, std::size_t width, double factor,
                         const GivenAxes& axes) {
  for (std::size_t k = 0; k + width <= from.size(); k += width) {
    const auto put = [&](const auto& numbers) {
      for (const double x : numbers) to.push_back(factor * x);
    };
    if (width == 3)
      put(axes.vector(&from[k]));
    else
      put(axes.tensor(&from[k]));
  }
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
      append_given(force.reference, frame.force, 3, 1.0, frame.axes);
      append_given(force.predicted, predicted[k].force, 3, 1.0, frame.axes);
    }
    if (frame.virial.empty()) continue;
    virial.place.push_back(id);
    append_given(virial.reference, frame.virial, 9, 1.0 / atoms, frame.axes);
    append_given(virial.predicted, predicted[k].virial, 9, 1.0 / atoms, frame.axes);
  }
}

}  // namespace cambium::deepmd
