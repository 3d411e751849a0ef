#include "plugins/submatrix/networks/level_model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/key_error.hpp"
#include "core/train/weights/artifact.hpp"
#include "plugins/submatrix/matrices/matrix_system.hpp"
#include "plugins/submatrix/networks/local_levels.hpp"

namespace cambium::submatrix {

namespace {

class LevelModel : public LevelPredictor {
 public:
  LevelModel(const std::string& path, double times, Context& context)
      : path_(path), model_(train::load_artifact(path, context)) {
    network_ = dynamic_cast<const LocalLevels*>(model_.network.get());
    if (!network_)
      throw KeyError(
          "density_matrix.prediction.type", "",
          fmt::format("prediction: '{}' holds a network of type '{}', not local_levels", path, model_.info.type));
    for (const auto& entry : model_.info.card)
      if (entry.name == "validation_band_energy") tolerance_ = times * entry.value / ev_per_hartree;
    if (!(tolerance_ > 0.0))
      throw KeyError(
          "density_matrix.prediction.error", "",
          fmt::format("prediction: '{}' was trained without held-out samples, so its error is unknown; give the "
                      "train stage 'validation' or 'hold_out'",
                      path));
  }
  int krylov_blocks() const override { return (network_->moments() + 2) / 2; }
  double tolerance() const override { return tolerance_; }

  LevelPrediction predict(const std::vector<Spectrum>& local, int functions, const Comm& comm) const override {
    if (functions != network_->functions())
      throw KeyError("density_matrix.prediction.blocks", "prediction.model",
                     fmt::format("prediction: '{}' was trained on blocks of {} functions, these have {}", path_,
                                 network_->functions(), functions));
    std::vector<double> moments;
    for (const auto& spectrum : local)
      add_moments(spectrum, network_->window(), functions, network_->moments(), moments);
    LevelPrediction out;
    double sums[3] = {0.0, 0.0, static_cast<double>(local.size())};
    out.energy = network_->predict(moments, model_.weights.views(), sums);
    comm.sum(sums);
    // Sums depend on the number of ranks in their last digits; what follows must not.
    const auto mean = [&](double sum) { return std::round(sum / sums[2] * 1e9) * 1e-9; };
    out.homo = mean(sums[0]);
    out.lumo = mean(sums[1]);
    return out;
  }

 private:
  std::string path_;
  mutable train::LoadedModel model_;
  const LocalLevels* network_ = nullptr;
  double tolerance_ = 0.0;
};

}  // namespace

std::shared_ptr<const LevelPredictor> load_level_model(const std::string& path, double times, Context& context) {
  return std::make_shared<LevelModel>(path, times, context);
}

}  // namespace cambium::submatrix
