#include "plugins/superres/convection/initial_state.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/base/constants.hpp"
#include "core/base/key_error.hpp"

#include "core/parallel/random.hpp"
#include "plugins/superres/convection/place_fields.hpp"
#include "plugins/superres/convection/rows.hpp"

namespace cambium::superres {

void InitialState::describe(deck::Describe<InitialState>& d) {
  d("profile", &InitialState::profile, "buoyancy without disturbance: linear from wall to wall, or zero")
      .options({{"conductive", Profile::conductive}, {"uniform", Profile::uniform}})
      .def(Profile::conductive);
  d("noise", &InitialState::noise, "standard deviation of the noise in b is this times z (1 - z)")
      .non_negative()
      .def(1e-3);
  d("amplitude", &InitialState::amplitude,
    "amplitude of a regular perturbation of b, sin(pi z) cos(2 pi (wavelengths x / width + wavelengths_y y / depth))")
      .def(0.0);
  d("wavelengths", &InitialState::wavelengths,
    "number of wavelengths of the regular perturbation in the width, less than half the cells along x")
      .at_least(0)
      .def(1);
  d("wavelengths_y", &InitialState::wavelengths_y,
    "number of its wavelengths in the depth of a three-dimensional layer; with 'wavelengths: 0' rolls lie along x")
      .at_least(0)
      .def(0);
  d("seed", &InitialState::seed, "seed of the noise; default: that of the run").at_least(0);
  d("file", &InitialState::file,
    "start from the last frame of these fields instead, at any resolution (output 'fields'); in three dimensions "
    "fields "
    "in two are taken for all y, with the noise");
}

namespace {

bool other_length(double length, double own) { return std::fabs(length / own - 1.0) > 1e-6; }

void require_width(const std::string& path, double width, const Grid& g) {
  if (other_length(width, g.lx))
    throw KeyError(
        "convection.initial.width", "initial.file",
        fmt::format("'{}' is {:g} wide and this run {:g}: start from fields of the same domain", path, width, g.lx));
}

/// Random deviate of b in a cell of row k, line `line` and column i.
double noise_of(const InitialState& initial, const Grid& g, int k, int line, int i, std::uint64_t seed) {
  const double z = g.center(k) / g.lz;
  const auto cell = static_cast<std::uint64_t>(k * std::int64_t{g.lines()} + line) * g.nx + i;
  return initial.noise * Random4(seed, Stream::initial_noise, cell, 0).normal(0) * z * (1.0 - z);
}

/// Without a disturbance, fields that are uniform along y stay uniform.
void add_noise(const InitialState& initial, Flow& flow, std::uint64_t seed) {
  const auto host = Kokkos::create_mirror_view(flow.fields);
  Kokkos::deep_copy(host, flow.fields);
  for (int row = 1; row <= flow.rows(); ++row)
    for (int line = 0; line < flow.layout.lines; ++line)
      for (int i = 0; i < flow.nx(); ++i)
        host(field_b, row, flow.layout.begin(line) + i) +=
            noise_of(initial, flow.slab.grid, flow.slab.first + row - 1, line, i, seed);
  Kokkos::deep_copy(flow.fields, host);
}

void set_from_volumes(const std::string& path, Flow& flow) {
  const Volumes data(path);
  const Grid& g = flow.slab.grid;
  require_width(path, data.period(0), g);
  if (other_length(data.period(1), g.ly))
    throw KeyError("convection.initial.depth", "initial.file",
                   fmt::format("'{}' is {:g} deep and this run {:g}: start from fields of the same domain", path,
                               data.period(1), g.ly));
  add_volumes(data, flow);
}

void set_from_file(const InitialState& initial, Flow& flow, std::uint64_t seed) {
  const Grid& g = flow.slab.grid;
  const std::string& path = *initial.file;
  Kokkos::deep_copy(flow.fields, 0.0);
  if (g.spatial() && Volumes::at(path)) return set_from_volumes(path, flow);
  const auto data = read_fields(path, {"p", "b", "u", "w"}, 1, g.periodic);
  if (!data.hidden.empty())
    throw KeyError(
        "convection.initial.mask", "initial.file",
        fmt::format("'{}' hides points under a mask, and this flow has no bodies: start from fields without a mask",
                    path));
  const double width = g.periodic ? data.period : data.axis[1].back() + data.axis[1].front();
  require_width(path, width, g);
  add_fields(data, flow);
  if (g.spatial()) add_noise(initial, flow, seed);
}

}  // namespace

void set_initial_state(const InitialState& initial, Flow& flow, std::uint64_t seed) {
  if (initial.seed) seed = static_cast<std::uint64_t>(*initial.seed);
  if (initial.file) return set_from_file(initial, flow, seed);
  const Grid& g = flow.slab.grid;
  const Fluid& fluid = flow.fluid;
  const auto host = Kokkos::create_mirror_view(flow.fields);
  Kokkos::deep_copy(host, 0.0);
  const int lines = g.lines();
  for (int line = 0; line < lines * flow.rows(); ++line) {
    const int row = 1 + line / lines, begin = flow.layout.begin(line % lines);
    const int k = flow.slab.first + row - 1;
    const double z = g.center(k) / g.lz, y = (line % lines + 0.5) / lines;
    for (int i = 0; i < g.nx; ++i) {
      const double x = (i + 0.5) / g.nx;
      double b = 0.0;
      if (initial.profile == InitialState::Profile::conductive)
        b = g.periodic ? fluid.bottom + (fluid.top - fluid.bottom) * z : fluid.left + (fluid.right - fluid.left) * x;
      b += noise_of(initial, g, k, line % lines, i, seed);
      double phase = 2.0 * constants::pi * initial.wavelengths * x;
      if (g.spatial()) phase += 2.0 * constants::pi * initial.wavelengths_y * y;
      b += initial.amplitude * std::sin(constants::pi * z) * std::cos(phase);
      host(field_b, row, begin + i) = b;
      for (int f = flow.first_scalar(); f <= flow.carried(); ++f) {
        const Scalar& s = flow.scalar(f);
        host(f, row, begin + i) = g.periodic ? s.bottom + (s.top - s.bottom) * z : s.left + (s.right - s.left) * x;
      }
    }
  }
  Kokkos::deep_copy(flow.fields, host);
}

}  // namespace cambium::superres
