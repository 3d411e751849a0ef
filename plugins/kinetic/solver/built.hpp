#pragma once
#include <utility>

#include "plugins/kinetic/solver/solver.hpp"

namespace cambium::kinetic {

/// BasisInfo of a generated configuration.
template <class B>
BasisInfo info_of() {
  BasisInfo i;
  i.name = B::name;
  i.cdim = B::cdim;
  i.vdim = B::vdim;
  i.order = B::order;
  i.modes = B::modes;
  i.conf = B::conf;
  i.tensor = B::tensor;
  i.multiplications = B::multiplications;
  i.additions = B::additions;
  i.nonzeros = B::nonzeros;
  for (int k = 0; k < B::modes; ++k)
    for (auto& e = i.exponents.emplace_back(); static_cast<int>(e.size()) < B::cdim + B::vdim;)
      e.push_back(B::exponents(k, static_cast<int>(e.size())));
  for (int k = 0; k < B::conf; ++k)
    for (auto& e = i.conf_exponents.emplace_back(); static_cast<int>(e.size()) < B::cdim;)
      e.push_back(B::conf_exponents(k, static_cast<int>(e.size())));
  return i;
}

template <class B, class Make>
Built describe(Make make_double, Make make_float) {
  return {info_of<B>(), make_double, make_float};
}

}  // namespace cambium::kinetic
