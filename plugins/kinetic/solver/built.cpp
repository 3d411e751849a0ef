#include "plugins/kinetic/solver/built.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace cambium::kinetic {

const Built& find_built(int cdim, int vdim, int order, bool tensor) {
  const std::string wanted = fmt::format("{}x{}v_p{}{}", cdim, vdim, order, tensor ? "_tensor" : "");
  std::string have, all;
  for (const auto& b : built()) {
    if (b.info.name == wanted) return b;
    have += (have.empty() ? "" : ", ") + b.info.name;
    all += b.info.name + ";";
  }
  if (vdim < cdim || vdim > 3)
    throw InputError(
        fmt::format("{} velocity dimensions with {} configuration dimensions: there must be at least as many velocity "
                    "dimensions, and at most 3",
                    vdim, cdim));
  throw InputError(fmt::format(
      "this build has no kernels for {} (it has {}); build them with cmake -DCAMBIUM_KINETIC_KERNELS=\"{}{}\"", wanted,
      have, all, wanted));
}

std::unique_ptr<Solver> make_solver(const Built& b, Precision precision, const PhaseGrid& grid, const Comm& comm) {
  return precision == Precision::float32 ? b.make_float(grid, comm) : b.make_double(grid, comm);
}

}  // namespace cambium::kinetic
