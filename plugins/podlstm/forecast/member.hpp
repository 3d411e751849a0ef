#pragma once
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/parallel/context.hpp"
#include "core/train/kinds/buffer.hpp"
#include "plugins/podlstm/forecast/lim.hpp"
#include "plugins/podlstm/networks/stacked_lstm.hpp"

namespace cambium::podlstm {

/// Inputs and outputs of a network:
///   raw: min-max scaled coefficients, as in the paper, both ways;
///   anomalies: what the harmonics of the year leave, in units of its standard deviation, both ways;
///   residual: anomalies in; out, what the linear forecast (harmonics + ridge, or a LIM) of the window leaves, in units
///   of the coefficients'
///     standard deviation. The head starts at zero, so an untrained network is the linear forecast.
enum class Inputs { raw, anomalies, residual };

struct MemberOptions {
  StackedLstm::Params network;
  Inputs inputs = Inputs::anomalies;
  int calendar = 0;          ///< harmonics of the year added to the features of each time
  int harmonics = 2;         ///< taken off for anomalies
  double period = 365.2425;  ///< d
  int epochs = 20;
  std::int64_t batch = 64;
  double rate = 1e-3;                       ///< of Adam
  double weight_decay = 0.0;                ///< decoupled (AdamW)
  BaselineOptions linear;                   ///< of the forecast that residuals are of
  std::optional<LimOptions> inverse_model;  ///< residuals are of this LIM instead
};

/// Scaling of a series for a network and back, learned from the times that may be looked at.
class Preparation {
 public:
  using Starts = std::vector<std::int64_t>;
  Preparation(const MemberOptions& options, const FitData& data);
  Preparation(const MemberOptions& options, const io::Group& group);  ///< as write() left it
  void write(io::Group& group) const;

  Matrix features(const Stretch& s) const;  ///< (times, modes + 2 calendar)
  /// Requested outputs of a network: (windows, future * modes).
  Matrix goals(const Stretch& s, const Starts& starts, const WindowShape& shape) const;
  /// Output, to the series' own unit, in place.
  void undo(Matrix& windows, const Stretch& s, const Starts& starts, const WindowShape& shape) const;
  /// The linear forecast that residuals are of; null for other inputs.
  const Forecaster* linear() const { return linear_.get(); }

 private:
  Matrix scaled(const Stretch& s) const;  ///< (times, modes)
  Matrix offset(const Stretch& s, const Starts& starts, const WindowShape& shape) const;
  MemberOptions options_;
  Matrix factors_;                            ///< of the harmonics; empty for raw inputs
  std::vector<double> shift_, scale_, unit_;  ///< of inputs; of outputs
  std::unique_ptr<Forecaster> linear_;
};

/// A network that forecasts, trained on windows by the shared training layer's buffers, orders and optimizers.
class Member : public Forecaster {
 public:
  Member(const MemberOptions& options, std::uint64_t seed, Context& context);
  ~Member() override;
  Member(Member&&) noexcept;
  std::string name() const override { return "network"; }
  /// start() and all epochs. NumericalError when the loss is not finite.
  void fit(const FitData& data) override;
  /// Prepares the data and draws the weights; train_epoch() may follow as often as wanted, predict() at any time.
  void start(const FitData& data);
  void train_epoch();
  Matrix predict(const Stretch& s, const std::vector<std::int64_t>& starts, const WindowShape& shape) const override;

  /// A trained member from its weights.
  void restore(std::shared_ptr<const Preparation> preparation, const WindowShape& shape, std::int64_t modes,
               std::span<const float> weights);
  std::vector<float> weights() const;  ///< one tensor after the other, in the network's order
  std::shared_ptr<const Preparation> preparation() const { return preparation_; }

 private:
  MemberOptions options_;
  std::uint64_t seed_;
  Context& context_;
  void build(const WindowShape& shape, std::int64_t modes);
  struct Training;
  std::shared_ptr<const Preparation> preparation_;
  std::unique_ptr<StackedLstm> network_;
  std::unique_ptr<train::FlatLayout> layout_;
  mutable train::FlatBuffer weights_;
  std::unique_ptr<Training> training_;
};

}  // namespace cambium::podlstm
