#pragma once
#include <string>
#include <vector>

#include "plugins/podlstm/forecast/member.hpp"
#include "plugins/podlstm/forecast/table.hpp"

namespace cambium::podlstm {

/// Trained networks as a search leaves them in ensemble.h5: what they share, and each one's genome and weights.
struct EnsembleFile {
  struct Network {
    Genome genome;
    std::vector<float> weights;  ///< one tensor after the other, in the network's order
  };
  MemberOptions options;
  WindowShape shape;
  std::int64_t modes = 0;
  double linear_share = 0.0;  ///< of harmonics + ridge in the forecast
  std::vector<Network> networks;
};

/// Into ensemble.h5 of the run directory. `linear` is harmonics + ridge, fitted.
void write_ensemble(const EnsembleFile& file, const Preparation& preparation, const Forecaster& linear,
                    Context& context);

/// The mean of stored networks, beside a share of harmonics + ridge. fit() does nothing: they are trained.
class Ensemble : public Forecaster {
 public:
  /// Collective. InputError when the file is none, or made for windows or modes other than these.
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
