#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "core/parallel/context.hpp"
#include "core/train/flat/buffer.hpp"
#include "plugins/podlstm/forecast/forecaster.hpp"
#include "plugins/podlstm/network/stacked_lstm.hpp"

namespace cambium::podlstm {

/// What a network is given: min-max scaled coefficients, as in the paper, or what the harmonics of the year leave, in units of its
/// standard deviation.
enum class Inputs { raw, anomalies };

struct MemberOptions {
  StackedLstm::Params network;
  Inputs inputs = Inputs::anomalies;
  int calendar = 0;            ///< harmonics of the year added to the features of each time
  int harmonics = 2;           ///< taken off for anomalies
  double period = 365.2425;    ///< d
  int epochs = 20;
  std::int64_t batch = 64;
  double rate = 1e-3;          ///< of Adam
  double weight_decay = 0.0;   ///< decoupled (AdamW)
};

/// Scaling of a series for a network and back; learned from the first `rows` times.
class Preparation {
 public:
  Preparation(const MemberOptions& options, const Stretch& s, std::int64_t rows);
  Matrix outputs(const Stretch& s) const;   ///< (times, modes)
  Matrix features(const Stretch& s) const;  ///< (times, modes + 2 calendar)
  /// Forecasts (windows, future * modes) to the series' own unit, in place.
  void undo(Matrix& windows, const Stretch& s, const std::vector<std::int64_t>& starts, const WindowShape& shape) const;

 private:
  MemberOptions options_;
  Matrix factors_;                    ///< of the harmonics; empty for raw inputs
  std::vector<double> shift_, scale_;
};

/// A network that forecasts, trained on windows by the shared training layer's buffers, orders and optimizers.
class Member : public Forecaster {
 public:
  /// Called after each epoch with its number from 1; false ends the training.
  using AfterEpoch = std::function<bool(int epoch, Member&)>;

  Member(const MemberOptions& options, std::uint64_t seed, Context& context) : options_(options), seed_(seed), context_(context) {}
  std::string name() const override { return "network"; }
  void fit(const FitData& data) override { train(data, {}); }
  /// NumericalError when the loss is not finite.
  void train(const FitData& data, const AfterEpoch& after);
  Matrix predict(const Stretch& s, const std::vector<std::int64_t>& starts, const WindowShape& shape) const override;
  std::int64_t parameters() const { return layout_->parameters(); }

 private:
  MemberOptions options_;
  std::uint64_t seed_;
  Context& context_;
  std::unique_ptr<Preparation> preparation_;
  std::unique_ptr<StackedLstm> network_;
  std::unique_ptr<train::FlatLayout> layout_;
  mutable train::FlatBuffer weights_;
};

}  // namespace cambium::podlstm
