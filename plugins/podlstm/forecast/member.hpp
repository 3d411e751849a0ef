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
///   raw: min-max scaled coefficients, as in the paper, for both;
///   anomalies: residuals of the annual harmonics, in units of their standard deviation, for both;
///   residual: anomalies as inputs; as outputs, residuals of the window's linear forecast (harmonics + ridge or LIM),
///   in
///     units of the coefficients' standard deviation. The head starts at zero, so an untrained network returns the
///     linear forecast.
enum class Inputs { raw, anomalies, residual };

struct MemberOptions {
  StackedLstm::Params network;
  Inputs inputs = Inputs::anomalies;
  int calendar = 0;          ///< harmonics of the year added to the features of each time
  int harmonics = 2;         ///< subtracted for anomalies
  double period = 365.2425;  ///< d
  int epochs = 20;
  std::int64_t batch = 64;
  double rate = 1e-3;                       ///< of Adam
  double weight_decay = 0.0;                ///< decoupled (AdamW)
  BaselineOptions linear;                   ///< of the forecast that defines residuals
  std::optional<LimOptions> inverse_model;  ///< residuals are relative to this LIM instead
};

/// Scaling of a series for a network and back, fitted to the available training times.
class Preparation {
 public:
  using Starts = std::vector<std::int64_t>;
  Preparation(const MemberOptions& options, const FitData& data);
  Preparation(const MemberOptions& options, const io::Group& group);  ///< from the output of write()
  void write(io::Group& group) const;

  Matrix features(const Stretch& s) const;  ///< (times, modes + 2 calendar)
  /// Target outputs of a network: (windows, future * modes).
  Matrix goals(const Stretch& s, const Starts& starts, const WindowShape& shape) const;
  /// Converts outputs to the series' unit, in place.
  void undo(Matrix& windows, const Stretch& s, const Starts& starts, const WindowShape& shape) const;
  /// The linear forecast that defines residuals; null for other inputs.
  const Forecaster* linear() const { return linear_.get(); }

 private:
  Matrix scaled(const Stretch& s) const;  ///< (times, modes)
  Matrix offset(const Stretch& s, const Starts& starts, const WindowShape& shape) const;
  MemberOptions options_;
  Matrix factors_;                            ///< of the harmonics; empty for raw inputs
  std::vector<double> shift_, scale_, unit_;  ///< of inputs; of outputs
  std::unique_ptr<Forecaster> linear_;
};

/// A forecasting network, trained on windows with the buffers, orders and optimizers of the training layer.
class Member : public Forecaster {
 public:
  Member(const MemberOptions& options, std::uint64_t seed, Context& context);
  ~Member() override;
  Member(Member&&) noexcept;
  std::string name() const override { return "network"; }
  /// start() and all epochs. NumericalError if the loss is not finite.
  void fit(const FitData& data) override;
  /// Prepares the data and initialises the weights; then train_epoch() and predict() may be called at any time.
  void start(const FitData& data);
  void train_epoch();
  Matrix predict(const Stretch& s, const std::vector<std::int64_t>& starts, const WindowShape& shape) const override;

  /// A trained member from its weights.
  void restore(std::shared_ptr<const Preparation> preparation, const WindowShape& shape, std::int64_t modes,
               std::span<const float> weights);
  std::vector<float> weights() const;  ///< concatenated tensors, in the network's order
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
