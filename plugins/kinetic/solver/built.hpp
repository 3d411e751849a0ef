#pragma once
#include <utility>

#include "plugins/kinetic/solver/solver.hpp"

namespace cambium::kinetic {

/// BasisInfo of a generated configuration.
template <class B>
BasisInfo info_of() {
  BasisInfo i;
  i.name = B::name;
  i.cdim = B::cdim, i.vdim = B::vdim, i.order = B::order, i.modes = B::modes, i.conf = B::conf, i.tensor = B::tensor;
  i.multiplications = B::multiplications, i.additions = B::additions, i.nonzeros = B::nonzeros;
  for (const auto& e : B::exponents) i.exponents.emplace_back(std::begin(e), std::end(e));
  for (const auto& e : B::conf_exponents) i.conf_exponents.emplace_back(std::begin(e), std::end(e));
  return i;
}

template <class B, class Make>
Built describe(Make make_double, Make make_float) {
  return {info_of<B>(), make_double, make_float};
}

}  // namespace cambium::kinetic
