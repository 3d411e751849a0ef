#include "plugins/superres/writers/spectrum.hpp"

#include <filesystem>

#include "core/base/constants.hpp"
#include "core/base/error.hpp"
#include "core/io/csv.hpp"
#include "core/io/gather.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/numerics/real_fft.hpp"
#include "core/parallel/agree.hpp"
#include "plugins/superres/samples/centred_fields.hpp"

namespace cambium::superres {
namespace {

std::vector<std::string> fields_of(const State& state) {
  if (is_spatial(state)) return {"u", "w", "b", "v"};
  return {"u", "w", "b"};
}

/// Adds this rank's lines of one field, weighted by their fraction of the height and depth, to `sums`.
void add_rows(const State& state, const std::string& name, const std::vector<double>& heights, std::int64_t first,
              double total, std::span<double> sums) {
  const io::OnHost host(state.find(name)->tensor());
  const TensorRef& all = host.tensor();
  const auto nx = static_cast<int>(all.shape[all.rank - 1]), rows = static_cast<int>(all.elements() / nx),
             lines = rows / static_cast<int>(all.shape[0]);
  const RealFft fft(nx);
  View<double**> in("spectrum rows", rows, nx), out("spectrum", rows, 2 * fft.modes());
  io::copy_from_host(all.data, [&] {
    TensorRef t = all;
    t.data = in.data();
    t.space = device_is_host ? Space::host : Space::device;
    t.is_const = false;
    return t;
  }());
  fft.forward(in, 0, out, fft.modes(), rows);
  const auto spectrum = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out);
  for (int row = 0; row < rows; ++row)
    for (int k = 0; k < fft.modes(); ++k) {
      const double re = spectrum(row, k) / nx, im = spectrum(row, fft.modes() + k) / nx;
      const double both = k == 0 || k == nx / 2 ? 0.5 : 1.0;  // positive and negative wave numbers
      sums[k] += both * (re * re + im * im) * heights[first + row / lines] / (total * lines);
    }
}

}  // namespace

void SpectrumWriter::observe(const State& state, std::int64_t, double time) {
  if (time < params_.from) return;
  const auto x = global_values(state, "x_faces"), z = global_values(state, "z_faces");
  const std::size_t modes = (x.size() - 1) / 2 + 1;
  std::vector<double> heights, now(fields_of(state).size() * modes, 0.0);
  for (std::size_t k = 0; k + 1 < z.size(); ++k) heights.push_back(z[k + 1] - z[k]);
  const auto first = context_.comm.exclusive_sum(state.find("u")->tensor().shape[0]);
  std::size_t at = 0;
  for (const auto& name : fields_of(state)) {
    add_rows(state, name, heights, first, z.back() - z.front(), std::span(now).subspan(at, modes));
    at += modes;
  }
  context_.comm.sum(std::span<double>(now));
  sums_.resize(now.size(), 0.0);
  for (std::size_t k = 0; k < now.size(); ++k) sums_[k] += now[k];
  ++samples_;
}

void SpectrumWriter::finish(const State& state) {
  if (samples_ == 0) return;
  const double width = global_values(state, "x_faces").back();
  const auto names = fields_of(state);
  const std::size_t modes = sums_.size() / names.size();
  std::vector<io::Column> columns{{"k", "1/H", "wave number"}};
  std::vector<std::vector<double>> values(names.size() + 1, std::vector<double>(modes));
  for (const auto& name : names) columns.push_back({"E_" + name, "", "sum over k is <f^2>/2"});
  for (std::size_t k = 0; k < modes; ++k) {
    values[0][k] = 2.0 * constants::pi * static_cast<double>(k) / width;
    for (std::size_t f = 0; f < names.size(); ++f)
      values[f + 1][k] = sums_[f * modes + k] / static_cast<double>(samples_);
  }
  io::on_root(context_.comm, [&] {
    io::write_csv((std::filesystem::path(context_.run_directory) / params_.file).string(), columns, values);
  });
}

void SpectrumWriter::save(io::Group& group) const {
  group.write("samples", samples_);
  if (samples_) group.write("sums", sums_);
}

void SpectrumWriter::load(const io::Group& group) {
  samples_ = group.read<std::int64_t>("samples");
  if (samples_) sums_ = group.read<std::vector<double>>("sums");
}

}  // namespace cambium::superres
