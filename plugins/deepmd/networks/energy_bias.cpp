#include "plugins/deepmd/networks/energy_bias.hpp"

#include <cmath>

#include "core/parallel/agree.hpp"
#include "core/train/kinds/buffer.hpp"
#include "plugins/deepmd/datasets/statistics.hpp"
#include "plugins/deepmd/training/model_pass.hpp"
#include "plugins/deepmd/training/parameters.hpp"

namespace cambium::deepmd {

namespace {

/// Energies of one model, in float64, without forces.
class Energies {
 public:
  Energies(const DeepPotentialModel& model, double interpolation)
      : model_(model), layout_(parameters_of(model), 1 << 24), weights_(layout_, DType::f64),
        pass_(model, interpolation) {
    copy_weights<double>(model, weights_.views());
    bound_ = bind_weights<double>(model, weights_.views());
  }
  double of(const FramePtr& frame) {
    batch_.assign(std::span(&frame, 1), model_.ntypes());
    pass_.embed(batch_, bound_);
    for (int t = 0; t < model_.ntypes(); ++t) pass_.fit(batch_, bound_.fitting_of(t), t);
    return pass_.energy(0);
  }

 private:
  const DeepPotentialModel& model_;
  train::FlatLayout layout_;
  train::FlatBuffer weights_;
  ModelPass<double> pass_;
  AllWeights<double> bound_;
  Batch batch_;
};

}  // namespace

BiasChange bias_change(const DeepPotentialModel& model, std::int64_t count,
                       const std::function<FramePtr(std::int64_t)>& frame, double interpolation, const Comm& comm) {
  const auto types = static_cast<std::size_t>(model.ntypes()), row = types + 2;
  std::vector<double> table(static_cast<std::size_t>(count) * row,
                            0.0);  // of each frame: atoms by type, label - energy, 1 if labelled
  io::on_every_rank(comm, [&] {
    Energies energies(model, interpolation);
    for (std::int64_t k = comm.rank(); k < count; k += comm.size()) {
      const FramePtr f = frame(k);
      if (!f->has_energy) continue;
      double* out = &table[static_cast<std::size_t>(k) * row];
      for (int t : f->type) out[t] += 1.0;
      out[types] = f->energy - energies.of(f);
      out[types + 1] = 1.0;
    }
  });
  comm.sum(table);

  std::vector<std::vector<double>> counts;
  std::vector<double> errors;
  BiasChange out;
  out.present.assign(types, 0);
  for (std::size_t at = 0; at < table.size(); at += row) {
    if (table[at + types + 1] == 0.0) continue;
    counts.emplace_back(&table[at], &table[at] + types);
    errors.push_back(table[at + types]);
    for (std::size_t t = 0; t < types; ++t)
      if (counts.back()[t] > 0.0) out.present[t] = 1;
  }
  out.frames = std::ssize(errors);
  out.shift = least_squares(counts, errors);
  out.shift.resize(types, 0.0);
  for (std::size_t f = 0; f < errors.size(); ++f) {
    double atoms = 0.0, shift = 0.0;
    for (std::size_t t = 0; t < types; ++t) {
      atoms += counts[f][t];
      shift += counts[f][t] * out.shift[t];
    }
    const double n = static_cast<double>(out.frames);
    out.before += std::pow(errors[f] / atoms, 2) / n;
    out.after += std::pow((errors[f] - shift) / atoms, 2) / n;
  }
  out.before = std::sqrt(out.before);
  out.after = std::sqrt(out.after);
  return out;
}

}  // namespace cambium::deepmd
