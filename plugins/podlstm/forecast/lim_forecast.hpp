#pragma once
#include <memory>
#include <vector>

#include "core/deck/describe.hpp"
#include "plugins/podlstm/forecast/lim.hpp"
#include "plugins/podlstm/forecast/member.hpp"

namespace cambium::podlstm {

/// Networks that learn what a LIM leaves.
struct ResidualKeys {
  Genome genome = {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  std::int64_t networks = 5, batch = 64;
  int calendar = 1, epochs = 100;
  double rate = 3e-4, weight_decay = 1e-2;
  static void describe(deck::Describe<ResidualKeys>& d);
  MemberOptions member(const LimOptions& lim) const;
};

/// How long networks are trained and which share of their correction is used, chosen by validation.
struct ResidualChoice {
  int epochs = 0;      ///< 0: the LIM alone
  double share = 0.0;  ///< of the networks' mean correction
  double r2 = 0.0;     ///< of the windows left out
  Matrix forecast;     ///< of these windows, as in validation_windows()
};

/// A LIM, and networks that correct it: LIM + share * (networks - LIM). Without networks the LIM.
class LimForecast : public Forecaster {
 public:
  LimForecast(const LimOptions& lim, Context& context) : lim_(lim), model_(lim), context_(context) {}
  LimForecast(const LimOptions& lim, const ResidualKeys& keys, const ResidualChoice& choice, Context& context)
      : lim_(lim), model_(lim), context_(context), keys_(keys), epochs_(choice.epochs), share_(choice.share) {}
  std::string name() const override;
  void fit(const FitData& data) override;
  Matrix predict(const Stretch& s, const std::vector<std::int64_t>& starts, const WindowShape& shape) const override;
  /// The mean, and the correction of each network less that of their mean, in the series' unit; one matrix of zeros
  /// without networks.
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

/// Collective: trains `keys.networks` networks on every split, scores their mean after each epoch, and takes the epoch
/// and the share of least validation error. No test year is looked at.
ResidualChoice choose_residual(const ResidualKeys& keys, const LimOptions& lim, const Stretch& s,
                               const std::vector<Split>& splits, const WindowShape& shape, Context& context);

}  // namespace cambium::podlstm
