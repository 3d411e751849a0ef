#include "plugins/kinetic/edges/cell_rate.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/error.hpp"
#include "core/deck/about_key.hpp"

namespace cambium::kinetic {

CellRate::CellRate(const std::string& text, const std::string& key, std::string what, const ConfGrid& conf,
                   const std::vector<std::string>& names, const std::map<std::string, double>& parameters)
    : key_(key), what_(std::move(what)), conf_(conf) {
  std::vector<std::string> variables = conf_variables(conf.dimensions);
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (parameters.count(names[k])) continue;  // the deck's own
    variables.push_back(names[k]);
    used_.push_back(k);
  }
  deck::about_key("kinetic.formula", key, [&] { formula_ = Formula(text, variables, parameters); });
}

std::vector<double> CellRate::operator()(const std::vector<std::vector<double>>& known) const {
  std::vector<double> out(conf_.count()), at;
  for (int cell = 0; cell < conf_.count(); ++cell) {
    at.assign(conf_.dimensions, 0.0);
    const auto place = conf_.place(cell);
    for (int d = 0; d < conf_.dimensions; ++d) at[d] = conf_.lower[d] + (place[d] + 0.5) * conf_.width[d];
    for (std::size_t k : used_) at.push_back(known[k][cell]);
    out[cell] = formula_(at);
    if (!(out[cell] >= 0.0) || !std::isfinite(out[cell]))
      throw NumericalError(fmt::format(
          "{} is {:g} at x = {:g}; it cannot be negative; fix the formula of '{}', for example by max(0, ...)", what_,
          out[cell], at[0], key_));
  }
  return out;
}

}  // namespace cambium::kinetic
