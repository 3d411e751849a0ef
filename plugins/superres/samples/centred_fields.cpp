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

/// Gathers rows (z, x) or (z, y, x) of all ranks on rank 0.
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

/// True for a scalar other than b: at centres, in checkpoints, and not the velocity, b or p.
bool is_scalar(const FieldSpec& field) {
  const auto names = centred_names(true);
  return field.at == At::cell && field.restart && std::find(names.begin(), names.end(), field.name) == names.end();
}

}  // namespace

void remove_mean(std::span<double> p, std::span<const double> faces, std::size_t columns) {
  double mean = 0.0;
  const std::size_t nz = faces.size() - 1;
  for (std::size_t i = 0; i < columns; ++i)
    for (std::size_t k = 0; k < nz; ++k) mean += p[i * nz + k] * (faces[k + 1] - faces[k]);
  mean /= static_cast<double>(columns) * (faces.back() - faces.front());
  for (double& value : p) value -= mean;
}

std::vector<double> global_values(const State& state, const char* name) {
  const io::OnHost host(field_of(state, name).tensor());
  const auto* values = static_cast<const double*>(host.tensor().data);
  return {values, values + host.tensor().elements()};
}

std::vector<std::string> centred_names(bool spatial) {
  if (spatial) return {"p", "b", "u", "v", "w"};
  return {"p", "b", "u", "w"};
}

bool is_spatial(const State& state) { return state.find("y_faces") != nullptr; }

std::vector<std::string> CentredFields::axes() const {
  if (y.empty()) return {"x", "z"};
  return {"x", "y", "z"};
}

std::vector<std::int64_t> CentredFields::shape() const {
  if (y.empty()) return {std::ssize(x), std::ssize(z)};
  return {std::ssize(x), std::ssize(y), std::ssize(z)};
}

CentredFields centred_fields(const State& state, const Comm& comm) {
  const auto x = global_values(state, "x_faces"), z = global_values(state, "z_faces");
  const bool periodic = global_values(state, "periodic").at(0) != 0.0;
  CentredFields out;
  out.names = centred_names(is_spatial(state));
  out.values.resize(out.names.size());
  out.x = centres(x);
  if (is_spatial(state)) out.y = centres(global_values(state, "y_faces"));
  out.z = centres(z);
  const std::size_t nx = out.x.size(), ny = std::max<std::size_t>(1, out.y.size()), nz = out.z.size();
  for (std::size_t f = 0; f < out.names.size(); ++f) {
    const auto rows = gathered(state, out.names[f].c_str(), comm);
    if (!comm.root()) continue;
    const char name = out.names[f][0];
    auto at = [&](std::size_t k, std::size_t j, std::size_t i) { return rows[(k * ny + j) * nx + i]; };
    out.values[f].reserve(nx * ny * nz);
    for (std::size_t i = 0; i < nx; ++i)
      for (std::size_t j = 0; j < ny; ++j)
        for (std::size_t k = 0; k < nz; ++k) {
          double value = at(k, j, i);
          if (name == 'u') value = 0.5 * (value + (i + 1 < nx ? at(k, j, i + 1) : periodic ? at(k, j, 0) : 0.0));
          if (name == 'v') value = 0.5 * (value + at(k, (j + 1) % ny, i));
          if (name == 'w') value = 0.5 * (value + (k + 1 < nz ? at(k + 1, j, i) : 0.0));
          out.values[f].push_back(value);
        }
    if (f == 0) remove_mean(out.values[0], z, nx * ny);
  }
  return out;
}

GridFields grid_fields_of(const State& state, const Comm& comm) {
  const CentredFields all = centred_fields(state, comm);
  GridFields out;
  for (const std::string& axis : all.axes())
    out.axes.push_back({axis, global_values(state, (axis + "_faces").c_str())});
  out.fields = {{"p", "", 1, {}}, {"b", "", 1, {}}, {"velocity", "", 3, {}}};
  for (const FieldSpec& field : state.fields())
    if (is_scalar(field)) out.fields.push_back({field.name, field.unit, 1, gathered(state, field.name.c_str(), comm)});
  if (!comm.root()) return out;
  const std::size_t nx = all.x.size(), ny = std::max<std::size_t>(1, all.y.size()), nz = all.z.size();
  for (std::size_t k = 0; k < nz; ++k)
    for (std::size_t j = 0; j < ny; ++j)
      for (std::size_t i = 0; i < nx; ++i) {
        const std::size_t here = (i * ny + j) * nz + k;
        out.fields[0].values.push_back(all.values[0][here]);
        out.fields[1].values.push_back(all.values[1][here]);
        for (std::size_t f = 2; f < all.values.size(); ++f) out.fields[2].values.push_back(all.values[f][here]);
        if (all.y.empty()) out.fields[2].values.push_back(0.0);
      }
  return out;
}

}  // namespace cambium::superres
