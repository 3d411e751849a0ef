#include "plugins/podlstm/pod/pod_file.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/hdf5/seal.hpp"
#include "core/io/provenance.hpp"
#include "core/parallel/agree.hpp"

namespace cambium::podlstm {

namespace {

/// Gathers values of all ranks' cells on rank 0, scattered into the full array with NaN elsewhere.
std::vector<double> spread(const std::vector<std::int64_t>& index, const double* values, std::int64_t cells,
                           const Comm& comm) {
  std::vector<double> out(comm.root() ? static_cast<std::size_t>(cells) : 0, std::numeric_limits<double>::quiet_NaN());
  const auto counts = comm.all_gather(std::ssize(index));
  for (int rank = 0; rank < comm.size(); ++rank) {
    const auto n = static_cast<int>(counts[rank]);
    std::vector<std::int64_t> places(index);
    std::vector<double> numbers(values, values + index.size());
    if (rank != 0 && comm.rank() == rank) {
      MPI_Send(places.data(), n, MPI_INT64_T, 0, 1, comm.handle());
      MPI_Send(numbers.data(), n, MPI_DOUBLE, 0, 2, comm.handle());
    }
    if (!comm.root()) continue;
    if (rank != 0) {
      places.resize(n);
      numbers.resize(n);
      MPI_Recv(places.data(), n, MPI_INT64_T, rank, 1, comm.handle(), MPI_STATUS_IGNORE);
      MPI_Recv(numbers.data(), n, MPI_DOUBLE, rank, 2, comm.handle(), MPI_STATUS_IGNORE);
    }
    for (std::size_t i = 0; i < places.size(); ++i) out[places[i]] = numbers[i];
  }
  return out;
}

void describe(io::Object object, const std::string& long_name, const std::string& unit) {
  object.set_attribute("long_name", long_name);
  object.set_attribute("units", unit.empty() ? "1" : unit);
}

void fill_attributes(io::File& file, const Field& field, const Basis& basis, const std::string& weights) {
  file.set_attribute("Conventions", "CF-1.10");
  file.set_attribute("title", "Proper orthogonal decomposition of " + field.array());
  file.set_attribute("institution", "made by Cambium, plugin podlstm");
  file.set_attribute("training_snapshots", field.training());
  file.set_attribute("total_energy", basis.total_energy);
  file.set_attribute("weight", basis.weight);
  file.set_attribute("cells", basis.cells);
  file.set_attribute("area_weights", weights);
  file.set_attribute("array", field.array());
  std::vector<std::string> axes;
  for (const auto& axis : field.first_file().axes()) axes.push_back(axis.name);
  file.set_attribute("axes", axes);
}

/// Small arrays that are replicated on every rank.
void fill_series(io::File& file, const Field& field, const Basis& basis) {
  const auto modes = std::ssize(basis.energy);
  const std::string unit = field.anomalies().standardise ? "" : field.first_file().unit();
  const std::string squared = unit.empty() ? "1" : "(" + unit + ")^2";
  std::vector<std::int32_t> numbers;
  std::vector<double> shares;
  for (std::int64_t k = 0; k < modes; ++k) {
    numbers.push_back(static_cast<std::int32_t>(k + 1));
    shares.push_back(basis.energy[k] / basis.total_energy);
  }
  describe(file.write("mode", numbers), "mode number", "1");
  auto time = file.write("time", field.times());
  describe(time, "time", field.time_unit().text);
  if (field.time_unit().has_date())
    time.set_attribute("calendar", std::string(io::cf::name_of(field.time_unit().calendar)));
  time.set_attribute("standard_name", "time");
  time.set_attribute("axis", "T");
  describe(file.write("energy", basis.energy), "sum of squared coefficients over training snapshots", squared);
  describe(file.write("energy_share", shares), "fraction of the fluctuations' energy in training", "1");
  describe(file.write("energy_error", basis.sampling_errors(field.training())),
           "relative standard error of the energy, North's rule of thumb", "1");
  describe(file.write("coefficients", io::tensor_of(basis.coefficients.a.data(), {basis.coefficients.rows, modes})),
           "coefficients of the modes", unit);
  describe(file.write("squared_norm", basis.squared), "weighted sum of squared fluctuations of a snapshot", squared);
  for (const auto& axis : field.first_file().axes()) {
    auto array = file.write(axis.name, axis.values);
    describe(array, axis.name, axis.unit);
    const bool latitude = axis.role == io::cf::Role::latitude, longitude = axis.role == io::cf::Role::longitude;
    if (!axis.standard_name.empty())
      array.set_attribute("standard_name", axis.standard_name);
    else if (latitude || longitude)
      array.set_attribute("standard_name", latitude ? "latitude" : "longitude");
  }
}

void attach_dimensions(io::File& file, const Field& field) {
  std::vector<std::string> axes;
  for (const auto& axis : field.first_file().axes()) axes.push_back(axis.name);
  std::vector<std::string> modes = axes;
  modes.insert(modes.begin(), "mode");
  for (const char* name : {"mean", "residual_rms"}) file.attach_scales(name, axes);
  for (const char* name : {"energy", "energy_share", "energy_error"}) file.attach_scales(name, {"mode"});
  file.attach_scales("modes", modes);
  for (const char* name : {"trend", "norm"})
    if (file.exists(name)) file.attach_scales(name, axes);
  if (file.exists("climatology")) {
    std::vector<std::int32_t> terms;
    for (int k = 0; k < 2 * field.anomalies().harmonics; ++k) terms.push_back(k + 1);
    describe(file.write("year_term", terms), "cosine and sine of each harmonic in turn", "1");
    modes.front() = "year_term";
    file.attach_scales("climatology", modes);
  }
  file.attach_scales("coefficients", {"time", "mode"});
  file.attach_scales("squared_norm", {"time"});
}

TensorRef map_of(const std::vector<double>& values, const Field& field) {
  TensorRef t = io::tensor_of(values.data(), {});
  for (std::int64_t n : field.spatial_shape()) t.shape[t.rank++] = n;
  for (std::int64_t stride = 1, k = t.rank - 1; k >= 0; stride *= t.shape[k--]) t.stride[k] = stride;
  return t;
}

void write_map(io::File& file, const std::string& name, const std::vector<double>& values, const Field& field,
               const std::string& long_name, const std::string& unit) {
  auto array = file.write(name, map_of(values, field));
  describe(array, long_name, unit);
  array.set_attribute("_FillValue", std::numeric_limits<double>::quiet_NaN());
}

/// Writes maps (rows, axes...) row by row through rank 0.
void write_maps(std::optional<io::File>& file, const std::string& name, const Matrix& rows, const Basis& basis,
                const Field& field, const std::string& long_name, const Comm& comm) {
  io::on_root(comm, [&] {
    std::vector<std::int64_t> shape = field.spatial_shape();
    shape.insert(shape.begin(), rows.rows);
    auto array = file->allocate(name, DType::f64, shape);
    describe(array, long_name, name == "modes" ? "1" : field.first_file().unit());
    array.set_attribute("_FillValue", std::numeric_limits<double>::quiet_NaN());
  });
  for (std::int64_t k = 0; k < rows.rows; ++k) {
    const auto map = spread(basis.index, rows.row(k), field.cells(), comm);
    io::on_root(comm, [&] {
      TensorRef t = map_of(map, field);
      std::vector<std::int64_t> start(static_cast<std::size_t>(t.rank) + 1, 0);
      start[0] = k;
      for (int i = t.rank++; i > 0; --i) {
        t.shape[i] = t.shape[i - 1];
        t.stride[i] = t.stride[i - 1];
      }
      t.shape[0] = 1;
      t.stride[0] = field.cells();
      file->dataset(name).write_block(start, t);
    });
  }
}

}  // namespace

void write_pod_file(const std::string& path, const Field& field, const Basis& basis, const std::string& weights,
                    const Context& context) {
  const Comm& comm = context.comm;
  auto rest = basis.rest;
  for (std::size_t i = 0; i < rest.size(); ++i)
    rest[i] = std::sqrt(rest[i]) * (basis.norm.empty() ? 1.0 : basis.norm[i]);
  const auto mean = spread(basis.index, basis.mean.data(), field.cells(), comm);
  const auto residual = spread(basis.index, rest.data(), field.cells(), comm);
  const bool detrended = field.anomalies().detrend, standardised = field.anomalies().standardise;
  std::vector<double> trend, norm;
  if (detrended) trend = spread(basis.index, basis.trend.data(), field.cells(), comm);
  if (standardised) norm = spread(basis.index, basis.norm.data(), field.cells(), comm);
  std::optional<io::AtomicFile> whole;
  std::optional<io::File> file;
  io::on_root(comm, [&] {
    whole.emplace(path);
    file.emplace(io::File::create(whole->part(), path));
    fill_attributes(*file, field, basis, weights);
    fill_series(*file, field, basis);
    const std::string unit = field.first_file().unit();
    write_map(*file, "mean", mean, field, "mean over training snapshots", unit);
    write_map(*file, "residual_rms", residual, field, "root mean square residual of the modes in training", unit);
    if (detrended) {
      const bool known = field.time_unit().seconds > 0.0;
      const std::string time = known ? "day" : field.time_unit().text;
      write_map(*file, "trend", trend, field, "linear trend that was taken off, per " + time,
                (unit.empty() ? "" : unit + " ") + (known ? "day-1" : fmt::format("({})-1", time)));
      file->dataset("trend").set_attribute("zero_on_day", field.trend_from());
    }
    if (standardised)
      write_map(*file, "norm", norm, field, "standard deviation of the anomalies, which divides them", unit);
    io::write_provenance(*file, io::provenance_of(context));
  });
  write_maps(file, "modes", basis.modes, basis, field, "modes, orthonormal in the weighted sum over cells", comm);
  if (basis.year.rows > 0) {
    write_maps(file, "climatology", basis.year, basis, field,
               "cosines and sines of the year that were taken off, by harmonic", comm);
    io::on_root(comm, [&] { file->dataset("climatology").set_attribute("period", field.period()); });
  }
  io::on_root(comm, [&] {
    attach_dimensions(*file, field);
    file->close();
    io::seal(whole->part(), path);
    whole->commit();
  });
}

}  // namespace cambium::podlstm
