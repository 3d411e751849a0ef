#include "plugins/md/pace/pace_model.hpp"

#include <algorithm>

#include "core/particles/elements.hpp"
#include "plugins/md/pace/pace_shapes.hpp"

namespace cambium::md {

PaceModel::PaceModel(PaceFile read) : file(std::move(read)), row_(((file.l_max + 1) * (file.l_max + 1) + 7) / 8 * 8) {
  using Shapes = PaceShapes<Pack<double, 1>>;
  for (int type = 0; type < file.types(); ++type) {
    products.push_back(pace_products(file, type));
    charges.push_back(atomic_number(file.symbols[type]));
    for (int other = 0; other < file.types(); ++other) {
      const auto& bond = file.bond(type, other);
      const int basis = bond.basis_size;
      auto& table = tables_.emplace_back(bond.functions * basis * row_, 0.0);
      for (int n = 0; n < bond.functions; ++n)
        for (int l = 0; l <= bond.l_max; ++l)
          for (int k = 0; k < basis; ++k) {
            const double c = bond.coefficients[(n * (bond.l_max + 1) + l) * basis + k];
            double* row = table.data() + (n * basis + k) * row_;
            for (int m = 0; m <= l; ++m) {
              row[Shapes::real(l, m)] = c * Shapes::norm(l, m);
              if (m > 0) row[Shapes::imaginary(l, m)] = c * Shapes::norm(l, m);
            }
          }
      basis_.push_back(basis);
      for (const auto& one : products.back().linear)
        if (one.type == other) basis_.back() = std::max(basis_.back(), one.n + 1);
    }
  }
}

}  // namespace cambium::md
