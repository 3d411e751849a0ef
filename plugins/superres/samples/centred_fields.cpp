#include "plugins/superres/samples/centred_fields.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/io/gather.hpp"

namespace cambium::superres {
namespace {

const FieldSpec& field_of(const State& state, const char* name) {
  if (const auto* field = state.find(name)) return *field;
  throw InputError(
      fmt::format("this output needs the fields u, w, b and p on a grid, and '{}' is missing; use it with the physics "
                  "rayleigh_benard or cavity",
                  name));
}

/// Rows (z, x) of all ranks, on rank 0.
std::vector<double> gathered(const State& state, const char* name, const Comm& comm) {
  std::vector<double> all;
  io::gather_rows(comm, field_of(state, name).tensor(), [&](std::int64_t, const TensorRef& piece) {
    const auto* values = static_cast<const double*>(piece.data);
    all.insert(all.end(), values, values + piece.elements());
  });
  return all;
}

std::vector<double> centres(const std::vector<double>& faces) {
  std::vector<double> out;
  for (std::size_t k = 0; k + 1 < faces.size(); ++k) out.push_back(0.5 * (faces[k] + faces[k + 1]));
  return out;
}

/// One that the flow carries besides b: at centres, in checkpoints, and none of the four.
bool is_scalar(const FieldSpec& field) {
  const auto& names = CentredFields::names;
  return field.at == At::cell && field.restart && std::find(names.begin(), names.end(), field.name) == names.end();
}

}  // namespace

void remove_mean(std::span<double> p, std::span<const double> faces, std::size_t nx) {
  double mean = 0.0;
  const std::size_t nz = faces.size() - 1;
  for (std::size_t i = 0; i < nx; ++i)
    for (std::size_t k = 0; k < nz; ++k) mean += p[i * nz + k] * (faces[k + 1] - faces[k]);
  mean /= static_cast<double>(nx) * (faces.back() - faces.front());
  for (double& value : p) value -= mean;
}

std::vector<double> global_values(const State& state, const char* name) {
  const io::OnHost host(field_of(state, name).tensor());
  const auto* values = static_cast<const double*>(host.tensor().data);
  return {values, values + host.tensor().elements()};
}

CentredFields centred_fields(const State& state, const Comm& comm) {
  const auto x = global_values(state, "x_faces"), z = global_values(state, "z_faces");
  const bool periodic = global_values(state, "periodic").at(0) != 0.0;
  const std::size_t nx = x.size() - 1, nz = z.size() - 1;
  CentredFields out;
  out.x = centres(x);
  out.z = centres(z);
  for (std::size_t f = 0; f < out.names.size(); ++f) {
    const auto rows = gathered(state, out.names[f], comm);
    if (!comm.root()) continue;
    auto at = [&](std::size_t k, std::size_t i) { return rows[k * nx + i]; };
    out.values[f].resize(nx * nz);
    for (std::size_t i = 0; i < nx; ++i)
      for (std::size_t k = 0; k < nz; ++k) {
        double value = at(k, i);
        if (f == 2) value = 0.5 * (value + (i + 1 < nx ? at(k, i + 1) : periodic ? at(k, 0) : 0.0));
        if (f == 3) value = 0.5 * (value + (k + 1 < nz ? at(k + 1, i) : 0.0));
        out.values[f][i * nz + k] = value;
      }
    if (f == 0) remove_mean(out.values[0], z, nx);
  }
  return out;
}

GridFields grid_fields_of(const State& state, const Comm& comm) {
  const CentredFields all = centred_fields(state, comm);
  GridFields out;
  out.axes = {{"x", global_values(state, "x_faces")}, {"z", global_values(state, "z_faces")}};
  out.fields = {{"p", "", 1, {}}, {"b", "", 1, {}}, {"velocity", "", 3, {}}};
  for (const FieldSpec& field : state.fields())
    if (is_scalar(field)) out.fields.push_back({field.name, field.unit, 1, gathered(state, field.name.c_str(), comm)});
  if (!comm.root()) return out;
  const std::size_t nx = all.x.size(), nz = all.z.size();
  for (std::size_t k = 0; k < nz; ++k)
    for (std::size_t i = 0; i < nx; ++i) {
      const std::size_t here = i * nz + k;
      out.fields[0].values.push_back(all.values[0][here]);
      out.fields[1].values.push_back(all.values[1][here]);
      for (double v : {all.values[2][here], all.values[3][here], 0.0}) out.fields[2].values.push_back(v);
    }
  return out;
}

}  // namespace cambium::superres
