#pragma once
#include <cstdint>
#include <optional>

#include "core/deck/describe.hpp"

namespace cambium::train {

/// Weights of the other samples of a batch in a contrastive loss (Wei et al., FastCLIP, arXiv 2407.01445).
enum class ContrastiveScheme { infonce, v0, v1, v2, v3 };

/// Fraction of an estimate that a step replaces: 1 in the first epoch, then `least`, or half-cosine decay to it.
struct InnerRateKeys {
  enum class Form { constant, cosine };
  Form form = Form::cosine;
  double least = 0.2;
  double epochs = 10.0;  ///< length of the cosine decay
  static void describe(deck::Describe<InnerRateKeys>& d);
  /// Value in an epoch, counted from 0.
  double at(std::int64_t epoch) const;
};

struct TemperatureKeys {
  std::optional<double> start;  ///< none: 0.07, and 0.03 with v2
  /// Learning rate of temperatures. v2: of a sample's own temperature; infonce, v0, v3: factor of the network's
  /// learning rate. None: 0.0133 with v2, 0.2 with v0 and v3, else 0.
  std::optional<double> rate;
  double least = 0.01, most = 1.0;
  static void describe(deck::Describe<TemperatureKeys>& d);
};

struct ContrastiveKeys {
  ContrastiveScheme scheme = ContrastiveScheme::v3;
  InnerRateKeys inner_rate;
  TemperatureKeys temperature;
  std::optional<double> rho;  ///< none: 6.5, and 7 with v2
  double epsilon = 1e-14;
  static void describe(deck::Describe<ContrastiveKeys>& d);

  // With the defaults of the scheme.
  double first_temperature() const;
  double temperature_rate() const;
  double rho_or_default() const;
  bool keeps_estimates() const { return scheme != ContrastiveScheme::infonce; }
  /// True if one temperature for all samples is learnt with the weights.
  bool learns_one_temperature() const { return scheme != ContrastiveScheme::v2 && temperature_rate() > 0.0; }
};

}  // namespace cambium::train
