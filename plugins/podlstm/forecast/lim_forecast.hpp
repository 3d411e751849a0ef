#pragma once
#include <memory>
#include <vector>

#include "core/deck/describe.hpp"
#include "plugins/podlstm/forecast/lim.hpp"
#include "plugins/podlstm/forecast/member.hpp"

namespace cambium::podlstm {

/// Networks trained on the residual of a LIM.
struct ResidualKeys {
  Genome genome = {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  std::int64_t networks = 5, batch = 64;
  int calendar = 1, epochs = 100;
  double rate = 3e-4, weight_decay = 1e-2;
  static void describe(deck::Describe<ResidualKeys>& d);
  MemberOptions member(const LimOptions& lim) const;
};

/// Number of training epochs and weight of the networks' correction, chosen by validation.
struct ResidualChoice {
  int epochs = 0;      ///< 0: the LIM only
  double share = 0.0;  ///< of the networks' mean correction
  double r2 = 0.0;     ///< of the validation windows
  Matrix forecast;     ///< of these windows, as in validation_windows()
};

/// A LIM corrected by networks: LIM + share * (networks - LIM). Without networks, the LIM.
class LimForecast : public Forecaster {
 public:
  LimForecast(const LimOptions& lim, Context& context) : lim_(lim), model_(lim), context_(context) {}
  LimForecast(const LimOptions& lim, const ResidualKeys& keys, const ResidualChoice& choice, Context& context)
      : lim_(lim), model_(lim), context_(context), keys_(keys), epochs_(choice.epochs), share_(choice.share) {}
  std::string name() const override;
  void fit(const FitData& data) override;
  Matrix predict(const Stretch& s, const std::vector<std::int64_t>& starts, const WindowShape& shape) const override;
  /// Returns the mean, and in `differences` the correction of each network minus their mean, in the series' unit; one
  /// zero matrix without networks.
  Matrix predict(const Stretch& s, const std::vector<std::int64_t>& starts, const WindowShape& shape,
                 std::vector<Matrix>& differences) const;
  const LinearInverseModel& model() const { return model_; }

 private:
  LimOptions lim_;
  LinearInverseModel model_;
  Context& context_;
  ResidualKeys keys_;
  int epochs_ = 0;
  double share_ = 0.0;
  std::vector<Member> networks_;
};

/// Collective: trains `keys.networks` networks on every split, scores their mean after each epoch, and selects the
/// epoch and weight with the lowest validation error, without any test years.
ResidualChoice choose_residual(const ResidualKeys& keys, const LimOptions& lim, const Stretch& s,
                               const std::vector<Split>& splits, const WindowShape& shape, Context& context);

}  // namespace cambium::podlstm
