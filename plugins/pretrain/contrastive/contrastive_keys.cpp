#include "plugins/pretrain/contrastive/contrastive_keys.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/constants.hpp"

namespace cambium::train {

void InnerRateKeys::describe(deck::Describe<InnerRateKeys>& d) {
  d("form", &InnerRateKeys::form, "constant after the first epoch, or falling along half a cosine")
      .options({{"constant", Form::constant}, {"cosine", Form::cosine}})
      .def(Form::cosine);
  d("min", &InnerRateKeys::least, "final fraction of an estimate that a step replaces; 1 in the first epoch")
      .formerly("least")
      .greater_than(0.0)
      .at_most(1.0)
      .def(0.2);
  d("epochs", &InnerRateKeys::epochs, "number of epochs of the cosine schedule; half of all epochs is usual")
      .positive()
      .def(10.0);
}

double InnerRateKeys::at(std::int64_t epoch) const {
  if (epoch == 0) return 1.0;
  if (form == Form::constant || static_cast<double>(epoch) >= epochs) return least;
  return 0.5 * (1.0 + std::cos(constants::pi * static_cast<double>(epoch) / epochs)) * (1.0 - least) + least;
}

void TemperatureKeys::describe(deck::Describe<TemperatureKeys>& d) {
  d("start", &TemperatureKeys::start, "first temperature; 0.07 when absent, 0.03 with scheme v2").positive();
  d("rate", &TemperatureKeys::rate,
    "learning rate of the temperature: v2: step of each sample's own; others: factor on the learning rate of the "
    "weights (of Adam's kind); 0: constant; default: 0.0133 with v2, 0.2 with v0 and v3, 0 with infonce and v1")
      .non_negative();
  d("min", &TemperatureKeys::least, "bound from below").formerly("least").positive().def(0.01);
  d("max", &TemperatureKeys::most, "bound from above").formerly("most").positive().def(1.0);
}

void ContrastiveKeys::describe(deck::Describe<ContrastiveKeys>& d) {
  using S = ContrastiveScheme;
  d("scheme", &ContrastiveKeys::scheme,
    "contrastive loss: infonce, negatives of the mini-batch only; v0 to v3, moving estimates for each sample "
    "compensate for a small batch: v0, logarithm without the leading temperature; v1, constant temperature; v2, one "
    "temperature per sample; v3, one learnt temperature")
      .options({{"infonce", S::infonce}, {"v0", S::v0}, {"v1", S::v1}, {"v2", S::v2}, {"v3", S::v3}})
      .def(S::v3);
  d("inner_rate", &ContrastiveKeys::inner_rate, "fraction of the estimates that a step replaces (v0 to v3)");
  d("temperature", &ContrastiveKeys::temperature, "temperature that similarities are divided by");
  d("rho", &ContrastiveKeys::rho, "price of a high temperature (v2, v3); 6.5 when absent, 7 with v2").non_negative();
  d("epsilon", &ContrastiveKeys::epsilon, "added to estimates before they divide").positive().def(1e-14);
  d.check([](const ContrastiveKeys& keys) -> std::string {
    const auto& t = keys.temperature;
    if (t.least > t.most)
      return fmt::format("temperature.min ({:g}) must not be greater than temperature.max ({:g})", t.least, t.most);
    if (keys.first_temperature() < t.least || keys.first_temperature() > t.most)
      return fmt::format("temperature.start ({:g}) must be between min ({:g}) and max ({:g})", keys.first_temperature(),
                         t.least, t.most);
    if (keys.scheme == S::v1 && t.rate.value_or(0.0) > 0.0)
      return "scheme v1 has a constant temperature, but temperature.rate is not 0; take v3, or remove rate";
    return "";
  });
}

double ContrastiveKeys::first_temperature() const {
  return temperature.start.value_or(scheme == ContrastiveScheme::v2 ? 0.03 : 0.07);
}

double ContrastiveKeys::temperature_rate() const {
  using S = ContrastiveScheme;
  if (temperature.rate) return *temperature.rate;
  return scheme == S::v2 ? 0.0133 : scheme == S::v0 || scheme == S::v3 ? 0.2 : 0.0;
}

double ContrastiveKeys::rho_or_default() const { return rho.value_or(scheme == ContrastiveScheme::v2 ? 7.0 : 6.5); }

}  // namespace cambium::train
