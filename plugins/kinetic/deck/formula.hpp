#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/base/log.hpp"
#include "core/deck/expression.hpp"

namespace cambium::kinetic {

/// A formula of a deck in the variables of phase space and the deck's own parameters. In addition to the functions of
/// core/deck/expression.hpp it supports maxwellian(v), maxwellian(v, u) and maxwellian(v, u, vt): the normal density of
/// one velocity component with mean u (default 0) and width vt (default 1). Units are normalised.
class Formula {
 public:
  Formula() = default;
  /// Throws deck::ExpressionError.
  Formula(const std::string& text, const std::vector<std::string>& variables,
          const std::map<std::string, double>& parameters);

  /// `variables` in the order given to the constructor.
  double operator()(std::span<const double> variables) const;
  const std::string& text() const { return text_; }
  bool empty() const { return text_.empty(); }

 private:
  std::string text_;
  deck::Expression expression_;
  std::size_t variables_ = 0;
  std::vector<double> parameters_;
};

/// Values of the deck's `parameters`; they may use each other, in any order. Throws deck::ExpressionError, and
/// InputError for circular definitions and for names of coordinates and constants.
std::map<std::string, double> values_of(const std::map<std::string, std::string>& parameters);
/// Warns where the formula of `what` uses parameters that hide `names`, the local densities and temperatures.
void warn_of_hidden(const std::string& text, const std::string& what, const std::vector<std::string>& names,
                    const std::map<std::string, double>& parameters, Log& log);
/// A formula without variables.
double constant(const std::string& text, const std::map<std::string, double>& parameters);
/// "x", "y", "z" as far as there are dimensions.
std::vector<std::string> conf_variables(int cdim);
/// The same and "t": only for formulas that are evaluated again as time goes on.
std::vector<std::string> conf_and_time_variables(int cdim);
/// "x", ..., "vx", ..., and "v" for vx where that is the only velocity.
std::vector<std::string> phase_variables(int cdim, int vdim);

}  // namespace cambium::kinetic
