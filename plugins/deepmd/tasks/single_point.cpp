#include "plugins/deepmd/tasks/single_point.hpp"

#include "core/particles/image_system.hpp"

namespace cambium::deepmd {

LabelledFrame single_point(Potential& potential, const Configuration& c, Context& context) {
  const auto box = c.periodic ? std::optional(c.box) : std::nullopt;
  ImageSystem system(c.x, c.types, box, c.species, potential.cutoff());
  ForceOutput out;
  out.f = View<double* [3]>("single point: forces", static_cast<std::size_t>(system.particles().total()));
  ForceRequest request;
  request.totals = true;
  potential.compute(system.particles(), system.list(), system, request, out, context);
  if (potential.writes_ghost_forces()) system.reverse_add(out.f);
  LabelledFrame frame;
  frame.x = c.x;
  frame.box = box;
  frame.axes = c.axes;
  frame.energy = out.energy;
  frame.virial.assign(out.virial, out.virial + 9);
  const auto f = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out.f);
  for (std::size_t i = 0; i < c.x.size(); ++i) frame.force.push_back({f(i, 0), f(i, 1), f(i, 2)});
  return frame;
}

}  // namespace cambium::deepmd
