#pragma once
#include <string>
#include <vector>

#include "plugins/podlstm/forecast/member.hpp"
#include "plugins/podlstm/forecast/table.hpp"

namespace cambium::podlstm {

/// Trained networks in ensemble.h5, as written by a search: common settings, and each one's genome and weights.
struct EnsembleFile {
  struct Network {
    Genome genome;
    std::vector<float> weights;  ///< concatenated tensors, in the network's order
  };
  MemberOptions options;
  WindowShape shape;
  std::int64_t modes = 0;
  double linear_share = 0.0;  ///< weight of harmonics + ridge in the forecast
  std::vector<Network> networks;
};

/// Writes ensemble.h5 to the run directory. `linear` is harmonics + ridge, fitted.
void write_ensemble(const EnsembleFile& file, const Preparation& preparation, const Forecaster& linear,
                    Context& context);

/// Mean of stored networks, mixed with harmonics + ridge. fit() does nothing: they are already trained.
class Ensemble : public Forecaster {
 public:
  /// Collective. InputError if the file is not an ensemble, or has other windows or modes.
  Ensemble(const std::string& path, const WindowShape& shape, std::int64_t modes, Context& context);
  std::string name() const override;
  void fit(const FitData&) override {}
  Matrix predict(const Stretch& s, const std::vector<std::int64_t>& starts, const WindowShape& shape) const override;
  /// The same, and the standard deviation over the networks.
  Matrix predict(const Stretch& s, const std::vector<std::int64_t>& starts, const WindowShape& shape,
                 Matrix& spread) const;

 private:
  double linear_share_ = 0.0;
  std::vector<Member> members_;
  std::unique_ptr<Forecaster> linear_;
};

}  // namespace cambium::podlstm
